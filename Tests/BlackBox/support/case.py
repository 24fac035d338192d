"""What a check works with: a folder of its own, services of its own, and the program."""

import json
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from support.jsontext import member, minified, strict
from support.program import Program
from support.upstream import Mute, Upstream
from support.verdict import Wrong, brief, hold

TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$")
ATTRIBUTE = re.compile(r"[a-z0-9]+$")
# Tried again soon, so that a check of a failure does not take a minute.
SOON = {"attempts": 2, "base": "10ms", "cap": "20ms"}


class Event:
    """A line that the sink wrote."""

    def __init__(self, line):
        self.line = line
        self.all = strict(line)
        hold(isinstance(self.all, dict), "a line must be an object", seen=line)
        self.id = self.all.get("id")
        self.type = self.all.get("type")
        self.source = self.all.get("source")
        self.subject = self.all.get("subject")
        self.time = self.all.get("time")
        self.node = self.all.get("feedbusnode")

    @property
    def data(self):
        """The text of `data`, byte for byte."""
        return member(self.line, "data")

    def check(self):
        """What CloudEvents 1.0 asks of every event, and the contract of every event of ours."""
        hold(self.all.get("specversion") == "1.0", "specversion must be 1.0", seen=self.line)
        for name in ("id", "source", "type", "feedbusnode"):
            value = self.all.get(name)
            hold(isinstance(value, str) and value, f"{name} must be a text that is not empty", seen=self.line)
        hold(
            self.all.get("datacontenttype") == "application/json",
            "datacontenttype must be application/json",
            seen=self.line,
        )
        hold("data" in self.all, "there must be data", seen=self.line)
        hold(self.data == minified(self.data), "there are no blanks in data", seen=self.line)
        if "time" in self.all:
            hold(isinstance(self.time, str) and TIME.match(self.time), "time must be of RFC 3339", seen=self.time)
        if "subject" in self.all:
            hold(isinstance(self.subject, str) and self.subject, "a subject must not be empty", seen=self.line)
        for name in self.all:
            hold(ATTRIBUTE.match(name), "names of attributes are small letters and digits", seen=name)
        return self

    def __repr__(self):
        return brief(self.line, 160)


class Case:
    # On how many loops configs run that do not say it themselves; None: as the program likes.
    loops = None

    def __init__(self, program):
        self.program = str(Path(program).resolve())
        self.root = Path(tempfile.mkdtemp(prefix="feedbus-blackbox-"))
        self.folder = self.root / "work"
        self.logs = self.root / "logs"
        self.folder.mkdir()
        self.logs.mkdir()
        self.services = []
        self.runs = []

    # The services.

    def upstream(self):
        self.services.append(Upstream())
        return self.services[-1]

    def mute(self, **more):
        self.services.append(Mute(**more))
        return self.services[-1]

    # The config.

    def write(self, name, content):
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def config(self, sources, stages=None, sinks=None, name="config.json", **sections):
        """A config whose sink `log`, unless others are given, writes everything to out.jsonl."""
        whole = {"feedbus": {"state": "var"}, "sources": sources}
        if stages:
            whole["stages"] = stages
        read = {one for stage in (stages or {}).values() for one in stage["from"]}
        ends = [one for one in [*sources, *(stages or {})] if one not in read]
        whole["sinks"] = sinks or {"log": {"plugin": "JSONLines", "from": ends, "with": {"path": "out.jsonl"}}}
        whole.update(sections)
        if Case.loops:
            whole["feedbus"] = {"loops": Case.loops, **whole["feedbus"]}
        self.write(name, json.dumps(whole, indent=1))

    @staticmethod
    def source(plugin, upstream, retry=None, **options):
        base = upstream if isinstance(upstream, str) else upstream.url
        return {"plugin": plugin, "with": {"base_url": base, **options}, "retry": retry or SOON}

    # The runs.

    def start(self, *arguments, env=None, before=None, wrap=()):
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.lower().endswith("_proxy") and key not in ("NO_COLOR", "FORCE_COLOR", "LANG", "FEEDBUS_LOG")
        }
        kept.update({"HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC", **(env or {})})
        run = Program([*wrap, self.program, *arguments], self.folder, self.logs, kept, before)
        self.runs.append(run)
        return run

    def once(self, *more, most=30, code=0, config="config.json", **options):
        """`--once`, to its end. code=None: any."""
        run = self.start("run", "--config", config, "--once", *more, **options).wait(most)
        return run if code is None else run.exits(code)

    # What came out.

    def lines(self, name="out.jsonl"):
        """Every line. While a program runs, the last one may be just on its way into the file: a reader sees half a write."""
        target = self.folder / name
        running = any(one.running for one in self.runs)
        text = target.read_bytes() if target.exists() else b""
        if running:
            text = text[: text.rfind(b"\n") + 1]
        hold(not text or text.endswith(b"\n"), f"{name} must end with a whole line", seen=text[-80:])
        try:
            return text.decode("utf-8").split("\n")[:-1]
        except UnicodeDecodeError as error:
            raise Wrong(f"{name} must be UTF-8", seen=error) from None

    def events(self, name="out.jsonl", node=None, repeats=False):
        """Every line as an event. repeats: the same one may come again, as after a crash."""
        found = []
        for line in self.lines(name):
            try:
                found.append(Event(line).check())
            except ValueError as error:
                raise Wrong(f"each line of {name} must be JSON", seen=f"{error}: {line}") from None
        twice = [key for key, count in Counter((one.node, one.source, one.id) for one in found).items() if count > 1]
        hold(repeats or not twice, "no event twice (by source and id)", seen=twice[:4])
        return [one for one in found if node is None or one.node == node]

    def events_by_node(self):
        """The one event of each node."""
        events = self.events()
        found = {one.node: one for one in events}
        hold(len(found) == len(events), "one event of each node", seen=len(events))
        return found

    def until(self, condition, what, most=20, run=None):
        end = time.monotonic() + most
        while not condition():
            if run is not None and not run.running:
                hold(condition(), f"the program ended before {what}", seen=run.tail)
                return
            hold(time.monotonic() < end, f"{what} within {most} s", seen=run.tail if run else None)
            time.sleep(0.01)

    def close(self):
        for run in self.runs:
            if run.process.poll() is None:
                run.kill()
        for one in self.services:
            one.close()
        shutil.rmtree(self.root, ignore_errors=True)
