"""Several loops, and workers on the pool: what comes out is the same, whatever their number."""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from support.registry import check, check_each
from support.verdict import hold, same

LOOPS = {str(number): number for number in (1, 2, 3)}


def lines(case, count, size=200):
    """A file of numbered lines."""
    made = [json.dumps({"n": number, "p": "x" * (number * 7 % size)}, separators=(",", ":")) for number in range(count)]
    (case.folder / "in.jsonl").write_text("".join(one + "\n" for one in made))
    return made


def graph(case, loops, **more):
    """A chain with workers, a fork, a subject, and sinks with narrow buffers."""
    def sink(name, source, events):
        return {"plugin": "JSONLines", "from": [source], "with": {"path": f"{name}.jsonl", "format": "data"},
                "buffer": {"events": events}}

    case.config(
        {"file": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl"}}},
        stages={
            "jq": {"plugin": "Map", "from": ["file"], "workers": 2, "with": {"jq": "{n}"}, "buffer": {"events": 300}},
            "odd": {"plugin": "Filter", "from": ["jq"], "with": {"where": ".n % 2 == 1"}},
        },
        subjects={"all": {"from": ["file"], "replay": 3, "scope": "forever"}},
        sinks={"plain": sink("plain", "all", 50), "mapped": sink("mapped", "jq", 1000), "odd_ones": sink("odd", "odd", 7)},
        feedbus={"state": "var", "loops": loops, "shutdown_grace": "5s", **more})


def outputs(made):
    mapped = [f'{{"n":{number}}}' for number in range(len(made))]
    return {"plain.jsonl": made, "mapped.jsonl": mapped, "odd.jsonl": mapped[1::2]}


@check_each(LOOPS, recordings=False)
def the_same_comes_out(case, _, loops):
    """Every sink gets every event, in order, on one loop and on several; a second run adds nothing."""
    made = lines(case, 20_000)
    graph(case, loops)
    case.once(most=60)
    for name, expected in outputs(made).items():
        same(case.lines(name), expected, f"lines of {name}")
    case.once(most=60)
    same(len(case.lines("plain.jsonl")), len(made), "lines after one more run")


@check_each(LOOPS, recordings=False)
def killed_at_any_moment(case, _, loops):
    """kill -9 again and again: in the end every sink has every event, and every line is whole."""
    made = lines(case, 30_000)
    graph(case, loops)
    dice = random.Random(loops)
    for _ in range(6):
        run = case.start("run", "--config", "config.json", "--once")
        end = time.monotonic() + dice.uniform(0.1, 0.6)
        while run.running and time.monotonic() < end:
            time.sleep(0.002)
        run.kill()
    case.once(most=60)
    for name, expected in outputs(made).items():
        same(sorted(set(case.lines(name))), sorted(expected), f"lines of {name}, repeats aside")


def heeds(run, number):
    """Whether the program has a handler for a signal."""
    status = Path(f"/proc/{run.process.pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


@check_each(LOOPS, recordings=False)
def stopped_and_started(case, _, loops):
    """SIGTERM in the middle, again and again: exit code 0, and in the end each sink has each event exactly once, in order."""
    made = lines(case, 30_000)
    graph(case, loops)
    dice = random.Random(10 + loops)
    for _ in range(5):
        run = case.start("run", "--config", "config.json")
        case.until(lambda: heeds(run, signal.SIGTERM), "signals are heeded", run=run)
        time.sleep(dice.uniform(0, 0.4))
        run.stop(dice.choice([signal.SIGTERM, signal.SIGINT])).exits(0)
    case.once(most=60)
    for name, expected in outputs(made).items():
        same(case.lines(name), expected, f"lines of {name}")


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@check_each(LOOPS, recordings=False)
def the_second_signal_kills_all_children(case, _, loops):
    """Children that heed no signal, of nodes on all loops, do not outlive the second SIGINT."""
    code = ("import os, signal, sys\nfor one in (signal.SIGTERM, signal.SIGINT): signal.signal(one, signal.SIG_IGN)\n"
            "open(sys.argv[1], 'w').write(str(os.getpid()))\n"
            "while True: signal.pause()\n")

    def child(name):
        return [sys.executable, "-c", code, name]

    case.config(
        {"source": {"plugin": "Exec", "with": {"command": child("one")}},
         "ticks": {"plugin": "Exec", "with": {"command": ["echo", "1"]}}},
        sinks={"log": {"plugin": "JSONLines", "from": ["source"], "with": {"path": "out.jsonl"}},
               "two": {"plugin": "Exec", "from": ["ticks"], "with": {"command": child("two")}},
               "three": {"plugin": "Exec", "from": ["ticks"], "with": {"command": child("three")}}},
        feedbus={"state": "var", "loops": loops, "shutdown_grace": "60s"})
    run = case.start("run", "--config", "config.json")
    files = [case.folder / name for name in ("one", "two", "three")]
    case.until(lambda: all(one.exists() and one.read_text() for one in files), "all children run", run=run)
    run.process.send_signal(signal.SIGINT)
    case.until(lambda: run.told("stopping"), "the first signal is said", run=run)
    run.stop(signal.SIGINT).exits(130)
    pids = [int(one.read_text()) for one in files]
    try:
        case.until(lambda: all(gone(one) for one in pids), "all children are gone", most=5)
    finally:
        for one in pids:
            if not gone(one):
                os.kill(one, signal.SIGKILL)


@check
def threads_for_all_workers(case):
    """The pool has a thread for each worker, unless the user says otherwise, which is then said; children inherit nothing of it."""
    lines(case, 100)
    case.config(
        {"file": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl"}}},
        stages={"jq": {"plugin": "Map", "from": ["file"], "workers": 9, "with": {"jq": "{n}"}}},
        sinks={"env": {"plugin": "Exec", "from": ["jq"], "with": {
            "command": ["sh", "-c", "env > child.env; exec cat > /dev/null"]}}})

    def threads(env):
        run = case.start("run", "--config", "config.json", env=env)
        written = case.folder / "child.env"
        case.until(lambda: written.exists() and written.read_text(), "the child runs", run=run)
        count = len(os.listdir(f"/proc/{run.process.pid}/task"))
        text = written.read_text()
        run.stop().exits(0)
        written.unlink()
        return count, text, run

    count, text, run = threads({})
    hold(count >= 1 + 4 + 9, "threads", expected="14 or more", seen=count)
    hold("UV_THREADPOOL_SIZE" not in text, "the child's environment", seen=text)
    same(run.told("UV_THREADPOOL_SIZE"), [], "warnings")
    count, text, run = threads({"UV_THREADPOOL_SIZE": "3"})
    hold(count < 14, "threads of a pool of three", seen=count)
    hold("UV_THREADPOOL_SIZE=3" in text, "the child's environment is the user's", seen=text)
    hold(run.told("9 workers", "jq", "3 threads", "UV_THREADPOOL_SIZE", level="warning"), "a warning", seen=run.tail)
