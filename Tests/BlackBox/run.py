#!/usr/bin/env python3
"""The black-box checks: run.py --feedbus PATH [--only X] [--list] [-j N] [-v]

Each check starts the program itself, with services on 127.0.0.1 that are scripted here or answer from recordings, and
looks at what comes out. Python 3.11, standard library only. See README.md.
"""

import argparse
import importlib
import os
import signal
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

from support import recorded  # noqa: E402
from support.case import Case  # noqa: E402
from support.program import Program  # noqa: E402
from support.registry import checks  # noqa: E402
from support.verdict import Skip, Wrong  # noqa: E402


def load():
    for file in sorted((HERE / "checks").glob("[a-z]*.py")):
        importlib.import_module(f"checks.{file.stem}")
    return checks()


def attempt(check, program, is_verbose):
    """(word, reason, what to add with -v, seconds)"""
    began = time.monotonic()
    case = Case(program)
    word, reason = "ok", ""
    try:
        if check.needs_recordings and not recorded.here():
            raise Skip(f"needs the recorded answers, and {recorded.DATA} is not there (set FEEDBUS_SHARED)")
        check.function(case)
    except Wrong as wrong:
        word, reason = "FAIL", str(wrong)
    except Skip as skip:
        word, reason = "skip", str(skip)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)
        at = next((one for one in reversed(where) if "checks" in one.filename), where[-1])
        word, reason = "FAIL", f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"
    added = report(case) if is_verbose else ""
    case.close()
    return word, reason, added, time.monotonic() - began


def report(case):
    lines = []
    for run in case.runs:
        lines.append(f"    $ {run.called} -> {run.code}")
        lines += [f"    | {line[:400]}" for line in run.err.splitlines()[-30:]]
    for service in case.services:
        lines += [f"    > {one!r}" for one in getattr(service, "asked", [])[:40]]
    return "\n".join(lines)


def stopped(number, _):
    """Told to stop: leave no program behind."""
    Program.kill_all()
    os._exit(128 + number)


def main():
    parser = argparse.ArgumentParser(description="Black-box checks of feedbus.")
    parser.add_argument("--feedbus", metavar="PATH", default=".build/release/feedbus", help="the program (%(default)s)")
    parser.add_argument("--only", metavar="X", help="only the checks with X in their name")
    parser.add_argument("--list", action="store_true", help="print the names of the checks and what each promises")
    parser.add_argument("--loops", metavar="N", type=int, help="run every config on N loops that does not say it itself")
    parser.add_argument("-j", metavar="N", type=int, default=2, help="checks at one time (%(default)s)")
    parser.add_argument(
        "-v", action="store_true", help="also print the log of each run, and what was asked of the services"
    )
    chosen = parser.parse_args()
    Case.loops = chosen.loops
    everything = load()
    wanted = [one for one in everything if not chosen.only or chosen.only in one.name]
    if chosen.list:
        for one in wanted:
            print(f"{one.name}: {one.promise}")
        return 0
    if not wanted:
        print(f"no check has {chosen.only!r} in its name", file=sys.stderr)
        return 2
    if not os.access(chosen.feedbus, os.X_OK):
        print(f"there is no program at {chosen.feedbus}", file=sys.stderr)
        return 2
    program = Path(chosen.feedbus).resolve()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stopped)
    count = {"ok": 0, "FAIL": 0, "skip": 0}
    skipped = []
    # Those that look back at what all others did come when the others are done.
    for part in (
        [one for one in wanted if not one.comes_last],
        [one for one in wanted if one.comes_last and len(wanted) == len(everything)],
    ):
        with ThreadPoolExecutor(max(1, chosen.j)) as pool:
            results = pool.map(lambda one: (one, attempt(one, program, chosen.v)), part)
            for one, (word, reason, added, seconds) in results:
                count[word] += 1
                if word == "skip":
                    skipped.append(one.name)
                print(f"{word:4} {one.name} ({seconds:.1f} s)" + (f": {reason}" if reason else ""), flush=True)
                if added:
                    print(added, flush=True)
    if skipped:
        print(f"SKIPPED, so nothing is known about: {', '.join(skipped)}")
    print(f"{count['ok']} passed, {count['FAIL']} failed, {count['skip']} skipped")
    return 1 if count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
