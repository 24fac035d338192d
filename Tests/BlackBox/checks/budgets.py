"""What services say about their rate limits, in the state folder."""

import json
import time

from support.registry import check
from support.upstream import Answer
from support.verdict import hold, same


def limits(resource, remaining, limit, reset):
    return [
        ("X-RateLimit-Resource", resource), ("X-RateLimit-Limit", str(limit)),
        ("X-RateLimit-Remaining", str(remaining)), ("X-RateLimit-Reset", str(reset)),
    ]


@check
def state_show_has_the_budgets(case):
    """The last known core and search budgets are in state show, by service and kind of credential, with their reset; no secret."""
    up = case.upstream()
    reset = int(time.time()) + 1_800
    left = iter(range(59, 0, -1))
    up.on("/repos/a/b/events", lambda asked: Answer("[]", headers=limits("core", next(left), 60, reset)))
    up.on("/search/repositories?q=language%3Aswift&sort=stars&order=desc&per_page=5", Answer(
        '{"total_count": 0, "incomplete_results": false, "items": []}', headers=limits("search", 29, 30, reset)))
    case.write("token", "ghp_very-secret-1")
    token = {"secret": "file:token"}
    case.config({
        "events": case.source("GitHubEvents", up, repo="a/b"),
        "trending": case.source("TrendingRepos", up, token=token),
    })
    for expected in (59, 58):
        case.once()
        shown = json.loads(case.start("state", "show", "--format", "json").wait().exits(0).out)["budgets"]
        found = {(one["resource"], one["credential"]): (one["remaining"], one["limit"]) for one in shown}
        same(found, {("core", "none"): (expected, 60), ("search", "token"): (29, 30)}, "budgets")
        for one in shown:
            at = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(reset))
            near = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(reset + 2))
            hold(one["resets"][:16] in (at, near), "when it is whole again", seen=one)
            hold(one["service"].startswith("http://127.0.0.1:"), "whose it is", seen=one)
    text = case.start("state", "show").wait().exits(0).out.decode()
    hold("58 of 60 left" in text and "29 of 30 left" in text, "in words", seen=text)
    state = b"".join(path.read_bytes() for path in (case.folder / "var").iterdir() if path.is_file())
    hold(b"very-secret" not in state, "the state folder holds no token")
    case.start("state", "reset", "--yes").wait().exits(0)
    same(json.loads(case.start("state", "show", "--format", "json").wait().out)["budgets"], [], "budgets after a reset")
