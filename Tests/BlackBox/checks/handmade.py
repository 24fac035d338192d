"""Answers made by hand: what no recording shows."""

import json
import random
import time

from support.jsontext import minified
from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import hold, same


def event(number, **more):
    one = {
        "id": str(number),
        "type": "WatchEvent",
        "actor": {"login": "x"},
        "repo": {"id": 1, "name": "a/b"},
        "payload": {"action": "started"},
        "public": True,
        "created_at": "2026-01-01T00:00:00Z",
        **more,
    }
    return json.dumps({key: value for key, value in one.items() if value is not ...})


def page(*texts):
    return "[" + ", ".join(texts) + "]"


def ids(case, **more):
    return [one.id for one in case.events(**more)]


@check
def odd_events_pass(case):
    """An empty repo, none at all, an empty payload, an unknown type, no type, no actor, odd dates: each passes as it is."""
    odd = {
        "empty repo": event(1, type="ForkEvent", repo={}),
        "no repo": event(2, repo=...),
        "no payload": event(3, payload=...),
        "empty payload": event(4, type="PublicEvent", payload={}),
        "unknown type": event(5, type="QuantumEvent"),
        "no type": event(6, type=...),
        "no actor": event(7, actor=...),
        "null actor": event(8, actor=None),
        "no date": event(9, created_at=...),
        "null date": event(10, created_at=None),
        "odd date": event(11, created_at="yesterday"),
        "old date": event(12, created_at="2011-02-12T00:00:00Z"),
        "number id": event(13, id=13),
        "fraction": event(14, created_at="2026-01-01T00:00:00.001Z"),
        "offset": event(15, created_at="2026-01-01T01:00:00+01:00"),
        "an array as repo": event(16, repo=[]),
        "long": event(17, payload={"x": "y" * 300_000}),
    }
    up = case.upstream()
    up.on("/repos/a/b/events", page(*reversed(odd.values())))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", per_page=100)})
    case.once()
    events = case.events()
    same([one.data for one in events], [minified(one) for one in odd.values()], "the events")
    same([one.id for one in events], [str(number) for number in range(1, 18)], "ids are texts")
    by_name = dict(zip(odd, events))
    for name in ("no date", "null date", "odd date"):
        same(by_name[name].time, None, f"the time of {name}")
    for name in ("empty repo", "no repo", "an array as repo"):
        same(by_name[name].subject, None, f"the subject of {name}")
    same(by_name["unknown type"].type, "com.github.event.QuantumEvent", "a type that nobody knows")
    case.once()
    same(len(case.events()), len(odd), "events after a second run")
    # The console shows each of them, on one line.
    case.config(
        {"gh": case.source("GitHubEvents", up, repo="a/b", per_page=100)},
        sinks={"screen": {"plugin": "Console", "from": ["gh"]}},
        feedbus={"state": "other"},
    )
    same(len(case.once().out.decode().splitlines()), len(odd), "lines on the console")


@check
def pages_that_move(case):
    """New events push old ones to the next page while it is read: each comes once; and nothing is lost between two polls."""
    up = case.upstream()
    timeline = [event(number) for number in range(1, 41)]

    def answer(asked):
        # With each request three more have happened.
        shown = min(len(timeline), 10 + 3 * (len(up.asked) - 1))
        newest = timeline[:shown][::-1]
        number = int(asked.query.get("page", 1))
        link = (
            {"Link": f'<{up.url}/repositories/1/events?per_page=5&page={number + 1}>; rel="next"'}
            if number * 5 < shown
            else {}
        )
        return Answer(page(*newest[(number - 1) * 5 : number * 5]), headers=link)

    up.on("/repos/a/b/events", answer).on("/repositories/1/events", answer)
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", per_page=5)})
    for _ in range(8):
        case.once()
    same(sorted(ids(case), key=int), [str(number) for number in range(1, 41)], "all events, each once")


@check
def events_that_come_late(case):
    """Events with lower ids and older dates appear between known ones: they are new."""
    up = case.upstream()
    known = [event(number, created_at=f"2026-01-01T00:00:{number:02}Z") for number in (30, 20, 10)]
    up.on("/repos/a/b/events", page(*known))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b")})
    case.once()
    late = [
        event(25, created_at="2024-01-01T00:00:00Z"),
        event("00000005"),
        event("abc", created_at="2011-01-01T00:00:00Z"),
    ]
    up.on("/repos/a/b/events", page(known[0], late[0], known[1], late[1], known[2], late[2]))
    case.once()
    same(ids(case), ["10", "20", "30", "abc", "00000005", "25"], "the events, oldest first in the service's order")


@check
def an_id_is_a_text(case):
    """Ids that are one number but two texts are two events."""
    up = case.upstream()
    up.on("/repos/a/b/events", page(event("007"), event("7"), event("7.0"), event("1e3"), event("1000")))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b")})
    case.once()
    same(ids(case), ["1000", "1e3", "7.0", "7", "007"], "the events")


TEXTS = {
    "line ends of Unicode": '"a\u2028b\u2029c\u0085d"',
    "control characters, escaped": r'"\u0000\u0001\u001b[31m\u007f\b\f\n\r\t"',
    "lone surrogates": r'["\ud800", "\udc00x", "\ud83d\ude00"]',
    "escapes of any kind": r'"\/\"\\\u0041\u00e9é😀"',
    "numbers": "[1.0, 1.000000000000000000005, -0, -0.0, 1E400, 1e-999, 0.1e+5, 123456789012345678901234567890, 35.00]",
    "repeated keys": '{"a": 1, "a": 2, "A": 3, "": 4}',
    "blanks everywhere": '{ "a" :\t[ 1 ,\r\n 2 ] , "b" : { } , "c" : [ ] , " d " : " e " }',
    "deep": "[" * 900 + "]" * 900,
}


@check
def texts_pass_unchanged(case):
    """Escapes, numbers of any length, repeated keys, line ends of Unicode: only the blanks between tokens go."""
    up = case.upstream()
    texts = [
        f'{{"id": "{number}", "type": "PushEvent", "repo": {{"name": "a/b"}}, "payload": {text}}}'
        for number, text in enumerate(TEXTS.values())
    ]
    up.on("/repos/a/b/events", page(*texts[::-1]))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b")})
    case.once()
    same([one.data for one in case.events()], [minified(one) for one in texts], "the events")


@check
def the_console_is_safe(case):
    """Escape sequences and line breaks in what a service sends do not reach the terminal."""
    up = case.upstream()
    value = "one\u001b[2J\u001b]0;title\u0007two\r\nthree\u009b31m\u202efour\x7f"
    up.on("/jokes/random", json.dumps({"id": "a\u001b[31m", "value": value, "categories": []}))
    for form in ("line", "json", "pretty"):
        case.config(
            {"jokes": case.source("Jokes", up)},
            feedbus={"state": f"state-{form}"},
            sinks={"screen": {"plugin": "Console", "from": ["jokes"], "with": {"format": form}}},
        )
        out = case.once().out.decode()
        raw = [one for one in out if (ord(one) < 32 and one != "\n") or 127 <= ord(one) < 160]
        same(raw, [], f"control characters of the console, format {form}")
        hold("one" in out and "four" in out, "the text is there", seen=out)
        if form == "line":
            same(len(out.splitlines()), 1, "lines")


@check_each(
    {
        "gzip": {"coding": "gzip"},
        "chunked": {"framing": "chunked"},
        "gzip in chunks": {"coding": "gzip", "framing": "chunked"},
        "ended by the connection": {"framing": "close"},
    },
    recordings=False,
)
def ways_to_send(case, name, way):
    """The same answer, however it is sent."""
    up = case.upstream()
    texts = [event(number, payload={"text": "é" * number}) for number in range(200, 0, -1)]
    up.on("/repos/a/b/events", Answer(page(*texts), **way))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", per_page=100)})
    case.once()
    same([one.data for one in case.events()], [minified(one) for one in texts[::-1]], "the events")


@check
def history_and_types(case):
    """`history` bounds the very first poll only; `types` leaves the others out."""
    up = case.upstream()
    old = [event(number, type="PushEvent" if number % 2 else "WatchEvent") for number in range(6, 0, -1)]
    up.on("/repos/a/b/events", page(*old))
    sources = {
        "all": case.source("GitHubEvents", up, repo="a/b"),
        "none": case.source("GitHubEvents", up, repo="a/b", history="none"),
        "two": case.source("GitHubEvents", up, repo="a/b", history=2),
        "push": case.source("GitHubEvents", up, repo="a/b", types=["PushEvent"]),
    }
    case.config(sources)
    case.once()
    expected = {"all": ["1", "2", "3", "4", "5", "6"], "none": [], "two": ["5", "6"], "push": ["1", "3", "5"]}
    for node, some in expected.items():
        same(ids(case, node=node), some, f"the first poll of {node}")
    up.on("/repos/a/b/events", page(event(7, type="PushEvent"), *old))
    case.once()
    for node, some in expected.items():
        same(ids(case, node=node), [*some, "7"], f"two polls of {node}")


def fire(number, dates, closed=None, title="Fire"):
    return json.dumps(
        {
            "id": f"EONET_{number}",
            "title": title,
            "closed": closed,
            "categories": [{"id": "wildfires", "title": "Old name"}],
            "geometry": [{"date": one, "type": "Point", "coordinates": [1.50, -2.0]} for one in dates],
        }
    )


@check
def an_event_that_is_closed(case):
    """It moves from the open list to the closed one: one update with another revision; an unchanged one is not repeated."""
    up = case.upstream()
    category = '{"id":"wildfires","title":"Wildfires"}'
    up.on("/categories", f'{{"categories":[{category}]}}')
    up.on(
        "/events?status=open", f'{{"events":[{fire(1, ["2026-01-01T00:00:00Z"])},{fire(2, ["2026-01-02T00:00:00Z"])}]}}'
    )
    up.on("/events?status=closed", '{"events":[]}')
    case.config({"earth": case.source("EONET", up)})
    case.once()
    first = case.events()
    same(
        [one.data for one in first[1:]],
        [minified(fire(n, [f"2026-01-0{n}T00:00:00Z"])).replace("Old name", "Wildfires") for n in (2, 1)],
        "the events",
    )
    up.on("/events?status=open", f'{{"events":[{fire(2, ["2026-01-02T00:00:00Z"])}]}}')
    closed = fire(1, ["2026-01-01T00:00:00Z"], closed="2026-02-01T00:00:00Z")
    up.on("/events?status=closed", f'{{"events":[{closed}]}}')
    case.once()
    more = case.events()[len(first) :]
    same([one.data for one in more], [minified(closed).replace("Old name", "Wildfires")], "the update")
    hold(
        more[0].id.startswith("EONET_1@") and more[0].id not in [one.id for one in first],
        "another revision",
        seen=more[0].id,
    )
    # A renamed category is news by itself, the events are not.
    up.on("/categories", '{"categories":[{"id":"wildfires","title":"Fires"}]}')
    case.once()
    same(
        [one.data for one in case.events()[len(first) + 1 :]],
        ['{"id":"wildfires","title":"Fires"}'],
        "after the category was renamed",
    )


@check
def as_many_jokes_as_wanted(case):
    """`count` jokes, repeats not counted; then the source is complete and asks no more."""
    up = case.upstream()
    names = iter("aabbcdefgh")
    up.on("/jokes/random", lambda asked: json.dumps({"id": next(names, "z"), "value": "ha", "categories": []}))
    case.config({"jokes": case.source("Jokes", up, every="1s", count=3)})
    run = case.start("run", "--config", "config.json")
    case.until(lambda: len(case.lines()) >= 3, "three jokes", run=run)
    asked = len(up.asked)
    same(asked, 5, "requests: one told twice, a and b")
    time.sleep(1.5)
    same(len(up.asked), asked, "requests after the last joke")
    run.stop().exits(0)
    same(ids(case), ["a", "b", "c"], "the jokes")


@check
def one_bad_source_among_good_ones(case):
    """A source that fails does not keep the others from delivering; the exit is 1, and the log names it alone."""
    up = case.upstream()
    up.on("/repos/a/b/events", page(event(1))).on("/jokes/random", '{"id":"j","value":"ha","categories":[]}')
    up.on("/repos/c/d/events", Answer('{"message":"Not Found","status":"404"}', 404))
    case.config(
        {
            "good": case.source("GitHubEvents", up, repo="a/b"),
            "bad": case.source("GitHubEvents", up, repo="c/d"),
            "jokes": case.source("Jokes", up),
        }
    )
    run = case.once(code=1)
    same(sorted(one.node for one in case.events()), ["good", "jokes"], "who delivered")
    run.one_error("bad", f"{up.url}/repos/c/d/events", "Not Found")
    same({one.node for one in run.records if one.level == "error" and one.node}, {"bad"}, "who is named")


@check
def killed_at_any_moment(case):
    """kill -9 in the middle of a run, again and again: in the end every event is there, and every line is whole."""
    up = case.upstream()
    texts = [event(number, payload={"text": "x" * 2000}) for number in range(600, 0, -1)]

    def answer(asked):
        number = int(asked.query.get("page", 1))
        link = {"Link": f'<{up.url}/repos/a/b/events?per_page=100&page={number + 1}>; rel="next"'} if number < 6 else {}
        return Answer(page(*texts[(number - 1) * 100 : number * 100]), headers=link)

    up.on("/repos/a/b/events", answer)
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", per_page=100)})
    dice = random.Random(7)
    for _ in range(8):
        run = case.start("run", "--config", "config.json", "--once")
        end = time.monotonic() + dice.uniform(0.02, 0.25)
        while run.running and time.monotonic() < end:
            time.sleep(0.002)
        run.kill()
    case.once(most=40)
    found = ids(case, repeats=True)
    same(sorted(set(found), key=int), [str(number) for number in range(1, 601)], "all events")
    before = len(found)
    case.once()
    same(len(case.lines()), before, "lines after one more run")
