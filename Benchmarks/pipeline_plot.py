"""The picture of the pipeline benchmarks: throughput of each tool, and latency with chunk size at several loads."""

import math

COLORS = {"feedbus": "#d9480f", "reference": "#1c7ed6", "cat": "#868e96", "jq": "#2b8a3e"}
NAMES = {"feedbus": "feedbus", "reference": "C++ on simdjson", "cat": "cat", "jq": "jq"}
STYLE = ("<style>text{font:12px system-ui,sans-serif;fill:#222}.t{font-weight:600;font-size:14px}.s{fill:#666;font-size:11px}"
         ".g{stroke:#ddd}rect.b{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#ddd}.s{fill:#999}.g{stroke:#444}"
         "rect.b{fill:#161616}}</style>")


def short(value):
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def throughput(workloads, rows, width, top):
    """Horizontal bars, a group for each workload."""
    speed = {(r["workload"], r["tool"]): r["events"] / r["median_s"] for r in rows}
    most = max(speed.values(), default=1)
    parts = [f'<text class="t" x="16" y="{top}">Events a second</text>']
    y = top + 18
    for work, words in workloads.items():
        tools = [tool for tool in COLORS if (work, tool) in speed]
        if not tools:
            continue
        parts.append(f'<text x="16" y="{y + 11}">{work}</text><text class="s" x="44" y="{y + 11}">{words}</text>')
        for tool in tools:
            length = speed[work, tool] / most * (width - 400)
            parts.append(f'<rect x="230" y="{y}" width="{max(length, 1):.1f}" height="13" fill="{COLORS[tool]}"/>'
                         f'<text class="s" x="{236 + length:.1f}" y="{y + 11}">{short(speed[work, tool])} {NAMES[tool]}</text>')
            y += 16
        y += 8
    return parts, y


def latency(found, width, top):
    """For each load: the median and 99th percentile of the latency as bars, and the events of a chunk as a number."""
    low, high = 10, 10 ** math.ceil(math.log10(max(row["p99_us"] for row in found)))
    def place(value):
        return math.log10(max(value, low) / low) / math.log10(high / low) * (width - 480)
    parts = [f'<text class="t" x="16" y="{top}">From a line on stdin to its arrival in a pipe</text>']
    start = y = top + 34
    for row in found:
        load = f"{short(row['rate'])} events/s" if row["rate"] else "as fast as it goes"
        chunk = f", {short(row['events_per_chunk'])} events a chunk" if row["events_per_chunk"] else ""
        parts.append(f'<text x="16" y="{y + 11}">{load}</text>')
        for value, words, color in ((row["p50_us"], f"median{chunk}", "#f08c00"), (row["p99_us"], "99 %", "#d9480f")):
            length = place(value)
            parts.append(f'<rect x="230" y="{y}" width="{max(length, 1):.1f}" height="13" fill="{color}"/>'
                         f'<text class="s" x="{236 + length:.1f}" y="{y + 11}">{value / 1000:.2f} ms {words}</text>')
            y += 16
        y += 8
    # The lines of the scale go below the bars.
    tick, scale = low, []
    while tick <= high:
        x = 230 + place(tick)
        scale.append(f'<line class="g" x1="{x:.1f}" x2="{x:.1f}" y1="{start - 4}" y2="{y - 4}"/>'
                     f'<text class="s" x="{x:.1f}" y="{start - 8}" text-anchor="middle">{tick / 1000:g} ms</text>')
        tick *= 10
    return scale + parts, y


def plot(path, workloads, rows, latencies):
    width = 760
    parts, y = throughput(workloads, rows, width, 28)
    if latencies:
        more, y = latency(latencies, width, y + 20)
        parts += more
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 8}" width="{width}" role="img" '
        f'aria-label="Throughput and latency of feedbus and its peers">{STYLE}<rect class="b" width="100%" height="100%"/>'
        + "".join(parts) + "</svg>\n")
