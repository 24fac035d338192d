#!/usr/bin/env python3
"""Runs the pipeline workloads W1 to W6 on feedbus, on a C++ program on simdjson, on jq and on cat, and compares them.

    Benchmarks/pipeline.py [--small] [--runs N] [--only W1,W2] [--tools feedbus,reference,jq,cat] [--latency]

Makes the data set from a seed under .build/bench (or $FEEDBUS_BENCH), runs the tools alternating, checks the outputs of
W1 to W5 byte for byte against the reference's, prints a table, and writes Benchmarks/results.json and
Docs/Images/pipeline.svg. jq always gets the 100,000 lines (of the large set it would need an hour); all else gets the
million lines unless --small. Exit 1 when an output differs. Standard library only.
"""

import argparse
import filecmp
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from pipeline_plot import plot

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "Benchmarks"
BENCH = Path(os.environ.get("FEEDBUS_BENCH", ROOT / ".build/bench"))

PROGRAMS = {  # C++ programs and what they are compiled with
    "generate": [], "measure": [], "reference": ["-O3", "-march=native", "-lsimdjson"], "pace": ["-pthread"],
}
WORKLOADS = {
    "W1": "parse and write all", "W2": "filter two types", "W3": "project five fields", "W4": "distinct by id",
    "W5": "fan-out to three files", "W6": "jq map {id, a: .actor.login}",
}
FIELDS = ["/id", "/type", "/actor/login", "/repo/name", "/created_at"]
JQ = {
    "W1": [["."]],
    "W2": [['select(.type == "PullRequestEvent" or .type == "IssuesEvent")']],
    "W3": [["{id, type, login: .actor.login, name: .repo.name, created_at}"]],
    "W4": [["-n", "foreach inputs as $e ({s: {}}; .e = (.s[$e.id] | not) | .s[$e.id] = true; if .e then $e else empty end)"]],
    "W5": [["."], ['select(.type == "PushEvent")'], ['select(.type == "IssuesEvent")']],
    "W6": [["{id, a: .actor.login}"]],
}


def stages(work):
    """The stages of a workload, and which node each output file is fed from."""
    def types(*names):
        return {"plugin": "Filter", "from": ["lines"], "with": {"where": {"pointer": "/type", "in": list(names)}}}
    if work == "W1":
        return {}, ["lines"]
    if work == "W2":
        return {"kept": types("PullRequestEvent", "IssuesEvent")}, ["kept"]
    if work == "W3":
        return {"fields": {"plugin": "Map", "from": ["lines"], "with": {"pick": FIELDS}}}, ["fields"]
    if work == "W4":
        return {"new": {"plugin": "Distinct", "from": ["lines"], "with": {"by": "/id", "remember": 1_000_000}}}, ["new"]
    if work == "W5":
        return {"a": types("PushEvent"), "b": types("IssuesEvent")}, ["lines", "a", "b"]
    return {"mapped": {"plugin": "Map", "from": ["lines"], "with": {"jq": "{id, a: .actor.login}"}}}, ["mapped"]


def compiler():
    return shutil.which("g++") or shutil.which("clang++") or "c++"


def build():
    BENCH.mkdir(parents=True, exist_ok=True)
    for name, more in PROGRAMS.items():
        source, program = HERE / "Pipeline" / f"{name}.cpp", BENCH / name
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            flags = [flag for flag in more if not flag.startswith("-l")]
            libraries = [flag for flag in more if flag.startswith("-l")]
            subprocess.run([compiler(), "-std=c++17", "-O2", *flags, "-Wall", "-Wextra", source, "-o", program, *libraries],
                           check=True)


def data(lines, duplicates=False):
    """The data set with so many lines; made when it is not there."""
    path = BENCH / f"lines-{lines}{'-duplicates' if duplicates else ''}.jsonl"
    made_by = (HERE / "Pipeline/generate.cpp").stat().st_mtime
    if not path.exists() or path.stat().st_mtime < made_by:
        print(f"making {path.name}", file=sys.stderr)
        part = path.with_suffix(".part")
        subprocess.run([BENCH / "generate", str(lines), part, *(["--duplicates"] if duplicates else [])], check=True)
        part.rename(path)
    return path


def measured(command, stdout=None):
    """Runs a command through `measure`."""
    reader, writer = os.pipe()
    try:
        # The shell moves the pipe to descriptor 3.
        process = subprocess.Popen(["sh", "-c", f'exec 3>&{writer}; exec "$@"', "sh", str(BENCH / "measure"), *map(str, command)],
                                   pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)
        _, words = process.communicate()
    finally:
        os.close(writer)
    with os.fdopen(reader) as pipe:
        figures = json.loads(pipe.read() or "{}")
    if figures.get("status") != 0:
        raise RuntimeError(f"{command[0]} failed: {words.decode(errors='replace')[-600:]}")
    return figures


def outputs(tool, work):
    count = 3 if work == "W5" else 1
    return [BENCH / f"out-{tool}-{work}-{i}.jsonl" for i in range(count)]


def feedbus_config(work, path, files):
    made, ends = stages(work)
    config = {
        "feedbus": {"state": str(BENCH / "state")},
        "sources": {"lines": {"plugin": "JSONLinesFile", "with": {"path": str(path)}}},
        "stages": made,
        "sinks": {f"out{i}": {"plugin": "JSONLines", "from": [end], "with": {"path": str(file), "format": "data"}}
                  for i, (end, file) in enumerate(zip(ends, files))},
    }
    if not made:
        del config["stages"]
    target = BENCH / f"{work}.json"
    target.write_text(json.dumps(config))
    return target


def run(tool, work, path, feedbus):
    """One run of a tool; the sum over its commands."""
    files = outputs(tool, work)
    for file in files:
        file.unlink(missing_ok=True)
    if tool == "feedbus":
        shutil.rmtree(BENCH / "state", ignore_errors=True)
        return measured([feedbus, "run", "--config", feedbus_config(work, path, files), "--once", "--log-level", "warning"])
    if tool == "reference":
        return measured([BENCH / "reference", work, path, *files])
    total = None
    commands = [["cat"]] if tool == "cat" else [["jq", "-c", *arguments] for arguments in JQ[work]]
    for command, file in zip(commands, files):
        with open(file, "wb") as out:
            figures = measured([*command, path], stdout=out)
        total = figures if total is None else {
            "wall_s": total["wall_s"] + figures["wall_s"], "cpu_s": total["cpu_s"] + figures["cpu_s"],
            "rss_kb": max(total["rss_kb"], figures["rss_kb"]), "status": 0}
    return total


def tools_of(work, chosen):
    there = {"W1": ["feedbus", "reference", "cat", "jq"], "W6": ["feedbus", "jq"]}.get(work, ["feedbus", "reference", "jq"])
    return [tool for tool in there if tool in chosen]


def benchmark(work, lines, runs, chosen, feedbus):
    """The medians of a workload's tools, and whether the outputs agree."""
    tools = tools_of(work, chosen)
    small = 100_000
    inputs = {tool: (small if tool == "jq" or work == "W6" else lines) for tool in tools}
    paths = {tool: data(count, duplicates=work == "W4") for tool, count in inputs.items()}
    found = {tool: [] for tool in tools}
    for _ in range(runs):
        for tool in list(tools):
            try:
                found[tool].append(run(tool, work, paths[tool], feedbus))
            except RuntimeError as error:
                print(f"{work}: {error}", file=sys.stderr)
                tools.remove(tool)
                found[tool] = []
    rows = [
        {"workload": work, "tool": tool, "median_s": statistics.median(r["wall_s"] for r in found[tool]),
         "events": inputs[tool], "bytes": paths[tool].stat().st_size,
         "cpu_s": statistics.median(r["cpu_s"] for r in found[tool]), "rss_kb": max(r["rss_kb"] for r in found[tool])}
        for tool in found if found[tool]]
    good = "feedbus" in tools
    if work != "W6" and {"feedbus", "reference"} <= set(tools):
        for mine, theirs in zip(outputs("feedbus", work), outputs("reference", work)):
            if not filecmp.cmp(mine, theirs, shallow=False):
                print(f"{work}: {mine} differs from {theirs}", file=sys.stderr)
                good = False
    elif work == "W6" and {"feedbus", "jq"} <= set(tools):
        good = filecmp.cmp(outputs("feedbus", work)[0], outputs("jq", work)[0], shallow=False)
    if good:
        for tool in tools:
            for file in outputs(tool, work):
                file.unlink(missing_ok=True)
    return rows, good


def show(rows):
    """One line a tool; ratios are the reference's (W6: jq's) figure divided by the tool's, each for one event."""
    by_event = {(r["workload"], r["tool"]): (r["median_s"] / r["events"], r["cpu_s"] / r["events"]) for r in rows}
    for row in rows:
        wall, cpu = by_event[row["workload"], row["tool"]]
        mark = by_event.get((row["workload"], "jq" if row["workload"] == "W6" else "reference"))
        ratio = f"{mark[0] / wall:6.2f} {mark[1] / cpu:6.2f}" if mark else "     -      -"
        print(f"{row['workload']:3} {row['tool']:10} {row['median_s']:8.3f} s {1 / wall:11,.0f} events/s "
              f"{row['bytes'] / row['median_s'] / 1e6:8.0f} MB/s {row['cpu_s']:8.3f} CPU s {cpu * 1e6:7.2f} us/event "
              f"{row['rss_kb'] / 1024:7.1f} MiB   x {ratio}", flush=True)


def latency(feedbus):
    """How long a line takes from stdin to a named pipe, and how many travel together, at several loads."""
    found = []
    for rate, count in [(100, 500), (1_000, 5_000), (10_000, 30_000), (50_000, 100_000), (0, 200_000)]:
        fifo = BENCH / "pace.fifo"
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo)
        config = BENCH / "pace.json"
        config.write_text(json.dumps({
            "feedbus": {"state": str(BENCH / "state")},
            "sources": {"lines": {"plugin": "JSONLinesFile", "with": {"path": "-"}}},
            "sinks": {"out": {"plugin": "JSONLines", "from": ["lines"], "with": {"path": str(fifo), "format": "data"}}},
        }))
        shutil.rmtree(BENCH / "state", ignore_errors=True)
        figures, log = BENCH / "pace.out", BENCH / "pace.log"
        with open(log, "wb") as words:
            status = subprocess.run(
                ["sh", "-c", '"$1" "$2" "$3" "$4" 3>"$5" | "$6" run --config "$7" --once --log-level debug', "sh",
                 BENCH / "pace", str(rate), str(count), fifo, figures, feedbus, config], stderr=words).returncode
        fifo.unlink(missing_ok=True)
        if status != 0 or not figures.read_text():
            print(f"latency at {rate}/s: failed\n{log.read_text()[-600:]}", file=sys.stderr)
            continue
        row = json.loads(figures.read_text())
        chunks = re.search(r"in (\d+) chunk", log.read_text())
        row["events_per_chunk"] = round(count / int(chunks.group(1)), 1) if chunks else None
        found.append(row)
        print(f"latency at {rate or 'full speed':>10}: p50 {row['p50_us']:9.0f} us  p99 {row['p99_us']:9.0f} us  "
              f"{count / row['seconds']:9,.0f} events/s  {row['events_per_chunk']} events a chunk", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="100,000 lines in place of a million")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default=",".join(WORKLOADS), metavar="W1,W2")
    parser.add_argument("--tools", default="feedbus,reference,jq,cat")
    parser.add_argument("--feedbus", default=str(ROOT / ".build/release/feedbus"))
    parser.add_argument("--no-latency", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave results.json and the plot as they are")
    chosen = parser.parse_args()
    build()
    rows, good = [], True
    for work in chosen.only.split(","):
        found, same = benchmark(work, 100_000 if chosen.small else 1_000_000, chosen.runs, chosen.tools.split(","),
                                chosen.feedbus)
        show(found)
        rows += found
        good = good and same
    latencies = [] if chosen.no_latency else latency(chosen.feedbus)
    if not chosen.keep:
        (HERE / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
        plot(ROOT / "Docs/Images/pipeline.svg", WORKLOADS, rows, latencies)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
