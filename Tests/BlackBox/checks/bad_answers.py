"""Bad input: answers that are nonsense, cut off, too large, or lead astray.

Each gives one clear error that names the node and its URL, and nothing that came in before is lost.
"""

import gzip
import json
import re
import zlib

from support.feeds import event, page
from support.jsontext import minified
from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import hold, same

HTML = "<!DOCTYPE html>\n<html><head><title>Unicorn!</title></head><body><h1>Whoa there!</h1></body></html>\n"
MAX_BODY = 1 << 20


def forever():
    """More than any client should want: it ends only with the connection, or at 200 MB."""
    piece = b" " * 65536
    yield b'["'
    for _ in range(200 * 16):
        yield piece
    yield b'"]'


def bomb(size):
    """`size` blanks behind a bracket, packed small; twice where a service would unpack by itself."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = b" " * (1 << 20)
    packed = pack.compress(b"[") + b"".join(pack.compress(piece) for _ in range(size >> 20)) + pack.compress(b"]")
    return packed + pack.flush()


_bomb = bomb(300 << 20)
GZIP = {"Content-Encoding": "gzip"}


def odd_answer(text):
    """Answers that are not what was asked for, whichever service: name -> (answer, what the error says)."""
    packed = gzip.compress(text.encode())
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(text.encode())}\r\n"
    return {
        "html": (Answer(HTML, media="text/html"), ""),
        "html-as-json": (Answer(HTML), ""),
        "empty": (Answer(""), ""),
        "blanks": (Answer(" \n"), ""),
        "null": (Answer("null"), ""),
        "a-number": (Answer("12"), ""),
        "a-text": (Answer('"Ratelimited"'), ""),
        "cut-json": (Answer(text[: len(text) // 2]), ""),
        "cut-body": (Answer(text, cut=len(text) // 2), ""),
        "cut-chunks": (Answer(text, framing="chunked", cut=len(text) // 2), ""),
        "promise-more": (Answer(text, promise=len(text) + 500), ""),
        "more-after": (Answer(text + "]"), ""),
        "two-values": (Answer(text + text), ""),
        "nan": (Answer("[NaN]"), ""),
        "comment": (Answer("// hello\n" + text), ""),
        "bom-utf16": (Answer(text.encode("utf-16")), ""),
        "latin1-blob": (Answer(bytes(range(256))), ""),
        "deep": (Answer("[" * 100_000), ""),
        "deep-closed": (Answer('{"x":' + "[" * 2000 + "]" * 2000 + "}"), ""),
        "not-gzip": (Answer(text, headers=GZIP), ""),
        "cut-gzip": (Answer(packed[:-12], headers=GZIP), ""),
        "unknown-coding": (Answer(text, headers={"Content-Encoding": "x-secret"}), ""),
        "204": (Answer("", 204), ""),
        "304-unasked": (Answer("", 304), ""),
        "no-http": (Answer(raw=b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), ""),
        "half-a-head": (Answer(raw=head.encode()), ""),
        "bad-status": (Answer(raw=b"HTTP/1.1 9999 What\r\n\r\n"), ""),
        "huge-head": (Answer(raw=(head + "X-Filler: " + "y" * 2_000_000 + "\r\n\r\n" + text).encode()), ""),
        "endless-redirect": (lambda asked: Answer("", 302, {"Location": asked.target}), "redirect"),
        "redirect-to-file": (Answer("", 302, {"Location": "file:///etc/passwd"}), ""),
        "redirect-to-nowhere": (Answer("", 301), ""),
        "teapot": (Answer('{"message":"short and stout"}', 418), "short and stout"),
        "404-html": (Answer(HTML, 404, media="text/html"), "404"),
        "401": (
            Answer('{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest"}', 401),
            "Bad credentials",
        ),
        "410": (Answer('{"message":"Gone for good"}', 410), "Gone for good"),
        "500": (Answer('{"message":"Server Error"}', 500), "500"),
        "502-html": (Answer(HTML, 502, media="text/html"), "502"),
        "wrong-shape": (Answer('{"message":"Hello","items":{},"events":{},"categories":{},"value":7}'), ""),
        "wrong-list": (Answer('{"items":null,"events":null,"categories":null,"error":[]}'), ""),
        "slow": (Answer(text, after=20), ""),
    }


GOOD_JOKE = '{"id":"%s","value":"Ha","categories":[]}'


def github_like(case, up, name):
    up.on("/repos/a/b/events", page(2))
    return case.source("GitHubEvents", up, repo="a/b", timeout="1s")


def search_like(case, up, name):
    up.on("/search/repositories", '{"total_count":1,"incomplete_results":false,"items":[{"id":1,"full_name":"a/b"}]}')
    return case.source("TrendingRepos", up, events_per_repo=0, timeout="1s")


def eonet_like(case, up, name):
    up.on("/categories", '{"categories":[]}')
    up.on(
        "/events",
        '{"events":[{"id":"EONET_1","title":"Fire","categories":[],"geometry":[{"date":"2026-01-01T00:00:00Z"}]}]}',
    )
    return case.source("EONET", up, status="open", timeout="1s")


def jokes_like(case, up, name):
    up.on("/jokes/random", GOOD_JOKE % "one")
    return case.source("Jokes", up, timeout="1s")


# Plugin: its source, the path whose answer goes wrong, a good answer with one thing more, and how many come of the two.
PLUGINS = {
    "GitHubEvents": (github_like, "/repos/a/b/events", page(3), 2, 1),
    "TrendingRepos": (
        search_like,
        "/search/repositories",
        '{"total_count":2,"incomplete_results":false,"items":[{"id":1,"full_name":"a/b"},{"id":2,"full_name":"c/d"}]}',
        1,
        1,
    ),
    "EONET": (
        eonet_like,
        "/events",
        '{"events":[{"id":"EONET_2","title":"Ice","categories":[],"geometry":[{"date":"2026-01-02T00:00:00Z"}]},'
        '{"id":"EONET_1","title":"Fire","categories":[],"geometry":[{"date":"2026-01-01T00:00:00Z"}]}]}',
        1,
        1,
    ),
    "Jokes": (jokes_like, "/jokes/random", GOOD_JOKE % "two", 1, 1),
}


@check_each(PLUGINS, recordings=False)
def answers_that_are_nonsense(case, plugin, row):
    """40 kinds of bad answer, each to a node of its own, after a good poll: one clear error with node and URL; what the
    good poll brought stays and does not come again; the next good poll brings what is new."""
    make, path, better, before, after = row
    answers = odd_answer(better)
    services, sources = {}, {}
    for name in answers:
        node = f"n-{name}"
        services[node] = case.upstream()
        sources[node] = make(case, services[node], name)
    case.config(sources)
    case.once(most=60)
    same(len(case.events()), before * len(sources), "events of a good poll")
    for name, (answer, _) in answers.items():
        up = services[f"n-{name}"]
        up.asked.clear()
        up.on(path, answer)
    run = case.once(code=0 if plugin == "Jokes" else 1, most=60)
    same(len(case.events()), before * len(sources), "events after a poll of nonsense")
    for name, (_, words) in answers.items():
        node, up = f"n-{name}", services[f"n-{name}"]
        url = up.url + path
        if plugin == "Jokes":
            said = [
                one
                for one in run.told(rf"\b{node}\b", re.escape(url))
                if one.level in ("warning", "error") and one.node == node
            ]
            hold(
                len(said) == 1,
                f"one line that names {node} and its URL",
                expected=url,
                seen=said or run.told(rf"\b{node}\b"),
            )
        else:
            said = [run.one_error(node, url)]
        hold(words in said[0].line, f"what {node} says", expected=words, seen=said[0])
        hold(len(said[0].line) < 700, f"what {node} says is no flood", seen=f"{len(said[0].line)} characters")
        hold(
            not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said[0].line),
            f"what {node} says has no control characters",
            seen=repr(said[0].line),
        )
        if re.fullmatch(r"401|404.*|410|teapot", name):
            same(
                len([one for one in up.asked if one.path == path]),
                1,
                f"requests of {node}: such an error is not tried again",
            )
    for node, up in services.items():
        up.on(path, better)
    case.once(most=60)
    per_node = {node: 0 for node in services}
    for one in case.events():
        per_node[one.node] += 1
    wrong = {node: count for node, count in per_node.items() if count != before + after}
    same(wrong, {}, f"nodes that have not {before + after} events after the next good poll")


@check_each(
    {
        "GitHubEvents": '[{"type":"WatchEvent"},7,null,"x",[],{"id":{}},{"id":"3","type":"WatchEvent"},{"id":""}]',
        "TrendingRepos": '{"total_count":3,"incomplete_results":false,"items":[null,{"id":3},{"full_name":"x/y"},[],{"id":2,"full_name":"c/d"},'
        '{"id":9,"full_name":"../../etc"}]}',
        "EONET": '{"events":[{},7,null,[],"x",{"id":null},{"id":"EONET_2","title":"Ice","geometry":7,"categories":"x"}]}',
    },
    recordings=False,
)
def a_list_with_some_nonsense(case, plugin, body):
    """Elements that are no objects or have no id cost only themselves: they are counted by node, the good one comes."""
    make, path, _, before, _ = PLUGINS[plugin]
    up = case.upstream()
    case.config({"node": make(case, up, "x")})
    case.once()
    up.on(path, body)
    run = case.once(code=None)
    same(len(case.events()), before + 1, "events")
    hold(run.told(r"\bnode\b", r"\b[5-7]\b", level="warning"), "the log counts what was left out", seen=run.tail)


@check_each(
    {
        "GitHubEvents": '[{"message":"moved"},{"message":"moved"}]',
        "TrendingRepos": '{"total_count":2,"incomplete_results":false,"items":[{"message":"moved"},{"message":"moved"}]}',
        "EONET": '{"events":[{"message":"moved"}]}',
    },
    recordings=False,
)
def a_list_with_only_nonsense(case, plugin, body):
    """Elements of which none can be used: not the documented shape. The next good poll brings what is new, and repeats nothing."""
    make, path, better, before, after = PLUGINS[plugin]
    up = case.upstream()
    case.config({"node": make(case, up, "x")})
    case.once()
    up.on(path, body)
    run = case.once(code=None)
    hold(run.told(r"\bnode\b"), "the log says so", seen=run.tail)
    same(len(case.events()), before, "events of nonsense")
    up.on(path, better)
    case.once()
    same(len(case.lines()), before + after, "lines after the next good poll: what is new, and nothing again")


HUGE = {
    "200 MB in chunks": lambda: Answer(forever),
    "200 MB promised": lambda: Answer("[", promise=200_000_000),
    "a gzip bomb of 300 MB": lambda: Answer(_bomb, headers=GZIP),
    "a gzip bomb in chunks": lambda: Answer(_bomb, headers=GZIP, framing="chunked"),
    "a bomb in a bomb": lambda: Answer(gzip.compress(_bomb), headers={"Content-Encoding": "gzip, gzip"}),
    "a little too much": lambda: Answer("[" + " " * MAX_BODY + "]"),
}


@check_each(HUGE, recordings=False)
def an_answer_that_is_too_large(case, name, make):
    """`max_body` counts unpacked bytes: one error with node, URL and the limit, the memory stays small; the next poll is fine."""
    up = case.upstream()
    up.on("/repos/a/b/events", page(2))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", max_body="1MiB", timeout="10s")})
    case.once()
    up.on("/repos/a/b/events", make())
    run = case.once(code=1)
    run.one_error("gh", f"{up.url}/repos/a/b/events", *(() if name == "200 MB promised" else ("max_body",)))
    hold(run.peak < 80 << 20, "memory", expected="less than 80 MB", seen=f"{run.peak >> 20} MB")
    hold(
        all(one.sent < 20 << 20 for one in up.requests()),
        "the transfer is broken off",
        seen=[one.sent for one in up.requests()],
    )
    up.on("/repos/a/b/events", page(3))
    case.once()
    same([one.id for one in case.events()], ["1", "2", "3"], "the events after the next good poll")


@check
def an_answer_just_small_enough(case):
    """Exactly `max_body` bytes are taken; packed as well."""
    body = page(2)
    body += " " * (MAX_BODY - len(body))
    for number, coding in enumerate((None, "gzip")):
        up = case.upstream()
        up.on("/repos/a/b/events", Answer(body, coding=coding))
        case.config({f"gh{number}": case.source("GitHubEvents", up, repo="a/b", max_body="1MiB")})
        case.once()
        same([one.id for one in case.events(node=f"gh{number}")], ["1", "2"], "the events")


@check
def nobody_answers(case):
    """A closed port, a host without address, a port that resets, one that keeps silent: one error with node and URL each."""
    mute, reset = case.mute(), case.mute(reset=True)
    closed = case.upstream()
    closed.close()
    hosts = {"closed": closed.url, "nameless": "http://no-such-host.invalid", "reset": reset.url, "mute": mute.url}
    case.config({node: case.source("GitHubEvents", url, repo="a/b", timeout="1s") for node, url in hosts.items()})
    run = case.once(code=1)
    for node, url in hosts.items():
        run.one_error(node, f"{url}/repos/a/b/events")
    same(case.lines(), [], "events")


@check
def invalid_utf8_in_an_event(case):
    """Bytes that are no UTF-8 are replaced and flagged; the other events stay as they are."""
    up = case.upstream()
    bad = event(2).encode().replace(b'"x"', b'"\xff\xc3(\xe2\x82"')
    up.on("/repos/a/b/events", b"[" + event(3).encode() + b"," + bad + b"," + event(1).encode() + b"]")
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b")})
    case.once()
    first, second, third = case.events()
    for one, number in ((first, 1), (third, 3)):
        same(one.data, minified(event(number)), "an event beside it")
    hold("\ufffd" in second.data, "invalid bytes are replaced", seen=second)
    same(json.loads(second.data)["payload"], {"action": "started"}, "the rest of the event")
    extra = set(second.all) - set(first.all)
    same(len(extra), 1, f"an attribute that flags it: {extra}")


@check
def a_good_page_before_a_bad_one(case):
    """The second page is nonsense: what the first brought is not lost, and nothing comes twice, whichever the poll decides."""
    up = case.upstream()
    up.on("/repos/a/b/events?per_page=2", Answer(page(2, 3), headers={"Link": f'<{up.url}/next?page=2>; rel="next"'}))
    up.on("/next?page=2", Answer(HTML))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", per_page=2)})
    run = case.once(code=None)
    hold(run.told(r"\bgh\b", re.escape(f"{up.url}/next?page=2")), "the log names the page", seen=run.tail)
    up.on("/next?page=2", page(2))
    case.once()
    same(sorted(one.id for one in case.events()), ["1", "2", "3", "4"], "all events, each once")


@check
def links_that_lead_astray(case):
    """A next page on another host is not followed, and the token stays here; a page that names itself is read once or ends."""
    up, other = case.upstream(), case.upstream()
    other.on("/repos/a/b/events", page(2))
    up.on(
        "/repos/a/b/events", Answer(page(2, 3), headers={"Link": f'<{other.url}/repos/a/b/events?page=2>; rel="next"'})
    )
    up.on(
        "/repos/c/d/events", lambda asked: Answer(page(2, 5), headers={"Link": f'<{up.url}{asked.target}>; rel="next"'})
    )
    token = {"secret": "env:TOKEN"}
    case.config(
        {
            "astray": case.source("GitHubEvents", up, repo="a/b", token=token),
            "loop": case.source("GitHubEvents", up, repo="c/d", token=token),
        }
    )
    run = case.once(env={"TOKEN": "ghp_very_secret"})
    same(other.targets(), [], "requests to the other host")
    hold(run.told(r"\bastray\b", re.escape(other.url)), "the log says that a link was not followed", seen=run.tail)
    hold("ghp_very_secret" not in run.err, "the token is not in the log")
    same({one.headers.get("Authorization") for one in up.requests()}, {"Bearer ghp_very_secret"}, "the token")
    hold(len(up.requests("/repos/c/d/events")) <= 10, "a loop ends", seen=len(up.requests("/repos/c/d/events")))
    same(sorted(one.id for one in case.events()), ["3", "4", "5", "6"], "the events, each once")


@check
def a_redirect_to_another_host_drops_the_token(case):
    """A moved repository on another host is read, without the credentials of the first."""
    up, other = case.upstream(), case.upstream()
    other.on("/moved", page(2))
    up.on("/repos/a/b/events", Answer('{"message":"Moved Permanently"}', 301, {"Location": f"{other.url}/moved"}))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", token={"secret": "env:TOKEN"})})
    case.once(env={"TOKEN": "ghp_very_secret"})
    same([one.id for one in case.events()], ["1", "2"], "the events")
    same([one.headers.get("Authorization") for one in other.requests()], [None], "credentials that the other host got")
