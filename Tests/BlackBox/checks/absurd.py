"""Headers, numbers, dates and names that no service should send, and texts damaged at random: nothing crashes, nothing is lost."""

import json
import random
import re
import time

from support.case import SOON
from support.jsontext import minified
from support.registry import check
from support.upstream import Answer
from support.verdict import hold, same

NUMBERS = [
    "0",
    "-1",
    "-99999999999999999999",
    "99999999999999999999",
    "9223372036854775807",
    "9223372036854775808",
    "1e400",
    "NaN",
    "0x10",
    "1.5",
    "",
    " ",
    "60 60",
    "٣",
    "2147483648",
    "Infinity",
    "12,13",
]
DATES = [
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 31 Dec 99999 23:59:59 GMT",
    "Mon, 32 Foo 2026 25:61:61 GMT",
    "yesterday",
    "",
    "0",
    "Sun, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Tue, 29 Feb 2025 00:00:00 GMT",
]


def page(*numbers):
    return (
        "["
        + ",".join(
            f'{{"id":"{n}","type":"WatchEvent","repo":{{"name":"a/b"}},"created_at":"2026-01-01T00:00:00Z"}}'
            for n in numbers
        )
        + "]"
    )


def headers():
    for text in NUMBERS:
        for name in (
            "X-Poll-Interval",
            "Retry-After",
            "X-RateLimit-Reset",
            "X-RateLimit-Remaining",
            "X-RateLimit-Limit",
            "Age",
        ):
            yield {name: text.encode("utf-8").decode("latin-1")}
        yield {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": text.encode("utf-8").decode("latin-1")}
    for text in DATES:
        yield {"Date": text}
        yield {"Last-Modified": text}
        yield {"Date": text, "X-RateLimit-Remaining": "5", "X-RateLimit-Reset": str(int(time.time()) + 2)}
    yield {"ETag": ""}
    yield {"ETag": "W/"}
    yield {"ETag": '"' + "e" * 20_000 + '"'}
    yield {"ETag": "no quotes, and a comma"}
    yield {"Content-Type": "text/plain; charset=utf-16"}
    for link in (
        "",
        "<",
        "<>",
        "<>; rel=next",
        '<http://[::1>; rel="next"',
        '; rel="next"',
        '<javascript:alert(1)>; rel="next"',
        '<\\\\x>; rel="next"',
        '<http://user:pw@127.0.0.1:1/x>; rel="next"',
        "<" + "x" * 60_000 + '>; rel="last"',
        '<a>; rel="next' * 2000,
    ):
        yield {"Link": link}


@check
def headers_of_a_good_answer(case):
    """Some 180 absurd values of headers, each in an answer of its own that is good: every event comes, none twice."""
    sources = {}
    for number, some in enumerate(headers()):
        up = case.upstream()
        up.on("/repos/a/b/events", Answer(page(2, 1), headers=some))
        sources[f"h{number}"] = case.source("GitHubEvents", up, repo="a/b")
    case.config(sources)
    run = case.once(code=None, most=60)
    count = {node: 0 for node in sources}
    for one in case.events():
        count[one.node] += 1
    for number, some in enumerate(headers()):
        if "Link" in some and count[f"h{number}"] == 0:
            run.one_error(
                f"h{number}", sources[f"h{number}"]["with"]["base_url"]
            )  # the page it leads to cannot be had: said, not lost
            count[f"h{number}"] = 2
    wrong = {str(some)[:80]: count[f"h{number}"] for number, some in enumerate(headers()) if count[f"h{number}"] != 2}
    same(wrong, {}, "headers with which not both events came")
    before = len(case.events())
    case.once(code=None, most=60)
    same(len(case.events()), before, "events after a second run")


@check
def headers_of_a_wait(case):
    """Absurd waits in 429, 403 and 503: none crashes, none ends the wait of another, and a stop ends them all at once."""
    services, sources = [], {}
    for status in (429, 403, 503):
        for text in NUMBERS + DATES[:4]:
            for some in ({"Retry-After": text}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": text}):
                up = case.upstream()
                up.on(
                    "/repos/a/b/events",
                    Answer(
                        '{"message":"wait"}', status, {k: v.encode("utf-8").decode("latin-1") for k, v in some.items()}
                    ),
                )
                services.append(up)
                sources[f"w{len(services)}"] = case.source("GitHubEvents", up, repo="a/b")
    case.config(sources)
    run = case.start("run", "--config", "config.json")
    case.until(lambda: all(one.asked for one in services), "a request of each", most=40, run=run)
    time.sleep(0.3)
    began = time.monotonic()
    run.stop().exits(0)
    hold(
        time.monotonic() - began < 4,
        "a stop ends all waits at once",
        seen=f"{time.monotonic() - began:.1f} s: {run.tail}",
    )
    long = [
        one
        for one in run.records
        if re.search(r"waits (\d+) ?(s|m|h)", one.line) and re.search(r"waits \d{5,} ?s", one.line)
    ]
    same(long, [], "waits beyond an hour")


WHEN = [
    "9999-12-31T23:59:59Z",
    "10000-01-01T00:00:00Z",
    "99999999999-01-01T00:00:00Z",
    "0000-00-00T00:00:00Z",
    "-0001-01-01T00:00:00Z",
    "2026-13-45T99:99:99Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00.999999999999999999999Z",
    "2026-01-01T00:00:00+99:99",
    "2026-01-01T23:59:60Z",
    "2026-01-01",
    "",
    "٢٠٢٦",
    "1e400",
    "2026-01-01T00:00:00Z\n",
]
ODD = [None, 0, -1, 1.5, 10**30, True, [], {}, "", "x" * 100_000, "\u0000", "\ud800", "../..", "a/b?c=d#e", "é/ü"]


@check
def dates_and_ids(case):
    """Dates that are none and ids of all kinds in lists of events: the others beside them come, each line is as it must be."""
    github = [
        json.dumps({"id": f"d{n}", "type": "PushEvent", "repo": {"name": "a/b"}, "created_at": text})
        for n, text in enumerate(WHEN)
    ]
    github += [
        json.dumps(
            {
                "id": value,
                "type": value,
                "repo": {"name": value},
                "actor": {"login": value},
                "payload": value,
                "created_at": value,
            }
        )
        for value in ODD
    ]
    github.append('{"id": 1E400, "type": "T"}')
    earth = [
        json.dumps(
            {
                "id": f"EONET_{n}",
                "title": "x",
                "closed": text,
                "categories": [{"id": text, "title": text}],
                "geometry": [{"date": text, "type": "Point", "coordinates": [0, 0]}, {"date": "2026-01-01T00:00:00Z"}],
            }
        )
        for n, text in enumerate(WHEN)
    ]
    earth += [
        json.dumps(
            {
                "id": value,
                "title": value,
                "closed": value,
                "categories": [value, {"id": value, "title": value}],
                "geometry": [value, {"date": value}],
            }
        )
        for value in ODD
    ]
    categories = [json.dumps({"id": value, "title": value}) for value in ODD]
    found = [json.dumps({"id": n, "full_name": value}) for n, value in enumerate(ODD)] + [
        json.dumps({"id": value, "full_name": "c/d"}) for value in ODD
    ]
    up = case.upstream()
    good = '{"id":"good","type":"PushEvent","repo":{"name":"a/b"},"created_at":"2026-01-01T00:00:00Z"}'
    up.on("/repos/a/b/events", "[" + ",".join([*github, good]) + "]").on(
        "/repos/c/d/events", "[" + ",".join(github) + "]"
    )
    up.on("/categories", '{"categories":[' + ",".join([*categories, '{"id":"wildfires","title":"Wildfires"}']) + "]}")
    up.on("/events", '{"events":[' + ",".join([*earth, '{"id":"EONET_good","categories":[],"geometry":[]}']) + "]}")
    up.on("/search/repositories", '{"items":[' + ",".join([*found, '{"id":77,"full_name":"c/d"}']) + "]}")
    jokes = {}
    for number, value in enumerate(ODD):
        up.on(f"/{number}/jokes/random", json.dumps({"id": value, "value": "ha", "categories": value}))
        jokes[f"j{number}"] = case.source("Jokes", f"{up.url}/{number}")
    sources = {
        "gh": case.source("GitHubEvents", up, repo="a/b", per_page=100),
        "top": case.source("TrendingRepos", up, limit=100, events_per_repo=100),
        "earth": case.source("EONET", up, status="open"),
        "fires": case.source("EONET", up, status="open", by="category"),
        **jokes,
    }
    sinks = {
        "log": {"plugin": "JSONLines", "from": list(sources), "with": {"path": "out.jsonl"}},
        "screen": {"plugin": "Console", "from": list(sources)},
    }
    case.config(sources, sinks=sinks)
    run = case.once(code=None, most=60)
    events = case.events()
    same(len(run.out.decode().split("\n")) - 1, len(events), "lines on the console, one an event")
    for node, name in (("gh", "good"), ("earth", "EONET_good@"), ("fires", "EONET_good@"), ("top", "77")):
        hold(
            any(one.node == node and one.id.startswith(name) for one in events),
            f"the good one of {node} is there",
            seen=run.tail,
        )
    same(
        [one.data for one in events if one.node == "gh" and one.id.startswith("d")],
        [minified(one) for one in github[: len(WHEN)]][::-1],
        "events with odd dates",
    )
    strange = [one for one in up.targets() if re.search(r"\.\.|[^\x21-\x7e]", one)]
    same(strange, [], "requests with what a service should not lead us to")
    count = len(events)
    case.once(code=None, most=60)
    same(len(case.events()), count, "events after a second run")


@check
def damaged_at_random(case):
    """A good answer with bytes changed, cut out or put twice, 150 times over: no crash, and each line that comes is a whole event."""
    dice = random.Random(20261130)
    github = page(*range(5, 0, -1)).encode()
    earth = (
        b'{"title":"x","events":['
        + b",".join(
            b'{"id":"EONET_%d","title":"T","closed":null,"categories":[{"id":"a","title":"A"}],"geometry":[{"date":"2026-01-01T00:00:00Z","coordinates":[1.5,-2e3]}]}'
            % n
            for n in range(4)
        )
        + b"]}"
    )
    joke = '{"id":"a-1","value":"ha \\"é😀\\u00e9 ha","categories":["dev"],"type":"single"}'.encode()
    search = (
        b'{"total_count":2,"incomplete_results":false,"items":[{"id":1,"full_name":"a/b"},{"id":2,"full_name":"c/d"}]}'
    )

    def damaged(text):
        text = bytearray(text)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(text))
            kind = dice.random()
            if kind < 0.5:
                text[at] = dice.choice([dice.randrange(256), *b'"\\{}[],:0-.eE\x00\xff'])
            elif kind < 0.75:
                del text[at : at + dice.randint(1, 30)]
            else:
                text[at:at] = text[at : at + dice.randint(1, 30)]
        return bytes(text)

    up = case.upstream()
    up_sources = {}
    plans = (
        ("GitHubEvents", "/repos/a/b/events", github, {"repo": "a/b"}),
        ("EONET", "/events", earth, {"status": "open"}),
        ("Jokes", "/jokes/random", joke, {}),
        ("TrendingRepos", "/search/repositories", search, {"events_per_repo": 0}),
    )
    for number in range(150):
        plugin, path, text, options = plans[number % len(plans)]
        up.on(f"/{number}{path}", damaged(text))
        up.on(f"/{number}/categories", '{"categories":[{"id":"a","title":"B"}]}')
        up_sources[f"n{number}"] = case.source(plugin, f"{up.url}/{number}", {**SOON, "attempts": 1}, **options)
    case.config(up_sources)
    run = case.once(code=None, most=60)
    hold(run.code in (0, 1), "the exit", seen=f"{run.code}: {run.tail}")
    count = len(case.events())
    hold(count > 100, "some come through", seen=count)
    case.once(code=None, most=60)
    same(len(case.events()), count, "events after a second run on the same answers")
