#!/usr/bin/env python3
"""Measures the program from outside: memory when idle, processor time when idle, start to the first printed event.

    Benchmarks/measure.py [--feedbus PATH] [--idle SECONDS] [--starts N] [--json]

Runs the sample config offline, from its recording, in a folder of its own. Exit 1 when a figure is not reached.
Standard library only.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LIMITS = {  # figure: (limit, unit)
    "rss_kib": (30 * 1024, "KiB resident after idling"),
    "anonymous_kib": (10 * 1024, "KiB of that anonymous"),
    "idle_cpu_percent": (0.1, "% of a core while idling"),
    "first_event_ms": (50, "ms from start to the first printed event (median)"),
}


def sample(folder):
    """The sample config and its recording, copied; state and output stay in the folder."""
    shutil.copytree(ROOT / "Recordings", folder / "Recordings")
    shutil.copy(ROOT / "config.json", folder / "config.json")


def start(program, folder, **more):
    return subprocess.Popen([program, "run", "--config", "config.json", "--offline", "--log-level", "warning"],
                            cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def first_event(program):
    """Milliseconds from the start of the process to the first byte on its stdout."""
    with tempfile.TemporaryDirectory(prefix="feedbus-start-") as name:
        folder = Path(name)
        sample(folder)
        began = time.monotonic()
        process = start(program, folder, stdout=subprocess.PIPE)
        byte = os.read(process.stdout.fileno(), 1)
        took = (time.monotonic() - began) * 1000
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        process.wait(20)
        if not byte:
            raise SystemExit("the program printed nothing")
        return took


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle(program, seconds):
    """Memory and processor time of the sample config after its first polls, left alone for so many seconds."""
    with tempfile.TemporaryDirectory(prefix="feedbus-idle-") as name:
        folder = Path(name)
        sample(folder)
        process = start(program, folder, stdout=subprocess.DEVNULL)
        try:
            time.sleep(min(10, seconds / 2))
            before, at = cpu_seconds(process.pid), time.monotonic()
            time.sleep(seconds - min(10, seconds / 2))
            used = cpu_seconds(process.pid) - before
            status = Path(f"/proc/{process.pid}/status").read_text()
            figure = {key: int(re.search(rf"{key}:\s+(\d+) kB", status).group(1)) for key in ("VmRSS", "RssAnon", "RssFile")}
            return {"rss_kib": figure["VmRSS"], "anonymous_kib": figure["RssAnon"], "file_kib": figure["RssFile"],
                    "idle_cpu_percent": round(100 * used / (time.monotonic() - at), 3)}
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feedbus", default=str(ROOT / ".build/release/feedbus"))
    parser.add_argument("--idle", type=float, default=300, metavar="SECONDS")
    parser.add_argument("--starts", type=int, default=21, metavar="N")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    program = str(Path(chosen.feedbus).resolve())
    if not os.access(program, os.X_OK):
        raise SystemExit(f"{program}: no such program; run make build first")
    starts = [first_event(program) for _ in range(chosen.starts)]
    found = {"first_event_ms": round(statistics.median(starts), 1), "first_event_worst_ms": round(max(starts), 1)}
    found |= idle(program, chosen.idle)
    found["idle_seconds"] = chosen.idle
    if chosen.json:
        print(json.dumps(found))
    bad = 0
    for name, (limit, unit) in LIMITS.items():
        met = found[name] <= limit
        bad += not met
        if not chosen.json:
            print(f"{'ok  ' if met else 'OVER'} {found[name]:>10} {unit} (at most {limit})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
