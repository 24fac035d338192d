"""The end of a run, from whatever the program is doing: at once or within the grace, and truthfully counted."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from support.feeds import page
from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import hold, same

WAY = "/repos/a/b/events"
SUMMARY = re.compile(
    r"ended after .*: (?P<emitted>\d+) events? emitted; delivered: (?P<sinks>.*); dead letters (?P<letters>\d+), "
    r"undelivered (?P<undelivered>\d+), dropped (?P<dropped>\d+)(, kept (?P<kept>\d+))?$"
)
LIMIT = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0"}


def summary(run):
    """The figures of the last line of the log."""
    found = [SUMMARY.search(one.line) for one in run.records]
    found = [one for one in found if one]
    hold(len(found) == 1, "one summary", expected=1, seen=f"{len(found)}: {run.tail}")
    figures = {key: int(value or 0) for key, value in found[0].groupdict().items() if key != "sinks"}
    figures["delivered"] = {
        name: int(count) for name, count in (part.rsplit(" ", 1) for part in found[0]["sinks"].split(", "))
    }
    return figures


def stopped_soon(run, number=signal.SIGTERM, most=2.0):
    """Told to stop: the seconds until it has ended."""
    began = time.monotonic()
    run.stop(number)
    took = time.monotonic() - began
    hold(took < most, "the end comes at once", expected=f"under {most} s", seen=f"{took:.2f} s: {run.tail}")
    return run


# What a service does, and what the log says of the wait; nothing where there is no wait to speak of.
PHASES = {
    "a poll that hangs": (lambda: Answer(page(2), after=60), None),
    "a body that does not end": (lambda: Answer(lambda: iter(lambda: (time.sleep(0.05), b" ")[1], None)), None),
    "a back-off of an hour": (lambda: Answer("{}", 503, {"Retry-After": "3600"}), r"wait|again"),
    "a rate limit of an hour": (
        lambda: Answer(
            '{"message":"API rate limit exceeded"}', 403, {**LIMIT, "X-RateLimit-Reset": str(int(time.time()) + 3600)}
        ),
        r"wait|again",
    ),
    "a secondary limit": (
        lambda: Answer('{"message":"You have exceeded a secondary rate limit"}', 429, {"Retry-After": "3600"}),
        r"wait|again",
    ),
    "the pause between polls": (lambda: Answer(page(2)), None),
}


@check_each(PHASES, recordings=False)
def in_every_phase_of_a_source(case, name, phase):
    """SIGTERM and SIGINT while a source waits for whatever it may wait for: a clean end at once."""
    answer, words = phase
    for number in (signal.SIGTERM, signal.SIGINT):
        up = case.upstream()
        up.on(WAY, lambda asked: answer())
        source = case.source("GitHubEvents", up, repo="a/b", every="1h", retry={"attempts": 5, "base": "1s"})
        case.config({"gh": source}, name="config.json")
        run = case.start("run", "--config", "config.json")
        case.until(lambda: up.asked, "a request", run=run)
        if words:
            case.until(lambda: run.told(r"\bgh\b", words), "a word about the wait", run=run)
        elif name == "the pause between polls":
            case.until(lambda: (case.folder / "out.jsonl").exists() and len(case.lines()) >= 2, "the events", run=run)
        stopped_soon(run, number).exits(0)
        same(summary(run)["undelivered"], 0, "events left undelivered")


@check
def while_a_sink_waits_an_hour(case):
    """A sink whose retry comes in an hour: what it holds is counted and named at once, and comes at the next start."""
    up = case.upstream()
    up.on(WAY, page(5))
    retry = {"attempts": 9, "base": "1h", "cap": "1h", "jitter": "none"}
    sink = {"plugin": "Exec", "from": ["gh"], "with": {"command": ["false"]}, "retry": retry}
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", every="1h")}, sinks={"log": sink})
    run = case.start("run", "--config", "config.json")
    case.until(lambda: run.told("trying again in 1h", level="warning"), "the wait of an hour", run=run)
    stopped_soon(run).exits(1)
    same(summary(run)["undelivered"], 5, "events left undelivered")
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", every="1h")})
    case.once()
    same(len(case.events()), 5, "events at the next start")


@check
def while_a_program_is_started_again(case):
    """A source that has failed and waits to be started again."""
    case.config({"bad": {"plugin": "Exec", "with": {"command": ["false"]}}})
    run = case.start("run", "--config", "config.json")
    case.until(lambda: run.told("starting again", level="warning"), "the pause before it is started again", run=run)
    stopped_soon(run).exits(0)


@check
def while_a_sink_takes_nothing(case):
    """A program that reads nothing: the end within the grace, with 1, and the rest counted; the program goes as well."""
    sink = {"plugin": "Exec", "from": ["numbers"], "with": {"command": ["sleep", "3817"]}}
    case.config(
        {"numbers": {"plugin": "Generate", "with": {"count": 20000, "size": 512}}},
        sinks={"deaf": sink},
        feedbus={"state": "var", "shutdown_grace": "1s"},
    )
    run = case.start("run", "--config", "config.json")
    case.until(lambda: children(run), "the program", run=run)
    program = children(run)[0]
    time.sleep(0.3)
    began = time.monotonic()
    run.stop().exits(1)
    took = time.monotonic() - began
    hold(0.9 < took < 8, "the end after the grace", expected="1 to 8 s", seen=f"{took:.2f} s")
    hold(summary(run)["undelivered"] > 0, "what is left is counted", seen=run.tail)
    hold(run.told(r"\bdeaf\b", r"left undelivered", level="error"), "and named", seen=run.tail)
    case.until(lambda: not os.path.exists(f"/proc/{program}"), "the end of the program", most=10)


def children(run):
    """A child is that of the thread that started it."""
    found = []
    for thread in Path(f"/proc/{run.process.pid}/task").glob("*/children"):
        try:
            found += thread.read_text().split()
        except OSError:
            pass
    return found


# How the file is written; each is stopped many times at random moments.
WRITING = {
    "rotation": {"rotate": {"size": "16KiB", "keep": 100000}},
    "fsync of each batch": {"fsync": "batch"},
    "no fsync": {"fsync": "none"},
}


def written(case):
    """Files in the folder `out`, then their bytes: a rotation may leave fewer of these."""
    folder = case.folder / "out"
    sizes = []
    for file in list(folder.iterdir()) if folder.exists() else []:
        try:
            sizes.append(file.stat().st_size)
        except FileNotFoundError:  # renamed just now
            pass
    return len(sizes), sum(sizes)


@check_each(WRITING, recordings=False)
def in_the_middle_of_writing(case, name, options):
    """Stopped eight times at random moments under full load: every line whole, and as many as the summaries say."""
    dice = random.Random(name)
    said = 0
    for turn in range(8):
        case.config(
            {"numbers": {"plugin": "Generate", "with": {"size": 300, "seed": turn}}},
            sinks={"log": {"plugin": "JSONLines", "from": ["numbers"], "with": {"path": "out/log.jsonl", **options}}},
        )
        before = written(case)
        run = case.start("run", "--config", "config.json")
        case.until(lambda: written(case) > before, "the first write", run=run)
        time.sleep(dice.uniform(0, 0.25))
        stopped_soon(run, dice.choice([signal.SIGTERM, signal.SIGINT]), most=8).exits(0)
        figures = summary(run)
        same(figures["undelivered"], 0, "events left undelivered")
        same(figures["delivered"]["log"], figures["emitted"], "delivered of those emitted")
        said += figures["emitted"]
    found = 0
    for file in sorted((case.folder / "out").iterdir()):
        data = file.read_bytes()
        if file.suffix == ".gz":
            data = subprocess.run(["gzip", "-dc", file], capture_output=True, check=True).stdout
        hold(not data or data.endswith(b"\n"), f"{file.name} ends with a whole line", seen=data[-60:])
        for line in data.splitlines():
            json.loads(line)
            found += 1
    same(found, said, "lines, and events that the summaries call delivered")


@check
def in_the_first_moments(case):
    """SIGTERM from before the first line of the log to after the first event: a clean end, whatever was reached."""
    up = case.upstream()
    up.on(WAY, page(3))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", every="1h")})
    for step in range(25):
        run = case.start("run", "--config", "config.json")
        time.sleep(0.004 * step)
        run.stop(most=5)
        # Before its first act, while the system loads it, the signal itself ends it.
        hold(run.code in (0, -signal.SIGTERM), "a clean end", seen=f"{run.code}: {run.tail}")
    case.once()
    same(sorted(int(one.id) for one in case.events(repeats=True))[-3:], [1, 2, 3][-3:], "events")


@check
def before_it_can_listen(case):
    """SIGTERM that is there before the program's first act, held back: an orderly end."""
    up = case.upstream()
    up.on(WAY, page(3))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", every="1h")})

    def pending():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        os.kill(os.getpid(), signal.SIGTERM)

    run = case.start("run", "--config", "config.json", before=pending).wait(10).exits(0)
    summary(run)


@check
def while_a_replay_waits_for_its_reader(case):
    """`replay` to a pipe that nobody reads: SIGTERM ends it at once."""
    up = case.upstream()
    up.on(WAY, "[" + ",".join(f'{{"id":"{n}","type":"X","payload":"{"x" * 4000}"}}' for n in range(100, 0, -1)) + "]")
    case.config(
        {"gh": case.source("GitHubEvents", up, repo="a/b", max_pages=1)},
        sinks={"log": {"plugin": "JSONLines", "from": ["all"], "with": {"path": "out.jsonl"}}},
        subjects={"all": {"from": ["gh"], "store": "disk", "replay": 100}},
    )
    case.once()
    environment = {**os.environ, "HOME": str(case.folder)}
    process = subprocess.Popen(
        [case.program, "replay", "--subject", "all", "--from", "first", "--to", "-"],
        cwd=case.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        first = os.read(process.stdout.fileno(), 100)
        hold(first.startswith(b"{"), "the replay begins", seen=first)
        time.sleep(0.2)
        hold(process.poll() is None, "it waits for its reader")
        process.terminate()
        began = time.monotonic()
        process.wait(15)
        took = time.monotonic() - began
        hold(took < 12, "the end within the grace", seen=f"{took:.2f} s")
        hold(process.returncode in (0, 1, 143, -15), "an end of its own", seen=process.returncode)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@check
def a_second_signal_is_the_end(case):
    """A second signal does not wait for the grace; the exit code is the signal's."""
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        sink = {"plugin": "Exec", "from": ["numbers"], "with": {"command": [sys.executable, "-c", "import time; time.sleep(60)"]}}
        case.config(
            {"numbers": {"plugin": "Generate", "with": {"count": 20000, "size": 512}}},
            sinks={"deaf": sink},
            feedbus={"state": "var", "shutdown_grace": "30s"},
        )
        run = case.start("run", "--config", "config.json")
        case.until(lambda: children(run), "the program", run=run)
        time.sleep(0.2)
        run.process.send_signal(number)
        case.until(lambda: run.told("stopping"), "the word of the stop", run=run)
        began = time.monotonic()
        run.stop(number).exits(code)
        hold(time.monotonic() - began < 2, "the end at once", seen=run.tail)


@check
def for_a_time(case):
    """`--for` in the middle of a wait of an hour: it ends then, with 0."""
    up = case.upstream()
    up.on(WAY, Answer("{}", 503, {"Retry-After": "3600"}))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", every="1h")})
    run = case.start("run", "--config", "config.json", "--for", "1s").wait(10).exits(0)
    hold(0.9 < run.seconds < 5, "after a second", seen=f"{run.seconds:.2f} s")


# What a stage holds for an hour, and the numbers that come of ten.
HOLDING = {
    "window": ({"plugin": "Window", "with": {"count": 7, "time": "1h"}}, 2),
    "debounce": ({"plugin": "Debounce", "with": {"time": "1h"}}, 1),
    "the last sample": ({"plugin": "Sample", "with": {"every": "1h", "emit_last": True}}, 1),
    "sample": ({"plugin": "Sample", "with": {"every": "1h"}}, 0),
    "throttle, both edges": ({"plugin": "Throttle", "with": {"time": "1h", "edge": "both"}}, 2),
    "throttle, trailing edge": ({"plugin": "Throttle", "with": {"time": "1h", "edge": "trailing"}}, 1),
}


@check_each(HOLDING)
def a_stage_that_holds_events(case, name, what):
    """At a stop a stage with a timer lets go what it holds, as at the end of its input: nothing undelivered, nothing twice."""
    stage, count = what
    case.write("in.jsonl", "".join(f'{{"n":{n}}}\n' for n in range(1, 11)))
    case.config(
        {"s": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl", "id": "/n", "follow": True}}},
        {"w": {**stage, "from": ["s"]}})
    for emitted in (10, 0):
        run = case.start("run", "--config", "config.json", "--for", "400ms").wait(10).exits(0)
        found = summary(run)
        same((found["emitted"], found["undelivered"]), (emitted, 0), "emitted and undelivered")
        same(len(case.lines()), count, "events in the file")
