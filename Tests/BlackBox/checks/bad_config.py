"""Bad input: configs that cannot be read, paths that cannot be written, a state that is damaged.

Each gives one clear error that names the place or the node, and nothing that came in before is lost.
"""

import ctypes
import json
import os
import re

from support.case import SOON
from support.feeds import page
from support.registry import check, check_each
from support.verdict import hold, same

# --- config ---------------------------------------------------------------------------------------------------------


def without_privilege():
    """Root may read and write what it likes; a check of permissions has to give that up (CAP_DAC_*)."""
    if os.geteuid() != 0:
        return None

    def before():
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):
            if libc.prctl(24, capability, 0, 0, 0) != 0:
                os._exit(126)

    return before


def refused(case, run, place):
    """Exit 2, an error with its place, nothing started, nothing written, nothing on stdout."""
    run.exits(2)
    same(run.out, b"", "stdout")
    hold(re.search(place, run.err), "the error names the place", expected=place, seen=run.tail)
    hold(
        not (case.folder / "out.jsonl").exists() and not (case.folder / "var").exists(),
        "no file is touched",
        seen=os.listdir(case.folder),
    )


GOOD = {
    "feedbus": {"state": "var"},
    "sources": {"a": {"plugin": "Exec", "with": {"command": ["echo", "{}"]}}},
    "sinks": {"log": {"plugin": "JSONLines", "from": ["a"], "with": {"path": "out.jsonl"}}},
}


@check
def a_config_that_cannot_be_read(case):
    """Missing, a folder, without permission, under a file, a link to itself: exit 2, the path and the system's reason."""
    (case.folder / "folder").mkdir()
    case.write("secret.json", json.dumps(GOOD)).chmod(0)
    case.write("file", "{}")
    os.symlink("loop.json", case.folder / "loop.json")
    for name, reason in (
        ("missing.json", "no such file"),
        ("folder", "directory"),
        ("secret.json", "permission denied"),
        ("file/config.json", "not a directory"),
        ("loop.json", "symbolic link|too many"),
        ("x" * 300, "too long"),
    ):
        for arguments in (("run", "--config", name, "--once"), ("check", "--config", name)):
            run = case.start(*arguments, before=without_privilege()).wait()
            run.exits(2)
            said = run.err + run.out.decode()
            hold(
                name in said and re.search(reason, said, re.I),
                f"{arguments[0]} names {name[:20]} and the reason",
                expected=reason,
                seen=said,
            )
            hold(len(said.strip().splitlines()) <= 2, "one error", seen=said)


# Name: the bytes, and what the error says (line and column where the text goes wrong).
TEXTS = {
    "empty": (b"", r"config\.json:1:1: error:"),
    "blanks": (b" \n\n ", r"config\.json:\d+:\d+: error:"),
    "only a comment": (b"// nothing", r"config\.json:1:\d+: error:"),
    "a zero byte": (b'{"sources":\x00{}}', r"config\.json:1:12: error:"),
    "UTF-16": ('{"sources":{}}'.encode("utf-16"), r"config\.json:1:1: error:"),
    "not UTF-8": (b'{\n "sources": {"a\xff": 1}}', r"config\.json:2:\d+: error:"),
    "a BOM": (b"\xef\xbb\xbf" + json.dumps(GOOD).encode(), r"config\.json:1:1: error: .*byte order mark"),
    "a list": (b"[]", r"config\.json:1:1: error:"),
    "a number": (b"1", r"config\.json:1:1: error:"),
    "cut off": (b'{"sources": {"a": {"plugin": "Ex', r"config\.json:1:\d+: error:"),
    "a comment without end": (b"{ /* \n\n", r"config\.json:1:3: error:"),
    "single quotes": (b"{'sources': {}}", r"config\.json:1:2: error:"),
    "a trailing comma": (b'{"sources": {},\n}', r"config\.json:\d:\d+: error: .*comma"),
    "two values": (json.dumps(GOOD).encode() + b"\n{}", r"config\.json:2:1: error:"),
    "HTML": (b"<!DOCTYPE html>\n<html><body>404</body></html>", r"config\.json:1:1: error:"),
    "a thousand brackets": (b"[" * 5000, r"config\.json:1:\d+: error:"),
    "an ELF program": (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, r"config\.json:1:1: error:"),
}


@check_each(TEXTS, recordings=False)
def a_config_that_is_no_config(case, name, row):
    """The place (file:line:column) of what is wrong; exit 2; nothing started. `check` says the same."""
    text, place = row
    case.write("config.json", text)
    refused(case, case.start("run", "--config", "config.json", "--once").wait(), place)
    run = case.start("check", "--config", "config.json").wait().exits(2)
    hold(
        re.search(place, run.out.decode() + run.err),
        "check names the place",
        expected=place,
        seen=run.out + run.err.encode(),
    )
    hold(
        len((run.out.decode() + run.err).splitlines()) < 12,
        "no flood of errors that follow from the first",
        seen=run.out[-300:],
    )


@check
def a_large_config(case):
    """A config of 2000 sources is read in no time; one of 100 MB is refused or read, and does not fill the memory."""
    many = {f"s{n}": {"plugin": "Exec", "with": {"command": ["true"]}} for n in range(2000)}
    case.config(many)
    run = case.start("check", "--config", "config.json").wait(20).exits(0)
    hold(run.seconds < 10, "2000 nodes are checked in no time", seen=f"{run.seconds:.1f} s")
    case.write("config.json", b'{"sources": {}, "x": "' + b"y" * 100_000_000 + b'"}')
    run = case.start("check", "--config", "config.json").wait(30).exits(2)
    hold(run.peak < 700 << 20, "memory", expected="less than 700 MB", seen=run.peak >> 20)
    hold(len(run.out) + len(run.err) < 20_000, "the error does not quote 100 MB", seen=len(run.out) + len(run.err))


# --- paths that cannot be written -----------------------------------------------------------------------------------


WRITES = ["a folder", "under a file", "no permission", "no permission for the folder"]


@check_each({name: None for name in WRITES}, recordings=False)
def a_path_that_cannot_be_written(case, name, _):
    """The sink's path: one error that names node, path and reason, not 0, no event lost; with the path mended all come."""
    path = {
        "a folder": "there",
        "under a file": "file/out.jsonl",
        "no permission": "shut.jsonl",
        "no permission for the folder": "shut/new/out.jsonl",
    }[name]
    (case.folder / "there").mkdir()
    case.write("file", "")
    case.write("shut.jsonl", "").chmod(0o400)
    (case.folder / "shut").mkdir(mode=0o500)
    case.config(
        feed(case), sinks={"log": {"plugin": "JSONLines", "from": ["gh"], "with": {"path": path}, "retry": SOON}}
    )
    run = case.start("run", "--config", "config.json", "--once", before=without_privilege()).wait()
    hold(run.code in (1, 2), "the exit is that of a failure", seen=f"{run.code}: {run.tail}")
    reason = "directory" if name in WRITES[:2] else "permission denied"
    hold(
        run.told("log", re.escape(path.partition("/")[0]), reason)
        or re.search(rf"config\.json:\d+:\d+: error: .*{reason}", run.err, re.I),
        "the error names sink or place, path and reason",
        seen=run.tail,
    )
    case.config(feed(case), sinks={"log": {"plugin": "JSONLines", "from": ["gh"], "with": {"path": "out.jsonl"}}})
    case.once()
    same([one.id for one in case.events()], ["1", "2"], "the events, once the path is mended")


@check
def a_state_folder_that_cannot_be_written(case):
    """Exit 1 or 2, one error that names the folder and the reason; nothing is written by a sink that would come twice."""
    case.write("file", "")
    (case.folder / "shut").mkdir(mode=0o500)
    for state, reason in (
        ("file/var", "not a directory"),
        ("file", "directory|exists"),
        ("shut/var", "permission denied"),
    ):
        case.config(feed(case), feedbus={"state": state})
        run = case.start("run", "--config", "config.json", "--once", before=without_privilege()).wait()
        hold(run.code in (1, 2), "the exit is that of a failure", seen=f"{run.code}: {run.tail}")
        hold(
            re.search(re.escape(state), run.err) and re.search(reason, run.err, re.I),
            "folder and reason",
            expected=(state, reason),
            seen=run.tail,
        )
        same(case.lines(), [], "events")
    case.config(feed(case))
    case.once()
    same([one.id for one in case.events()], ["1", "2"], "the events, once the folder is mended")


@check
def a_state_that_is_damaged(case):
    """A state file of garbage, cut short, or of another program: a clear error that says what to do, and no event lost."""
    case.config(feed(case))
    case.once()
    (state,) = (one for one in (case.folder / "var").iterdir() if one.suffix == ".sqlite")
    whole = state.read_bytes()
    for content in (b"garbage" * 1000, whole[: len(whole) // 2], b"", b"\x00" * 8192):
        for one in (case.folder / "var").iterdir():
            if one.name.startswith(state.name + "-"):
                one.unlink()
        state.write_bytes(content)
        run = case.once(code=None)
        if content:
            hold(run.code in (1, 2), "the exit is that of a failure", seen=f"{run.code}: {run.tail}")
            hold(
                run.told(re.escape(state.name), level="error") or re.search(r"error.*\bvar\b", run.err),
                "the error names the file or folder",
                seen=run.tail,
            )
        hold(
            [one["id"] for one in map(json.loads, case.lines())][:2] == ["1", "2"],
            "what was written stays",
            seen=case.lines(),
        )


def feed(case, *more):
    """A GitHub feed with events 1 and 2 (and more), and its source."""
    up = case.upstream()
    up.on("/repos/a/b/events", page(2, *more))
    return {"gh": case.source("GitHubEvents", up, repo="a/b")}
