#!/usr/bin/env python3
"""The crash test: crash.py [--feedbus PATH] [--kills N] [--seed N] [--mode plain|disk|clock|all]

Kills the program with SIGKILL at seeded moments, starts it again each time, and checks in the end that every event is in
the files at least once, that every line is whole, and that only what no one had acknowledged came twice. See
support/crash.py.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

from checks.clock import Clock  # noqa: E402
from support.case import Case  # noqa: E402
from support.crash import CrashTest  # noqa: E402
from support.program import Program  # noqa: E402
from support.verdict import Skip, Wrong  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Kills feedbus again and again, and looks at what is left.")
    parser.add_argument("--feedbus", metavar="PATH", default=".build/release/feedbus", help="the program (%(default)s)")
    parser.add_argument("--kills", metavar="N", type=int, default=1000, help="in plain mode; a fifth in each of the others")
    parser.add_argument("--seed", metavar="N", type=int, default=1)
    parser.add_argument("--mode", choices=["plain", "disk", "clock", "all"], default="all")
    chosen = parser.parse_args()
    status = 0
    for mode in ["plain", "disk", "clock"] if chosen.mode == "all" else [chosen.mode]:
        case = Case(chosen.feedbus)
        test = None
        kills = chosen.kills if mode == "plain" or chosen.mode != "all" else max(1, chosen.kills // 5)
        try:
            test = CrashTest(
                case, chosen.seed, full_disk=mode == "disk", room=f"{50 + kills}m",
                clock=Clock(case) if mode == "clock" else None)
            print(f"ok   {mode}: {test.run(kills, lambda text: print(f'     {mode}: {text}', flush=True))}", flush=True)
        except Skip as skip:
            print(f"SKIPPED, so nothing is known about: {mode}: {skip}", flush=True)
        except Wrong as wrong:
            print(f"FAIL {mode} (seed {chosen.seed}): {wrong}", flush=True)
            status = 1
        finally:
            Program.kill_all()
            if test:
                test.close()
            case.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
