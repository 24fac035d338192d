"""What the program finds around it: standard streams that are closed, readers that do not read, signals, its state deleted."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import Skip, hold, same


def ticking(count, pause=0.0, size=0):
    """The command of a child that prints numbered lines."""
    code = (f"import time\nfor n in range({count}):\n print('{{\"n\":%d,\"p\":\"%s\"}}' % (n, 'x' * {size}), flush=True)\n"
            f" time.sleep({pause})\n")
    return {"plugin": "Exec", "with": {"command": [sys.executable, "-u", "-c", code]}}


def lines_to(path, **more):
    return {"plugin": "JSONLines", "from": ["a"], "with": {"path": path}, **more}


@check_each({"stdin": ([0], 0), "stdout": ([1], 1), "stderr": ([2], 0), "all": ([0, 1, 2], 1)}, recordings=False)
def closed_streams(case, name, what):
    """A standard stream that the caller has closed is not taken for one of the program's own files: the file sink gets everything."""
    closed, code = what
    case.config({"a": ticking(20)}, sinks={
        "log": lines_to("out.jsonl"),
        "screen": {"plugin": "Console", "from": ["a"], "retry": {"attempts": 1}}})
    case.once(code=code, before=lambda: [os.close(one) for one in closed])
    same(len(case.events()), 20, "events in the file")


@check
def readers_that_stop_reading(case):
    """Five named pipes that nobody reads do not keep the thread pool from the file sink."""
    pipes = [f"pipe{n}" for n in range(5)]
    ends = []
    for name in pipes:
        os.mkfifo(case.folder / name)
        ends.append(os.open(case.folder / name, os.O_RDONLY | os.O_NONBLOCK))
    case.config({"a": ticking(100_000, pause=0.002, size=2000)}, feedbus={"state": "var", "shutdown_grace": "1s"}, sinks={
        "log": lines_to("out.jsonl"),
        **{name: lines_to(name, buffer={"events": 10, "when_full": "drop_oldest"}) for name in pipes}})
    run = case.start("run", "--config", "config.json")
    try:
        end = time.monotonic() + 20
        while len(case.lines()) < 400 and time.monotonic() < end:
            time.sleep(0.05)
        hold(len(case.lines()) >= 400, "the file sink goes on", seen=f"{len(case.lines())} lines")
    finally:
        run.stop()
        for one in ends:
            os.close(one)


@check
def recording_that_cannot_be_written(case):
    """`--record` into a place where no file can be: said at the start, exit code 2, nothing started; elsewhere a recording."""
    case.config({"a": ticking(3)})
    run = case.once("--record", "config.json/run.har", code=2)
    hold("config.json/run.har" in run.err and "nothing was started" in run.err, "the place is named", seen=run.err)
    hold(not (case.folder / "out.jsonl").exists(), "nothing was started")
    case.once("--record", "made/run.har")
    same(json.loads((case.folder / "made/run.har").read_text())["log"]["entries"], [], "exchanges of no request")
    same(os.listdir(case.folder / "made"), ["run.har"], "files of the recording")


@check
def state_deleted_while_running(case):
    """The state folder is deleted under the running program: said at the next save, made anew, and used by the next start."""
    upstream = case.upstream()
    events = [{"id": "1", "type": "PushEvent"}]
    upstream.on("/repos/a/a/events", lambda request: Answer(json.dumps(events)))
    case.config({"rx": case.source("GitHubEvents", upstream, repo="a/a", every="1s")})
    run = case.start("run", "--config", "config.json")
    end = time.monotonic() + 10
    while len(case.lines()) < 1 and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    for one in (case.folder / "var").iterdir():
        one.unlink()
    (case.folder / "var").rmdir()
    events.insert(0, {"id": "2", "type": "PushEvent"})
    while not run.told("deleted or replaced", level="error") and time.monotonic() < end:
        time.sleep(0.05)
    hold(run.told("deleted or replaced", level="error"), "the log says it", seen=run.err[-300:])
    time.sleep(1)
    run.stop().exits(0)
    case.once()
    same([one.id for one in case.events()], ["1", "2"], "events after another start")


@check
def a_monstrous_item(case):
    """One item of a list nests 1,001 deep: it is counted, and the others come."""
    upstream = case.upstream()
    deep = b'{"id":"2","type":"X","d":' + b"[" * 1001 + b"]" * 1001 + b"}"
    upstream.on("/repos/a/a/events", Answer(b'[{"id":"3","type":"X"},' + deep + b',{"id":"1","type":"X"}]'))
    case.config({"rx": case.source("GitHubEvents", upstream, repo="a/a")})
    run = case.once()
    same([one.id for one in case.events()], ["1", "3"], "events")
    hold(run.told("left out", level="warning"), "the log counts it", seen=run.err[-300:])


def below(pid):
    """The processes that descend from one."""
    found = []
    for one in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        found += [int(one), *below(one)]
    return found


@check
def a_translator_that_is_killed(case):
    """Apertium's programs are killed, one here and one there, while they work: no text gets an empty translation, none is lost."""
    if not shutil.which("apertium"):
        raise Skip("needs apertium")
    code = ("import time\nfor n in range(200):\n print('{\"value\":\"The cat number %d sleeps.\"}' % n, flush=True)\n"
            " time.sleep(0.01)\n")
    case.config({"a": {"plugin": "Exec", "with": {"command": [sys.executable, "-u", "-c", code]}}},
                stages={"spanish": {"plugin": "Translation", "from": ["a"], "with": {"to": "es"}}})
    run = case.start("run", "--config", "config.json", "--once")
    kills = 0
    while run.running and kills < 60:
        programs = [one for one in below(run.process.pid) if called(one).startswith(("lt-proc", "apertium-", "lrx-proc"))]
        for one in programs[kills % 3:][:1]:
            kills += 1
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.15)
    run.wait(60).exits(0)
    hold(kills > 0, "something was killed", seen=kills)
    events = [json.loads(one.data) for one in case.events()]
    same([one["value"] for one in events], [f"The cat number {n} sleeps." for n in range(200)], "texts")
    wrong = [one for one in events if "translatedValue" in one and not re.search(r"\d", one["translatedValue"])]
    same(wrong, [], "translations that are none")


def called(pid):
    try:
        with open(f"/proc/{pid}/comm") as name:
            return name.read().strip()
    except OSError:
        return ""
