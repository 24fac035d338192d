"""Plugins that hang, and the node's `timeout`."""

from support.registry import check
from support.verdict import hold, same

ENDLESS = "if .n == 50 then last(range(1e9)) else .n end"


@check
def a_stage_that_hangs_is_given_up_alone(case):
    """jq that does not come to an end: cancelled by the node's timeout; its events are dead letters, once, and the source goes on."""
    case.write("in.jsonl", "".join(f'{{"n":{number}}}\n' for number in range(100)))
    case.config(
        {"lines": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl"}}},
        stages={
            "slow": {
                "plugin": "Map",
                "from": ["lines"],
                "timeout": "200ms",
                "with": {"jq": ENDLESS, "time_limit": "10m"},
            }
        },
        sinks={
            "mapped": {"plugin": "JSONLines", "from": ["slow"], "with": {"path": "mapped.jsonl"}},
            "all": {"plugin": "JSONLines", "from": ["lines"], "with": {"path": "all.jsonl"}},
        },
    )
    run = case.once(code=1)
    hold(run.seconds < 8, "no wait for the shutdown grace", seen=f"{run.seconds:.1f} s: {run.tail}")
    hold(run.told(r"\bslow\b", 'its "timeout" of 200ms', level="error"), "the reason is said", seen=run.tail)
    hold(not run.told("lines", "did not settle"), "the source is not blamed", seen=run.tail)
    same(len(case.events("all.jsonl")), 100, "events of the other sink")
    case.once()
    same(len(case.events("all.jsonl")), 100, "events of the other sink after a second run")


@check
def a_sink_that_hangs_is_tried_again_and_given_up(case):
    """A program that reads nothing and ignores SIGTERM: its writes are cancelled; the other sink has everything."""
    case.write("deaf.sh", "trap '' TERM\nsleep 30\n")
    case.config(
        {"numbers": {"plugin": "Generate", "with": {"count": 3000, "size": 1024}}},
        sinks={
            "deaf": {
                "plugin": "Exec",
                "from": ["numbers"],
                "timeout": "200ms",
                "retry": {"attempts": 2, "base": "10ms", "cap": "10ms"},
                "with": {"command": ["sh", "deaf.sh"]},
            },
            "all": {"plugin": "JSONLines", "from": ["numbers"], "with": {"path": "all.jsonl"}},
        },
    )
    run = case.once(code=1)
    hold(run.told(r"\bdeaf\b", "timeout", "given up", level="error"), "it is given up, and why", seen=run.tail)
    same(len(case.events("all.jsonl")), 3000, "events of the other sink")
