#!/usr/bin/env python3
"""Draws where a workload's time goes as flame graphs, and names the three largest costs.

    Benchmarks/flamegraph.py [--only W1,W2] [--small] [--feedbus PATH] [--idle]

Runs W1 to W6 of pipeline.py under `perf record` (a sample of all threads a thousand times a second, with call stacks),
writes Docs/Images/flame-W1.svg and so on, and prints what the time itself was spent in. `--idle` records a followed file
that does not grow, for ten seconds, and says how many samples there were. Needs `perf`. Standard library only.
"""

import argparse
import collections
import json
import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path

import pipeline

IMAGES = pipeline.ROOT / "Docs/Images"
WIDTH, ROW, LEAST = 1200, 17, 0.6  # pixels; narrower frames are left out
STYLE = ("<style>text{font:11px ui-monospace,monospace;fill:#111}.t{font:600 14px system-ui,sans-serif}"
         ".s{font:11px system-ui,sans-serif;fill:#555}rect.b{fill:#fff}@media(prefers-color-scheme:dark){rect.b{fill:#161616}"
         ".t{fill:#ddd}.s{fill:#999}}</style>")
# What a function belongs to: a color, and words for the legend.
COLORS = {"simdjson": "#e8590c", "swift": "#7048e8", "feedbus": "#2f9e44", "kernel": "#1971c2", "other": "#868e96"}
WORDS = {"simdjson": "JSON: simdjson, scanner, finder", "swift": "Swift's runtime and library", "feedbus": "feedbus",
         "kernel": "the kernel", "other": "the C library and others"}


def kind(name, where):
    if "kernel" in where or where == "[unknown]":
        return "kernel"
    if "simdjson" in name or "simdjson" in where or re.match(r"(\(anonymous namespace\)::)?(plain|haswell|walk)", name):
        return "simdjson"
    if "libswift" in where or re.match(r"(\$ss|\$sS|swift_)", name):
        return "swift"
    return "feedbus" if Path(where).name.startswith(("feedbus", "fb")) else "other"


def demangled(names):
    """Swift's names as one reads them, as far as `swift demangle` is there."""
    mangled = [name for name in names if name.startswith("$s")]
    if not mangled or not shutil.which("swift"):
        return {}
    done = subprocess.run(["swift", "demangle", "--simplified", "--compact"], input="\n".join(mangled), text=True,
                          stdout=subprocess.PIPE, check=False).stdout.splitlines()
    return dict(zip(mangled, done)) if len(done) == len(mangled) else {}


def short(name):
    """A name without parameters, types and wrappings, so that it fits into a frame."""
    name = re.sub(r"^(closure #\d+ (\([^)]*\) )?in )+", "{} ", name)
    name = re.sub(r"^(specialized|generic specialization <.*?> of|partial apply for|function signature specialization <.*?> of|"
                  r"outlined|merged|\(\d+\) (suspend|await) resume partial function for) ", "", name)
    name = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", name))
    return re.sub(r"\(.*", "", name).strip() or name


def stacks(data):
    """Call stacks from the outside in, as pairs of name and kind, and how often each was met."""
    text = subprocess.run(["perf", "script", "-i", data, "-F", "comm,ip,sym,dso"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout.decode(errors="replace")
    found = collections.Counter()
    for block in text.split("\n\n"):
        frames = []
        for line in block.splitlines()[1:]:
            match = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line)
            if not match:
                continue
            name, where = re.sub(r"\+0x[0-9a-f]+$", "", match.group(1)), match.group(2)
            if name == "[unknown]":
                # Without a frame pointer, or Swift's own stack of an asynchronous call.
                if where in ("[unknown]", "") or frames:
                    continue
                name = Path(where).name
            frames.append((name, kind(name, where)))
        if frames:
            found[tuple(reversed(frames))] += 1
    names = demangled({name for stack in found for name, _ in stack})
    readable = collections.Counter()
    for stack, count in found.items():
        readable[tuple((short(names.get(name, name)), what) for name, what in stack)] += count
    return readable


def draw(target, title, found):
    """Frames from the bottom up; the width of one is its share of the time."""
    total = sum(found.values())
    # A frame: [(name, kind), samples, children].
    root = [("all", "other"), total, {}]
    deepest = 0
    for stack, count in found.items():
        here = root
        for depth, function in enumerate(stack):
            here = here[2].setdefault(function, [function, 0, {}])
            here[1] += count
            if here[1] / total * WIDTH >= LEAST:
                deepest = max(deepest, depth + 1)
    height = (deepest + 1) * ROW + 64
    parts = []

    def place(frame, x, depth):
        width = frame[1] / total * WIDTH
        if width < LEAST:
            return
        y = height - 26 - (depth + 1) * ROW
        name, what = escape(frame[0][0]), frame[0][1]
        label = frame[0][0][: max(int((width - 6) / 6.7), 0)]
        parts.append(f'<g><title>{name}: {frame[1] / total:.1%}</title><rect x="{x:.1f}" y="{y}" width="{max(width - 0.4, 0.4):.1f}" '
                     f'height="{ROW - 1}" fill="{COLORS[what]}" fill-opacity=".72"/>'
                     + (f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(label)}</text>' if len(label) > 2 else "") + "</g>")
        for function in sorted(frame[2]):
            place(frame[2][function], x, depth + 1)
            x += frame[2][function][1] / total * WIDTH

    place(root, 0, 0)
    legend = "".join(f'<rect x="{12 + 200 * i}" y="{height - 16}" width="11" height="11" fill="{COLORS[what]}" fill-opacity=".72"/>'
                     f'<text class="s" x="{28 + 200 * i}" y="{height - 6}">{words}</text>'
                     for i, (what, words) in enumerate(WORDS.items()))
    target.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-size="11">{STYLE}'
                      f'<rect class="b" width="{WIDTH}" height="{height}"/><text class="t" x="12" y="20">{escape(title)}</text>'
                      f'{"".join(parts)}{legend}</svg>\n')


def costs(found, most=8):
    """What the time itself was spent in, the largest first: names and shares."""
    total = sum(found.values())
    own = collections.Counter()
    for stack, count in found.items():
        own[stack[-1][0]] += count
    return [(name, count / total) for name, count in own.most_common(most)]


def record(command, data):
    subprocess.run(["perf", "record", "-q", "-F", "999", "-g", "-o", data, "--", *map(str, command)],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def idle(feedbus):
    """A followed file that does not grow: what ten seconds of it cost."""
    config = pipeline.BENCH / "idle.json"
    config.write_text(json.dumps({
        "feedbus": {"state": str(pipeline.BENCH / "state")},
        "sources": {"lines": {"plugin": "JSONLinesFile", "with": {"path": str(pipeline.BENCH / "idle.jsonl"), "follow": True}}},
        "sinks": {"out": {"plugin": "JSONLines", "from": ["lines"], "with": {"path": str(pipeline.BENCH / "idle-out.jsonl")}}},
    }))
    (pipeline.BENCH / "idle.jsonl").write_text('{"a":1}\n')
    process = subprocess.Popen([feedbus, "run", "--config", config], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # The first seconds are the start.
        subprocess.run(["sleep", "3"], check=True)
        data = pipeline.BENCH / "idle.perf"
        subprocess.run(["perf", "record", "-q", "-F", "999", "-g", "-p", str(process.pid), "-o", data, "--", "sleep", "10"],
                       check=True)
        found = stacks(data)
    finally:
        process.terminate()
        process.wait()
    print(f"idle: {sum(found.values())} samples of a thousandth of a second in 10 s")
    for stack, count in found.most_common(5):
        print(f"  {count} {' > '.join(name for name, _ in stack[-4:])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(pipeline.WORKLOADS), metavar="W1,W2")
    parser.add_argument("--small", action="store_true", help="100,000 lines in place of a million (W6 always)")
    parser.add_argument("--feedbus", default=str(pipeline.ROOT / ".build/release/feedbus"))
    parser.add_argument("--idle", action="store_true")
    chosen = parser.parse_args()
    pipeline.build()
    if chosen.idle:
        return idle(chosen.feedbus)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for work in chosen.only.split(","):
        lines = 100_000 if chosen.small or work == "W6" else 1_000_000
        path, files = pipeline.data(lines, duplicates=work == "W4"), pipeline.outputs("feedbus", work)
        for file in files:
            file.unlink(missing_ok=True)
        shutil.rmtree(pipeline.BENCH / "state", ignore_errors=True)
        data = pipeline.BENCH / f"{work}.perf"
        record([chosen.feedbus, "run", "--config", pipeline.feedbus_config(work, path, files), "--once", "--log-level", "warning"], data)
        found = stacks(data)
        draw(IMAGES / f"flame-{work}.svg", f"{work}: {pipeline.WORKLOADS[work]}, {lines:,} lines", found)
        for name, share in costs(found):
            print(f"{work} {share:6.1%} {name}", flush=True)
        for file in [*files, data]:
            file.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
