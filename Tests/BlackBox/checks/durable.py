"""Durable subjects, dead letters and the state folder: kills at any moment, replays, damage, a full disk."""

import json
import os
import random
import re
import signal
import subprocess
import time

from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import Skip, hold, same

WAY = "/repos/a/a/events"


def ids(case, name):
    return [int(one.id) for one in case.events(name, repeats=True)]


def first_times(numbers):
    return list(dict.fromkeys(numbers))


def feed(case):
    """A repository's events, the newest first; the list is what the check appends to."""
    upstream = case.upstream()
    numbers = []
    upstream.on(WAY, lambda request: Answer(json.dumps(
        [{"id": str(n), "type": "PushEvent", "payload": {"pad": "x" * 500}} for n in reversed(numbers)])))
    return upstream, numbers


def durable(case, upstream, sinks, subject=None, feedbus=None, **options):
    source = case.source("GitHubEvents", upstream, repo="a/a", every="1s", max_pages=1, **options)
    case.config(
        {"rx": source},
        sinks={name: {"plugin": "JSONLines", "from": ["activity"], "with": {"path": f"{name}.jsonl"}, **(more or {})}
               for name, more in sinks.items()},
        subjects={"activity": {"from": ["rx"], "replay": 5, "scope": "forever", "store": "disk", **(subject or {})}},
        feedbus={"state": "var", "shutdown_grace": "2s", **(feedbus or {})})


@check
def killed_at_any_moment(case):
    """kill -9 at twenty random moments under a durable subject: both sinks have every event, in order, each goes on at its place."""
    dice = random.Random(20261130)
    upstream, numbers = feed(case)
    kills = 0
    for turn in range(20):
        numbers.extend(range(len(numbers) + 1, len(numbers) + 41))
        durable(case, upstream, {"one": None, "two": None} if turn >= 5 else {"one": None})
        run = case.start("run", "--config", "config.json")
        # From before the first poll to after the last write.
        time.sleep(dice.uniform(0.02, 0.5))
        hold(run.running, "the program runs until it is killed", seen=run.tail)
        run.kill()
        kills += 1
    case.once()
    one, two = ids(case, "one.jsonl"), ids(case, "two.jsonl")
    same(first_times(one), list(range(1, len(numbers) + 1)), "events of the first sink, in order of first coming")
    start = min(two)
    same(first_times(two), list(range(start, len(numbers) + 1)), "events of the second sink from its first one on")
    for name, found in (("one", one), ("two", two)):
        hold(len(found) - len(set(found)) <= 60 * kills, f"{name}: repeats of the last moment only", seen=len(found))


@check
def a_stop_repeats_nothing(case):
    """Stopped by signals in the middle of writing, five times: each sink has each event exactly once."""
    dice = random.Random(7)
    upstream, numbers = feed(case)
    durable(case, upstream, {"one": None, "two": None})
    for turn in range(5):
        numbers.extend(range(len(numbers) + 1, len(numbers) + 101))
        run = case.start("run", "--config", "config.json")
        time.sleep(dice.uniform(0.3, 0.8))
        run.stop(dice.choice([signal.SIGTERM, signal.SIGINT])).exits(0)
    case.once()
    for name in ("one.jsonl", "two.jsonl"):
        same(ids(case, name), list(range(1, len(numbers) + 1)), f"events of {name}")


@check
def dead_letters_and_back(case):
    """A sink that cannot write: its events are dead letters with reason and node; replay delivers them, with their ids, once."""
    upstream, numbers = feed(case)
    numbers.extend(range(1, 6))
    bad = {"plugin": "JSONLines", "from": ["rx"], "with": {"path": "/proc/nope/bad.jsonl"}, "retry": {"attempts": 1}}
    good = {"plugin": "JSONLines", "from": ["rx"], "with": {"path": "good.jsonl"}}
    case.config({"rx": case.source("GitHubEvents", upstream, repo="a/a", max_pages=1)}, sinks={"good": good, "bad": bad})
    run = case.once(code=1)
    hold(run.told("dead letter", level="warning"), "the log says where they are", seen=run.tail)
    same(ids(case, "good.jsonl"), [1, 2, 3, 4, 5], "events of the other sink")
    shown = case.start("state", "show", "--format", "json").wait().exits(0)
    letters = json.loads(shown.out)["dead_letters"]
    same([(one["node"], one["count"]) for one in letters], [("bad", 5)], "dead letters by node")
    hold("nope" in letters[0]["reason"], "the reason is there", seen=letters)
    printed = case.start("replay", "--dead-letters", "--to", "-").wait().exits(0)
    same([json.loads(line)["id"] for line in printed.out.splitlines()], ["1", "2", "3", "4", "5"], "ids printed")
    # Again to the sink that still cannot: they stay.
    case.start("replay", "--dead-letters").wait().exits(1)
    same(json.loads(case.start("state", "show", "--format", "json").wait().out)["dead_letters"][0]["count"], 5, "letters")
    case.start("replay", "--dead-letters", "--node", "bad", "--set", "sinks.bad.with.path=back.jsonl").wait().exits(0)
    same(ids(case, "back.jsonl"), [1, 2, 3, 4, 5], "events that came back")
    same(json.loads(case.start("state", "show", "--format", "json").wait().out)["dead_letters"], [], "letters left")
    # They are settled: the next run gives nothing twice.
    case.write("config.json", (case.folder / "config.json").read_text().replace("/proc/nope/bad.jsonl", "late.jsonl"))
    case.once()
    same(ids(case, "good.jsonl"), [1, 2, 3, 4, 5], "events of the other sink after another run")


SUM = re.compile(r"(\d+) events? emitted; delivered: slow (\d+); dead letters (\d+), undelivered (\d+), dropped (\d+)"
                 r"(?:, kept (\d+))?$")


def sums(run):
    """What the last line of the log says: emitted, delivered, dead letters, undelivered, dropped, kept."""
    found = [one for one in (SUM.search(record.line) for record in run.records) if one]
    same(len(found), 1, "lines that sum up the run")
    return [int(figure or 0) for figure in found[0].groups()]


def shown(case):
    """The state, and what it says of the reader slow."""
    state = json.loads(case.start("state", "show", "--format", "json").wait().exits(0).out)
    return state, state["subjects"][0], state["subjects"][0]["readers"][0]["behind"]


def numbers_to(case, command, subject=None, **source):
    """Numbers, or nothing, a durable subject, and a program that takes them."""
    case.config(
        {"n": {"plugin": "Generate", "with": source} if source else {"plugin": "Exec", "with": {"command": ["true"]}}},
        subjects={"dur": {"from": ["n"], "store": "disk", **(subject or {})}},
        sinks={"slow": {"plugin": "Exec", "from": ["dur"], "with": {"command": command}, "retry": {"attempts": 2, "base": "1s"}}},
        feedbus={"state": "var", "shutdown_grace": "1s"})


@check
def the_summary_adds_up_when_the_limit_drops(case):
    """A log that is full drops the oldest: delivered, kept and dropped are all that was emitted, also what the sink had in hand."""
    numbers_to(case, ["sleep", "60"], {"limit": {"bytes": "64KiB", "when_full": "drop_oldest"}}, count=5000)
    run = case.start("run", "--config", "config.json")
    case.until(lambda: run.told("every source has come to its end"), "the end of the source", run=run)
    case.until(lambda: shown(case)[1]["next"] == 5001, "everything has gone through the log", run=run)
    run.stop().exits(0)
    emitted, delivered, letters, undelivered, dropped, kept = sums(run)
    same((emitted, letters, undelivered), (5000, 0, 0), "emitted, dead letters, undelivered")
    same(delivered + dropped + kept, emitted, "delivered, dropped and kept together")
    state, log, behind = shown(case)
    same((log["events"], behind), (kept, kept), "events in the log, and of the reader to come")
    hold(log["bytes"] <= 64 << 10, "the log is not larger than its limit", seen=log["bytes"])
    hold(run.told(rf"slow has {kept} events? to come"), "it is said what is to come", seen=run.tail)
    numbers_to(case, ["cat"], {"limit": {"bytes": "64KiB", "when_full": "drop_oldest"}})
    again = case.once()
    hold(not again.told("missed"), "what was counted is not said once more", seen=again.tail)
    same(sums(again)[1], kept, "delivered at the next start")


@check
def what_a_reader_had_in_hand_is_kept_too(case):
    """Stopped while a program is slow: what is kept is all that was emitted and not delivered, in the log line and the summary."""
    numbers_to(case, ["sh", "-c", "while read -r line; do sleep 0.01; done"], rate=5000)
    run = case.start("run", "--config", "config.json")
    case.until(lambda: (case.folder / "var" / "feedbus.sqlite").exists() and shown(case)[1]["events"] > 3000, "a log", run=run)
    run.stop().exits(0)
    emitted, delivered, letters, undelivered, dropped, kept = sums(run)
    same((letters, undelivered, dropped), (0, 0, 0), "dead letters, undelivered, dropped")
    same(delivered + kept, emitted, "delivered and kept together")
    same(shown(case)[2], kept, "events to come by state show")
    hold(run.told(rf"slow has {kept} events? to come"), "it is said what is to come", seen=run.tail)


@check
def what_is_kept_for_a_sink_that_failed_is_said(case):
    """The last sink fails for good: what its log keeps for the next start is said and summed up."""
    numbers_to(case, ["false"], rate=2000)
    run = case.start("run", "--config", "config.json").wait().exits(1)
    emitted, delivered, letters, undelivered, dropped, kept = sums(run)
    hold(kept > 0, "something is kept", seen=run.tail)
    same(shown(case)[2], kept, "events to come by state show")
    same(delivered + letters + undelivered + kept, emitted, "what became of them")
    hold(run.told(rf"slow has {kept} events? to come"), "it is said what is to come", seen=run.tail)


@check_each({"drop_oldest": 50, "drop_newest": 50}, recordings=False)
def dead_letters_that_a_policy_drops(case, policy, cap):
    """A thousand refused events and room for fifty: fifty are dead letters, 950 dropped, in the summary and the closing lines."""
    case.config(
        {"n": {"plugin": "Generate", "with": {"count": 1000}}},
        stages={"picky": {"plugin": "Map", "from": ["n"], "with": {"jq": "error(\"no\")"}}},
        sinks={"slow": {"plugin": "Null", "from": ["picky"]}},
        feedbus={"state": "var", "dead_letters": {"max_events": cap, "when_full": policy}})
    run = case.once()
    same(sums(run), [1000, 0, cap, 0, 1000 - cap, 0], "the summary")
    hold(run.told(rf"{cap} events set aside as dead letters in all"), "the closing line", seen=run.tail)
    hold(run.told(rf"dropped {1000 - cap} dead letters in all \({policy}\)"), "what went", seen=run.tail)
    letters = json.loads(case.start("state", "show", "--format", "json").wait().exits(0).out)["dead_letters"]
    same([(one["node"], one["count"]) for one in letters], [("picky", cap)], "dead letters in the store")


@check
def a_log_is_sent_again(case):
    """replay --subject from the first, an id and a time, to a sink and to stdout; the sink's own place stays where it is."""
    upstream, numbers = feed(case)
    numbers.extend(range(1, 4))
    durable(case, upstream, {"log": None, "again": None})
    case.once()
    time.sleep(1.1)
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    numbers.extend(range(4, 7))
    case.once()

    def printed(start):
        run = case.start("replay", "--subject", "activity", "--from", start, "--to", "-").wait().exits(0)
        return [int(json.loads(line)["id"]) for line in run.out.splitlines()]
    same(printed("first"), [1, 2, 3, 4, 5, 6], "ids from the first on")
    same(printed("5"), [5, 6], "ids from an id on")
    same(printed(moment), [4, 5, 6], "ids from a time on")
    case.start("replay", "--subject", "activity", "--from", "3", "--to", "again").wait().exits(0)
    same(ids(case, "again.jsonl"), [1, 2, 3, 4, 5, 6, 3, 4, 5, 6], "events of the sink that got them again")
    same(ids(case, "log.jsonl"), [1, 2, 3, 4, 5, 6], "events of the other sink")
    missing = case.start("replay", "--subject", "activity", "--from", "77", "--to", "-").wait().exits(1)
    hold("77" in missing.err, "an id that is not there is named", seen=missing.tail)
    wrong = case.start("replay", "--subject", "activty", "--from", "first", "--to", "-").wait().exits(2)
    hold("activity" in wrong.err, "the nearest name is suggested", seen=wrong.tail)
    case.once()
    same(ids(case, "again.jsonl"), [1, 2, 3, 4, 5, 6, 3, 4, 5, 6], "events after another run")


@check
def the_state_is_emptied_on_request_only(case):
    """state reset without --yes changes nothing; while feedbus runs it is refused; with --yes a node, or all, is forgotten."""
    upstream, numbers = feed(case)
    numbers.extend(range(1, 8))
    durable(case, upstream, {"log": None})
    run = case.start("run", "--config", "config.json")
    case.until(lambda: len(case.lines("log.jsonl")) == 7, "all events are in the file", run=run)
    refused = case.start("state", "reset", "--yes").wait().exits(1)
    hold("in use" in refused.err, "it says that the folder is in use", seen=refused.tail)
    hold(b"activity: 7 events" in case.start("state", "show").wait().exits(0).out, "state show while it runs")
    run.stop().exits(0)
    shown = case.start("state", "reset", "--node", "log").wait().exits(2)
    hold("--yes" in shown.err, "it says how to do it", seen=shown.tail)
    case.once()
    same(ids(case, "log.jsonl"), list(range(1, 8)), "events after a reset that was not done")
    case.start("state", "reset", "--node", "log", "--yes").wait().exits(0)
    case.once()
    same(ids(case, "log.jsonl"), [*range(1, 8), *range(3, 8)], "a forgotten reader is a new one: the last five again")
    case.start("state", "reset", "--yes").wait().exits(0)
    exported = case.start("state", "export").wait().exits(0)
    same(exported.out, b"", "what is exported of an empty state")
    case.once()
    same(ids(case, "log.jsonl")[-7:], list(range(1, 8)), "after a reset of all everything comes again")
    lines = [json.loads(line) for line in case.start("state", "export").wait().exits(0).out.splitlines()]
    kinds = [next(iter(line)) for line in lines]
    same(sorted(set(kinds)), ["cursor", "event", "reader"], "kinds of what is exported")
    same([line["event"]["event"]["id"] for line in lines if "event" in line], [str(n) for n in range(1, 8)], "ids exported")


@check_each({"empty": b"", "one byte": b"S", "text": b"no database\n" * 500, "cut off": None}, recordings=False)
def damaged_state(case, name, content):
    """A damaged database is named and nothing starts; --reset-state keeps it aside and goes on."""
    upstream, numbers = feed(case)
    numbers.extend(range(1, 4))
    durable(case, upstream, {"log": None})
    case.once()
    path = case.folder / "var" / "feedbus.sqlite"
    damaged = path.read_bytes()[: path.stat().st_size // 2 + 100] if content is None else content
    path.write_bytes(damaged)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    run = case.once(code=1)
    hold(run.told("feedbus.sqlite", "--reset-state", level="error"), "it says what to do", seen=run.tail)
    same(path.read_bytes(), damaged, "the damaged file is let be")
    run = case.once("--reset-state")
    hold(run.told("kept as", level="warning"), "it says where the old one is", seen=run.tail)
    aside = [one for one in path.parent.iterdir() if ".corrupt-" in one.name]
    same([one.read_bytes() for one in aside], [damaged], "the file that was kept aside")
    same(ids(case, "log.jsonl"), [1, 2, 3, 1, 2, 3], "events: what was delivered before comes again")
    case.once()
    same(len(ids(case, "log.jsonl")), 6, "events after one more run")


@check
def a_full_disk_under_the_log(case):
    """The state folder's disk is full: it is said, the source waits, and when there is room again everything arrives once."""
    small = case.folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True).returncode:
        raise Skip("needs the right to mount a small file system")
    try:
        upstream, numbers = feed(case)
        numbers.append(1)
        durable(case, upstream, {"log": None}, feedbus={"state": "small/var"})
        run = case.start("run", "--config", "config.json")
        case.until(lambda: len(case.lines("log.jsonl")) == 1, "the first event has arrived", run=run)
        filler = small / "filler"
        file = os.open(filler, os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(file, b"\0" * 4096):
                pass
        except OSError:
            pass
        os.close(file)
        numbers.extend(range(2, 301))
        case.until(lambda: run.told("activity", "disk is full", level="error"), "it says that the disk is full", run=run)
        time.sleep(0.5)
        hold(run.running, "it goes on", seen=run.tail)
        filler.unlink()
        case.until(lambda: len(case.lines("log.jsonl")) == 300, "everything has arrived", run=run, most=30)
        hold(run.told("written again"), "it says that it goes on", seen=run.tail)
        run.stop().exits(0)
        same(ids(case, "log.jsonl"), list(range(1, 301)), "events")
    finally:
        subprocess.run(["umount", "-l", str(small)], capture_output=True)
