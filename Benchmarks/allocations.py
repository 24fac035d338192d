#!/usr/bin/env python3
"""Counts the allocations that one more event costs, and exits 1 where there are any.

    Benchmarks/allocations.py [--feedbus PATH]

Runs pass-through (W1) and filter (W2) on 40,000 and on 200,000 lines with a library in LD_PRELOAD that counts, and divides
the difference by the number of lines more. Unlike times, counts hardly depend on the machine: this gates every change.
Standard library only.
"""

import argparse
import os
import shutil
import statistics
import struct
import subprocess
import sys

import pipeline

LIMIT = 0.05  # for one event: what a chunk needs, shared out among its events
FEW, MANY = 40_000, 200_000


def counted(feedbus, work, lines):
    library, file = pipeline.BENCH / "count_allocations.so", pipeline.BENCH / "allocations.count"
    file.unlink(missing_ok=True)
    shutil.rmtree(pipeline.BENCH / "state", ignore_errors=True)
    outputs = pipeline.outputs("allocations", work)
    config = pipeline.feedbus_config(work, pipeline.data(lines), outputs)
    done = subprocess.run(
        [feedbus, "run", "--config", config, "--once", "--log-level", "warning"], stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env=os.environ | {"LD_PRELOAD": str(library), "FEEDBUS_ALLOCATIONS": str(file)})
    written = sum(output.stat().st_size for output in outputs if output.exists())
    for output in outputs:
        output.unlink(missing_ok=True)
    if done.returncode != 0 or written == 0:
        raise SystemExit(f"{work}: {done.stderr.decode(errors='replace')[-600:]}")
    return struct.unpack("<Q", file.read_bytes()[:8])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feedbus", default=str(pipeline.ROOT / ".build/release/feedbus"))
    parser.add_argument("--only", default="W1,W2", metavar="W1,W2")
    chosen = parser.parse_args()
    pipeline.build()
    source = pipeline.HERE / "Pipeline/count_allocations.cpp"
    subprocess.run([pipeline.compiler(), "-std=c++17", "-O2", "-shared", "-fPIC", source, "-o", pipeline.BENCH / "count_allocations.so"],
                   check=True)
    bad = 0
    for work in chosen.only.split(","):
        # How a file is cut into chunks depends a little on what the other threads do: the middle one of three counts.
        few, many = (
            statistics.median(counted(chosen.feedbus, work, lines) for _ in range(3)) for lines in (FEW, MANY))
        each = (many - few) / (MANY - FEW)
        bad += each > LIMIT
        print(f"{'ok  ' if each <= LIMIT else 'OVER'} {work}: {each:.4f} allocations an event "
              f"({few} for {FEW:,} lines, {many} for {MANY:,}; at most {LIMIT})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
