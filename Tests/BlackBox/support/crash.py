"""kill -9 at seeded moments: feeds the program, kills it in a chosen phase, starts it again, and at the end looks at every line.

Used by checks/crash.py (short, in CI) and by crash.py beside run.py (long). A run is given by its seed, except for what
the machine's timing adds.
"""

import gzip
import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter

from support.upstream import Answer
from support.verdict import Skip, hold, same

WAY = "/repos/a/b/events"
# By the machine, the numbers of fsync(2) and fdatasync(2).
SYNCS = {"x86_64": (74, 75), "aarch64": (82, 83)}.get(os.uname().machine, ())
ROTATED = re.compile(r"(?P<stem>\w+)-(?P<stamp>\d{8}T\d{6}Z)(?:-(?P<counter>\d+))?\.jsonl(?P<gz>\.gz)?$")


def mount(folder, size):
    """A small file system of its own, where that is allowed; else Skip."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        raise Skip("needs the right to mount a small file system")


def unmount(folder):
    subprocess.run(["umount", "-l", str(folder)], capture_output=True)


class Filler:
    """Takes all the room of a file system, and gives it back, at random, until it is stopped."""

    def __init__(self, folder, seed):
        self.path = folder / "filler"
        self.dice = random.Random(seed)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.times = 0
        self.thread.start()

    def run(self):
        while not self.over.wait(self.dice.uniform(0.02, 0.3)):
            try:
                with open(self.path, "ab", buffering=0) as file:
                    while file.write(b"\0" * self.dice.choice([512, 4096, 65536])):
                        pass
            except OSError:
                pass
            self.times += 1
            if self.over.wait(self.dice.uniform(0.05, 0.6)):
                break
            self.path.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def stop(self):
        self.over.set()
        self.thread.join()


class CrashTest:
    """One long life of the program, in many runs."""

    PHASES = ["startup", "poll", "writing", "writing", "fsync", "rotation", "gzip", "cursor", "resume", "replay"]

    def __init__(self, case, seed, *, full_disk=False, room="60m", clock=None):
        self.case = case
        self.dice = random.Random(seed)
        self.seed = seed
        self.clock = clock
        self.out = case.folder / "out"
        self.out.mkdir()
        if full_disk:
            mount(self.out, room)
        self.full_disk = full_disk
        self.filler = None
        self.lines = 0  # of the input file
        self.numbers = 0  # of the service's events
        self.polled = threading.Event()
        self.kills = Counter()
        self.aimed = Counter()  # of these, the kills that came when the phase was seen to begin
        self.known = set()  # old files that were read
        self.upstream = case.upstream()
        self.upstream.on(WAY, self.answer)
        self.config()

    def close(self):
        if self.filler:
            self.filler.stop()
            self.filler = None
        if self.full_disk:
            unmount(self.out)

    def answer(self, _):
        self.polled.set()
        # All that there ever were: a service that forgets would make gaps that are no fault of feedbus.
        return Answer(
            json.dumps([{"id": str(n), "type": "PushEvent", "payload": {"pad": "x" * (n % 90)}}
                        for n in range(self.numbers, 0, -1)]), after=self.slow)

    def config(self):
        rotate = {"size": "100KB", "gzip": True}
        self.case.write("in.jsonl", "")
        self.case.config(
            {
                "file": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl", "follow": True, "id": "/n"}},
                "gh": self.case.source("GitHubEvents", self.upstream, repo="a/b", every="1s", max_pages=1),
            },
            subjects={"activity": {"from": ["file", "gh"], "replay": 5, "scope": "forever", "store": "disk"}},
            sinks={
                # Straight from its source: the source's cursor moves with the write.
                "direct": {"plugin": "JSONLines", "from": ["file"],
                           "with": {"path": "out/direct.jsonl", "rotate": rotate}},
                # From the log: its place moves with the fsync.
                "synced": {"plugin": "JSONLines", "from": ["activity"],
                           "with": {"path": "out/synced.jsonl", "fsync": "batch", "rotate": rotate}},
                # Never can: what it gets are dead letters.
                "never": {"plugin": "JSONLines", "from": ["gh"], "with": {"path": "in.jsonl/never.jsonl"},
                          "retry": {"attempts": 1}},
                # What a replay is sent to.
                "again": {"plugin": "JSONLines", "from": ["activity"], "with": {"path": "out/again.jsonl"}},
            },
            feedbus={"state": "out/var" if self.full_disk else "var", "shutdown_grace": "20s"})

    # Feeding.

    slow = 0

    def feed(self, lines, events):
        with open(self.case.folder / "in.jsonl", "a") as file:
            for number in range(self.lines + 1, self.lines + lines + 1):
                pad = "y" * (self.dice.choice([0, 10, 200, 3000]) if number % 5 == 0 else number % 60)
                file.write(json.dumps({"n": str(number), "pad": pad}) + "\n")
        self.lines += lines
        self.numbers += events

    # Killing.

    def start(self, *arguments):
        if self.clock:
            self.clock.sweep()
        env = self.clock.env if self.clock else None
        return self.case.start(*(arguments or ("run", "--config", "config.json")), env=env)

    def names(self):
        try:
            return set(os.listdir(self.out))
        except OSError:
            return set()

    def sign(self, phase, run):
        """A function that says whether the phase is seen to have begun; None where that cannot be seen."""
        def stat(path, what):
            try:
                return getattr(os.stat(path), what)
            except OSError:
                return None

        def changes(path, what):
            before = stat(path, what)
            return lambda: stat(path, what) != before

        if phase == "poll":
            return self.polled.is_set
        if phase == "fsync" and SYNCS:
            threads = f"/proc/{run.process.pid}/task"

            def syncing():
                try:
                    for thread in os.listdir(threads):
                        with open(f"{threads}/{thread}/syscall", "rb", buffering=0) as file:
                            number = file.read(8).split(b" ", 1)[0]
                        if number.isdigit() and int(number) in SYNCS:
                            return True
                except OSError:
                    pass
                return False

            return syncing
        if phase == "rotation":
            # Between the rename and the open there is no file; then it is another one.
            return changes(self.out / "synced.jsonl", "st_ino")
        if phase == "gzip":
            before = self.names()
            return lambda: any(one.endswith((".gz", ".part")) for one in self.names() - before)
        if phase == "cursor":
            state = self.out / "var" if self.full_disk else self.case.folder / "var"
            return changes(state / "feedbus.sqlite-wal", "st_mtime_ns")
        if phase == "resume":
            # The first lines that a durable subject gives its reader again, or a little later.
            return changes(self.out / "synced.jsonl", "st_size")
        if phase == "replay":
            return changes(self.out / "again.jsonl", "st_size")
        return None

    def await_phase(self, phase, run, has_begun):
        """Returns when the program is in this phase, or may be: after a while in any case. Whether it was seen to be."""
        if has_begun is None:
            time.sleep(self.dice.uniform(0, 0.06) if phase == "startup" else self.dice.uniform(0.03, 0.3))
            return False
        end = time.monotonic() + 0.5
        pause = 0 if phase in ("fsync", "rotation") else 0.0005
        while not (seen := has_begun()) and time.monotonic() < end and run.running:
            time.sleep(pause)
        if phase in ("fsync", "rotation"):
            # They last a millisecond, and less.
            if self.dice.random() < 0.3:
                time.sleep(self.dice.uniform(0, 0.002))
        else:
            time.sleep(self.dice.choice([0, 0, self.dice.uniform(0, 0.004), self.dice.uniform(0, 0.04)]))
        return seen

    def kill_once(self):
        phase = self.dice.choice(self.PHASES)
        # So many that there is a rotation, a sync, something to resume from.
        lines = [400, 800] if phase in ("fsync", "rotation", "gzip", "resume") else [0, 10, 60, 400]
        self.feed(self.dice.choice(lines), self.dice.choice([0, 1, 1, 5]))
        self.slow = self.dice.choice([0, 0, 0.05]) if phase == "poll" else 0
        self.polled.clear()
        if self.clock and self.dice.random() < 0.7:
            self.clock.set(self.dice.choice(["+0", "+1h", "-1h", "+1d", "-1d", "-40d", "+400d"]))
        if phase == "replay":
            run = self.start("replay", "--subject", "activity", "--from", "first", "--to", "again")
        else:
            run = self.start()
        sign = self.sign(phase, run)
        seen = self.await_phase(phase, run, sign)
        if self.clock and self.dice.random() < 0.5:
            self.clock.set(self.dice.choice(["+2h", "-2h", "+0"]))
            time.sleep(self.dice.uniform(0, 0.05))
        if not run.running:
            # A replay may have come to its end; nothing else may.
            hold(phase == "replay" or self.full_disk, f"the program runs until it is killed ({phase})", seen=run.tail)
            run.wait()
            (self.out / "again.jsonl").unlink(missing_ok=True)
            self.kills["ended by itself"] += 1
            return
        # With what it has started (gzip), or alone.
        (os.killpg if self.dice.random() < 0.5 else os.kill)(run.process.pid, signal.SIGKILL)
        run.process.wait()
        run.kill()
        self.kills[phase] += 1
        if sign:
            self.aimed[phase] += seen
        if phase == "replay":
            # All of the log, each time: looked at, and then taken out of the way.
            for _ in self.read("again", False):
                pass
            (self.out / "again.jsonl").unlink(missing_ok=True)

    # Looking.

    def files(self, stem):
        """The files of a sink, from old to new."""
        found = []
        for name in self.names():
            match = ROTATED.match(name)
            if match and match["stem"] == stem:
                found.append(((match["stamp"], int(match["counter"] or 1)), bool(match["gz"]), name))
        found.sort()
        names = {}
        for key, _, name in found:
            # Where the kill came in the middle of the exchange both are there.
            names.setdefault(key, name)
        return [self.out / name for name in names.values()] + [self.out / f"{stem}.jsonl"]

    def read(self, stem, is_whole, only_new=False):
        """The events of a sink, in the order of their lines. is_whole: the last line too must be whole. only_new: without
        the old files that were read before."""
        for path in self.files(stem):
            name = path.name.removesuffix(".gz")
            if only_new and name in self.known:
                continue
            if name != f"{stem}.jsonl":
                self.known.add(name)
            # A kill may have come before the first line.
            text = path.read_bytes() if path.exists() else b""
            if path.suffix == ".gz":
                text = gzip.decompress(text)
            body, _, tail = text.rpartition(b"\n")
            hold(not tail or (not is_whole and path.name == f"{stem}.jsonl"), f"{path.name} ends with a whole line",
                 seen=tail[-200:])
            for line in body.split(b"\n") if body else []:
                try:
                    event = json.loads(line)
                    found = event["feedbusnode"], int(event["id"])
                except (ValueError, KeyError, TypeError):
                    hold(False, f"each line of {path.name} is one whole event", seen=line[:300])
                yield found

    def look(self, stem, expected, is_straight=False):
        """Every event of each source at least once; what repeats is a tail that was not acknowledged when a kill came.

        is_straight: the sink reads the source itself, so that a repeat goes back once a kill, and on without a gap. In a
        durable log the source's repeats stand as well, and its reader may begin again before them or between them.
        """
        events = list(self.read(stem, True))
        figures = []
        for node, last in expected.items():
            numbers = [number for one, number in events if one == node]
            seen, steps, farthest = 0, 0, 0
            for before, number in zip([0, *numbers], numbers):
                hold(number <= seen + 1, f"no event of {node} is missing or out of order in {stem}",
                     expected=f"at most {seen + 1} after {before}", seen=number)
                if number <= before:
                    steps += 1
                    farthest = max(farthest, before - number + 1)
                elif is_straight:
                    hold(number == before + 1, f"a repeat of {node} in {stem} is without gaps",
                         expected=before + 1, seen=number)
                seen = max(seen, number)
            same(seen, last, f"the last event of {node} in {stem}")
            if is_straight:
                hold(steps <= sum(self.kills.values()), f"{stem}: repeats of {node} only after a kill", seen=steps)
            figures.append(f"{node} {last}+{len(numbers) - last} repeated (in {steps} pieces, {farthest} at most)")
        return f"{stem}: " + ", ".join(figures)

    def run(self, kills, say=lambda text: None):
        """Kills so often, lets the program end once, and looks. Returns what came of it, in words."""
        began = time.monotonic()
        self.feed(50, 5)
        if self.full_disk:
            self.filler = Filler(self.out, self.seed)
        for number in range(kills):
            self.kill_once()
            if number % 20 == 19:
                for stem in ("direct", "synced"):
                    for _ in self.read(stem, False, only_new=True):
                        pass
                say(f"{number + 1} kills, {self.lines + self.numbers} events")
        full = self.filler.times if self.filler else 0
        if self.filler:
            self.filler.stop()
            self.filler = None
        if self.clock:
            self.clock.set("+0")
        # To the end. Its dead sink makes the exit 1.
        last = self.start("run", "--config", "config.json", "--once").wait(600)
        hold(last.code == 1 and not last.told("undelivered [1-9]"), "the last run delivers everything", seen=last.tail)
        expected = {"file": self.lines, "gh": self.numbers}
        told = [self.look("direct", {"file": self.lines}, is_straight=True), self.look("synced", expected)]
        letters = self.start("replay", "--dead-letters", "--node", "never", "--set", "sinks.never.with.path=out/back.jsonl")
        letters.wait(60).exits(0)
        back = sorted({number for _, number in self.read("back", True)})
        same(back, list(range(1, self.numbers + 1)), "dead letters that came back")
        for stem in ("direct", "synced"):
            names = {path.name for path in self.files(stem)}
            pairs = sorted(name for name in names & {one.removesuffix(".gz") for one in self.names() if one.endswith(".gz")})
            same(pairs, [], f"old files of {stem} that are there twice, after an end that was no kill")
        kinds = ", ".join(
            f"{kind} {count}" + (f" (seen to begin: {self.aimed[kind]})" if kind in self.aimed else "")
            for kind, count in sorted(self.kills.items()))
        full = f"; the disk was full {full} times" if full else ""
        return f"{sum(self.kills.values())} kills in {time.monotonic() - began:.0f} s (seed {self.seed}: {kinds}){full}; " + \
            "; ".join(told) + f"; dead letters: {len(back)} came back"
