"""jq expressions have processes of their own: what ends jq ends no pipeline, and no process is left behind."""

import json
import os
import signal

from support.registry import check
from support.verdict import hold, same


def descendants(pid):
    """The processes that a process has started and that are still there, by their command lines."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in children.read().split():
                with open(f"/proc/{child}/cmdline", "rb") as line:
                    found[int(child)] = line.read().replace(b"\0", b" ").decode().strip()
    return found


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def processor_time(pid):
    """Seconds."""
    with open(f"/proc/{pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def configure(case, expression, **source):
    case.config(
        {"lines": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl", **source}}},
        stages={"dates": {"plugin": "Map", "from": ["lines"], "with": {"jq": expression, "time_limit": "10m"}}},
        sinks={"out": {"plugin": "JSONLines", "from": ["dates"], "with": {"path": "out.jsonl"}}},
    )


@check
def an_event_that_ends_jq_is_a_dead_letter_and_its_neighbours_come(case):
    """Every tenth of 400 lines ends jq 1.6 by an assertion; the other 360 come out in order, with 40 dead letters."""
    case.write(
        "in.jsonl",
        "".join(f'{{"n":{n},"t":{1764560000123456789 if n % 10 == 5 else n}}}\n' for n in range(400)),
    )
    configure(case, "{n, d: (.t | todate)}")
    run = case.once()
    same([json.loads(event.data)["n"] for event in case.events()], [n for n in range(400) if n % 10 != 5], "events")
    hold(run.told(r"\bdates\b", "jq ended by itself", "SIGABRT", "Assertion"), "the reason is said", seen=run.tail)
    hold(run.told("dead letters 40, undelivered 0, dropped 0"), "they are counted", seen=run.tail)


@check
def the_jq_process_ends_with_feedbus_also_by_sigkill(case):
    """In the middle of a call that never returns; and where jq is killed from outside, its event is tried again."""
    case.write("in.jsonl", '{"n":1}\n')
    configure(case, 'if .n == 2 then ("aé" | gsub(""; "x")) else .n end', follow=True)
    run = case.start("run", "--config", "config.json")

    def add(line):
        with open(case.folder / "in.jsonl", "a") as file:
            file.write(line + "\n")

    def the_jq():
        jq = [pid for pid, line in descendants(run.process.pid).items() if line == "feedbus: jq"]
        same(len(jq), 1, "jq processes")
        return jq[0]

    case.until(lambda: len(case.lines()) == 1, "the first event", run=run)
    os.kill(the_jq(), signal.SIGKILL)
    add('{"n":3}')
    case.until(lambda: len(case.lines()) == 2, "the event after jq was killed", run=run)
    add('{"n":2}')
    last = the_jq()
    case.until(lambda: processor_time(last) > 0.3, "jq at work on the call without end", run=run)
    run.kill()
    case.until(lambda: not is_there(last), "the end of the jq process after feedbus was killed")


@check
def the_time_zone_is_that_of_feedbus(case):
    """TZ counts for jq's local times; of all else in the environment an expression sees nothing."""
    case.write("in.jsonl", "0\n")
    configure(case, '[strflocaltime("%H:%M"), env, $ENV]')
    case.once(env={"TZ": "XXX-5:30"})
    same([json.loads(event.data) for event in case.events()], [["05:30", {}, {}]], "the event")
