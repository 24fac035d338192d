"""Recordings that are none, outputs that are full or shut, a state folder in use; secrets in no file."""

import json
import os
import re

from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import Skip, hold, same

EVENT = '{"id":"1","type":"WatchEvent","repo":{"name":"a/b"},"created_at":"2026-01-01T00:00:00Z"}'
ENTRY = {
    "startedDateTime": "2026-01-01T00:00:00.000Z",
    "time": 1,
    "request": {
        "method": "GET",
        "url": "https://api.github.com/repos/a/b/events?per_page=30",
        "headers": [],
        "queryString": [],
    },
    "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": f"[{EVENT}]"}},
}


def har(*entries):
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": list(entries)}})


def without(entry, *path):
    copy = json.loads(json.dumps(entry))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return copy


NO_RECORDINGS = {
    "empty": "",
    "HTML": "<html></html>",
    "a list": "[]",
    "no log": "{}",
    "entries are text": '{"log":{"entries":"x"}}',
    "cut off": har(ENTRY)[:-40],
    "no request": har(without(ENTRY, "request")),
    "no response": har(without(ENTRY, "response")),
    "no status": har(without(ENTRY, "response", "status")),
    "status is text": har({**ENTRY, "response": {**ENTRY["response"], "status": "ok"}}),
    "bad base64": har({**ENTRY, "response": {**ENTRY["response"], "content": {"text": "%%%", "encoding": "base64"}}}),
    "binary": "\x00\x01\x02" * 5000,
}


@check_each(NO_RECORDINGS, recordings=False)
def a_recording_that_is_none(case, name, text):
    """`http.offline` names a file that is no recording: an error that names the file, no event, no crash."""
    case.write("bad.har", text)
    case.config(
        {"gh": {"plugin": "GitHubEvents", "with": {"repo": "a/b"}, "retry": {"attempts": 1}}},
        http={"offline": "bad.har"},
    )
    run = case.once("--offline", code=None)
    hold(run.code in (1, 2), "the exit is that of a failure", seen=f"{run.code}: {run.tail}")
    hold("bad.har" in run.err, "the error names the recording", seen=run.tail)
    same(case.lines(), [], "events")


@check
def a_recording_that_is_not_there(case):
    """A missing recording is an error of the config, with its place; `--offline` without one is a usage error."""
    case.config({"gh": {"plugin": "GitHubEvents", "with": {"repo": "a/b"}}}, http={"offline": "missing.har"})
    run = case.once("--offline", code=2)
    hold(re.search(r"config\.json:\d+:\d+: error: .*missing\.har", run.err), "place and name", seen=run.tail)
    case.config({"gh": {"plugin": "GitHubEvents", "with": {"repo": "a/b"}}})
    case.once("--offline", code=2)


@check
def what_is_not_in_the_recording(case):
    """Offline, and the recording lacks an answer: an error that names node and URL; the other source has its events."""
    case.write("some.har", har(ENTRY))
    case.config(
        {
            "gh": {"plugin": "GitHubEvents", "with": {"repo": "a/b"}},
            "other": {"plugin": "GitHubEvents", "with": {"repo": "c/d"}, "retry": {"attempts": 1}},
        },
        http={"offline": "some.har"},
    )
    run = case.once("--offline", code=1)
    run.one_error("other", "https://api.github.com/repos/c/d/events")
    events = case.events()
    same([(one.id, one.all.get("recorded")) for one in events], [("1", True)], "the events of the other")


@check
def a_console_that_is_full(case):
    """stdout on a full disk: an error that names the sink, exit 1, and the other sink has everything."""
    if not os.path.exists("/dev/full"):
        raise Skip("needs /dev/full")
    up = case.upstream()
    up.on("/repos/a/b/events", f"[{EVENT}]")
    case.config(
        {"gh": case.source("GitHubEvents", up, repo="a/b")},
        sinks={
            "screen": {"plugin": "Console", "from": ["gh"], "retry": {"attempts": 2, "base": "10ms"}},
            "log": {"plugin": "JSONLines", "from": ["gh"], "with": {"path": "out.jsonl"}},
        },
    )
    run = case.once(code=1, wrap=["sh", "-c", 'exec "$@" >/dev/full', "--"])
    hold(run.told(r"\bscreen\b", "no space", level="error"), "the error names the sink and the reason", seen=run.tail)
    same([one.id for one in case.events()], ["1"], "the other sink")


@check
def a_console_whose_reader_goes(case):
    """`| head -1`: the console ends without a word, the file has everything, exit 0."""
    up = case.upstream()
    texts = [EVENT.replace('"1"', f'"{number}"').replace("a/b", "x" * 2000) for number in range(300)]
    up.on("/repos/a/b/events", "[" + ",".join(texts) + "]")
    case.config(
        {"gh": case.source("GitHubEvents", up, repo="a/b", per_page=100)},
        sinks={
            "screen": {"plugin": "Console", "from": ["gh"], "with": {"format": "json"}},
            "log": {"plugin": "JSONLines", "from": ["gh"], "with": {"path": "out.jsonl"}},
        },
    )
    run = case.once(code=None, wrap=["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "--"])
    run.exits(0)
    same(len(run.out.splitlines()), 1, "lines that the reader took")
    same(len(case.events()), 300, "lines of the file")
    same([one for one in run.records if one.level in ("warning", "error")], [], "what is said about it")


@check
def a_console_that_was_the_only_reader(case):
    """`| head -1` with no other sink: what the reader has not taken is said, and comes again; exit 0."""
    case.write("in.jsonl", "".join(f'{{"n":{n},"p":"{"x" * 2000}"}}\n' for n in range(1000)))
    case.config(
        {"a": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl", "id": "/n"}}},
        sinks={"screen": {"plugin": "Console", "from": ["a"], "with": {"format": "json"}}},
    )
    run = case.once(wrap=["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "--"])
    same(len(run.out.splitlines()), 1, "lines that the reader took")
    hold(run.told("too late", "next start"), "it says what was not taken", seen=run.tail)
    again = case.once()
    ids = [json.loads(line)["id"] for line in again.out.splitlines()]
    same(ids[-1], "999", "the last event of the next run")
    hold(len(ids) > 900, "the next run gives them again", seen=len(ids))


@check
def a_state_folder_in_use(case):
    """A second feedbus on the same state folder is refused with a clear error; the first goes on."""
    up = case.upstream()
    up.on("/repos/a/b/events", f"[{EVENT}]")
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b")})
    first = case.start("run", "--config", "config.json")
    case.until(lambda: case.lines(), "the first event", run=first)
    case.config(
        {"gh": case.source("GitHubEvents", up, repo="a/b")},
        name="second.json",
        sinks={"log": {"plugin": "JSONLines", "from": ["gh"], "with": {"path": "second.jsonl"}}},
    )
    second = case.once(config="second.json", code=None)
    hold(second.code in (1, 2), "the exit is that of a failure", seen=f"{second.code}: {second.tail}")
    hold(
        re.search(r"\bvar\b", second.err) and re.search("another|already|in use|locked", second.err, re.I),
        "the error names the folder",
        seen=second.tail,
    )
    same(case.lines("second.jsonl"), [], "events of the second")
    first.stop().exits(0)
    same(len(case.events()), 1, "events of the first")


@check
def secrets_are_in_no_file(case):
    """A token and a key are in no recording, no state, no output, no log; and the recording plays without them."""
    up = case.upstream()
    up.on("/repos/a/b/events", Answer(f"[{EVENT}]", headers={"Set-Cookie": "session=SECRET-COOKIE"}))
    up.on("/jokes/random", '{"id":"j","value":"Sample","categories":[]}')
    up.on("/language/translate/v2", '{"data":{"translations":[{"translatedText":"Muestra"}]}}', method="POST")
    token, key = "ghp_SECRET0TOKEN", "AIzaSECRET-KEY"
    case.write("key", key + "\n")
    provider = {"name": "google", "base_url": up.url, "api_key": {"secret": "file:key"}}
    case.config(
        {
            "gh": case.source("GitHubEvents", up, repo="a/b", token={"secret": "env:TOKEN"}),
            "jokes": case.source("Jokes", up),
        },
        {"es": {"plugin": "Translation", "from": ["jokes"], "with": {"to": "es", "provider": provider}}},
    )
    run = case.once("--record", "made.har", "--log-level", "trace", env={"TOKEN": token})
    same(len(case.events()), 2, "events")
    same(
        [one.headers.get("Authorization") for one in up.requests("/repos/a/b/events")],
        [f"Bearer {token}"],
        "the token is sent",
    )
    for file in [one for one in case.folder.rglob("*") if one.is_file() and one.name != "key"]:
        content = file.read_bytes()
        for secret in (token, key, "SECRET-COOKIE"):
            hold(secret.encode() not in content, f"no secret in {file.relative_to(case.folder)}", seen=secret)
    hold(
        "SECRET" not in run.err + run.out.decode(),
        "no secret in the log",
        seen=[line for line in run.err.splitlines() if "SECRET" in line][:2],
    )
    up.forget()
    case.config(
        {
            "gh": case.source("GitHubEvents", up, repo="a/b", token={"secret": "env:TOKEN"}),
            "jokes": case.source("Jokes", up),
        },
        {"es": {"plugin": "Translation", "from": ["jokes"], "with": {"to": "es", "provider": provider}}},
        {"log": {"plugin": "JSONLines", "from": ["gh", "es"], "with": {"path": "again.jsonl"}}},
        feedbus={"state": "again"},
        http={"offline": "made.har"},
    )
    case.once("--offline", env={"TOKEN": "ghp_another"})
    same(up.targets(), [], "requests of an offline run")
    again = case.events("again.jsonl")
    same(sorted(one.data for one in again), sorted(one.data for one in case.events()), "what the recording gives")
    same({one.all.get("recorded") for one in again}, {True}, "the mark")


@check
def a_recording_that_cannot_be_written(case):
    """`--record` to a place where no file can be: an error that names it, and no event is lost by it."""
    up = case.upstream()
    up.on("/repos/a/b/events", f"[{EVENT}]")
    case.write("file", "")
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b")})
    run = case.once("--record", "file/made.har", code=None)
    hold(run.code in (1, 2), "the exit is that of a failure", seen=f"{run.code}: {run.tail}")
    hold("file/made.har" in run.err and re.search("not a directory", run.err, re.I), "path and reason", seen=run.tail)
    hold(
        not up.asked or len(case.lines()) == 1,
        "started and delivered, or not started",
        seen=(up.targets(), case.lines()),
    )
