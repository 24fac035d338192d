"""Configs that somebody else may have written: what they hold must not reach a terminal, a wrong file, or a stranger's eyes."""

import json
import re

from support.registry import check
from support.verdict import hold


def config(case, source, sink=None, name="a"):
    case.write("config.json", json.dumps({
        "feedbus": {"state": "var"}, "sources": {name: source},
        "sinks": {"log": sink or {"plugin": "JSONLines", "from": [name], "with": {"path": "out.jsonl"}}}}))
    return case.start("run", "--config", "config.json").wait(10).exits(2)


ECHO = {"plugin": "Exec", "with": {"command": ["echo", "{}"]}}


@check
def a_nul_in_a_path(case):
    """The system would take what stands before the NUL for the path: an error at its place."""
    run = config(case, ECHO, {"plugin": "JSONLines", "from": ["a"], "with": {"path": "out/a\0b"}})
    hold(re.search(r"config.json:1:\d+: error: .*path", run.err), "an error at the path", seen=run.tail)


@check
def escape_sequences_in_names(case):
    """Control characters and changes of the writing direction are shown as escapes, in every error."""
    run = config(case, {"plugin": "\x1b]0;x\x07\n\u202e", "with": {"\x9b31m": 1}})
    hold(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", run.err), "nothing that a terminal obeys", seen=ascii(run.err))
    run = case.start("run", "--\x1b[31mx").wait(10).exits(2)
    hold("\x1b" not in run.err, "nor in an error about the arguments", seen=ascii(run.err))


@check
def a_password_in_a_url(case):
    """A URL with a password and a key is refused, and neither is shown."""
    run = config(case, {"plugin": "GitHubEvents", "with": {"repo": "a/b", "base_url": "http://u:hush@h/p?key=hush2"}})
    hold("base_url" in run.err and "hush" not in run.err, "the error shows no secret", seen=run.err)


@check
def a_name_of_five_megabytes(case):
    """The search for what was meant does not take for ever."""
    config(case, {"plugin": "x" * 5_000_000, "with": {}})
