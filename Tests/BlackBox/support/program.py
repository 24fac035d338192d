"""feedbus as a process: started, watched, stopped, and read."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from support.verdict import Wrong, brief, hold

CRASH = re.compile(r"Fatal error|Crash: |Stack dump|Backtrace|precondition failed|Sanitizer", re.I)
CRASH_SIGNALS = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}
# "2026-11-30T12:26:52.887Z warning earth: no categories"
RECORD = re.compile(r"^\S+Z (?P<level>\w+) +(?:(?P<node>[a-z][a-z0-9_-]*): )?(?P<text>.*)$")


class Record:
    """A line of the log."""

    def __init__(self, line):
        found = RECORD.match(line)
        self.line = line
        self.level = found["level"] if found else None
        # "failed: a (...); b (...)" is the summary at the end, of no node.
        self.node = found["node"] if found and found["node"] != "failed" else None
        self.text = found["text"] if found else line

    def __repr__(self):
        return self.line


class Program:
    """One run. Its output goes to files, so that nothing blocks and all can be read at any time."""

    count = 0
    alive = set()

    def __init__(self, argv, folder, logs, env, before=None):
        Program.count += 1
        self.argv = argv
        self.out_path = Path(logs) / f"out-{Program.count}"
        self.err_path = Path(logs) / f"err-{Program.count}"
        self.peak = 0
        self.ended = None
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.started = time.monotonic()
            self.process = subprocess.Popen(
                argv,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=before,
            )
        Program.alive.add(self)

    @classmethod
    def kill_all(cls):
        for one in list(cls.alive):
            one.kill()

    @property
    def out(self):
        return self.out_path.read_bytes()

    @property
    def err(self):
        return self.err_path.read_text("utf-8", "replace")

    @property
    def records(self):
        return [Record(line) for line in self.err.splitlines()]

    def told(self, *patterns, level=None):
        """The records in which all patterns are found (case aside), of one level or of any."""
        return [
            one
            for one in self.records
            if (level is None or one.level == level) and all(re.search(p, one.line, re.I) for p in patterns)
        ]

    def one_error(self, node, *words):
        """One error, and no more, that names the node and says these words (of which one is the URL)."""
        found = [one for one in self.records if one.level == "error" and one.node == node]
        hold(len(found) == 1, f"one error of {node}", expected=1, seen=f"{len(found)}: {self.tail}")
        for word in words:
            hold(word.lower() in found[0].line.lower(), f"the error of {node} names {word}", seen=found[0])
        return found[0]

    @property
    def running(self):
        return self.process.poll() is None

    def watch(self):
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        if found:
            self.peak = max(self.peak, int(found[1]) * 1024)

    def wait(self, most=30):
        """The end, within so many seconds; a crash is Wrong, whatever was expected."""
        end = time.monotonic() + most
        while self.process.poll() is None:
            self.watch()
            if time.monotonic() > end:
                self.kill()
                raise Wrong(f"{self.called} does not end within {most} s", seen=self.tail)
            time.sleep(0.004)
        self.ended = time.monotonic()
        Program.alive.discard(self)
        code = self.process.returncode
        if (code < 0 and -code in CRASH_SIGNALS) or CRASH.search(self.err):
            raise Wrong(f"{self.called} crashed with {code}", seen=self.tail)
        return self

    @property
    def called(self):
        return "feedbus " + " ".join(map(str, self.argv[self.argv.index("--") + 1 if "--" in self.argv else 1 :]))

    @property
    def code(self):
        return self.process.returncode

    @property
    def seconds(self):
        return self.ended - self.started

    @property
    def tail(self):
        return brief(" | ".join(self.err.splitlines()[-4:]) or "(nothing on stderr)", 900)

    def exits(self, code):
        hold(self.code == code, f"{self.called} must exit {code}", expected=code, seen=f"{self.code}: {self.tail}")
        return self

    def stop(self, number=signal.SIGTERM, most=15):
        hold(self.running, f"{self.called} must still run", seen=self.tail)
        self.process.send_signal(number)
        return self.wait(most)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        Program.alive.discard(self)
