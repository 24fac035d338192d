"""The file of a JSONLines sink: its readers, its locks, its odd paths, its rotation, disks and limits that are full."""

import gzip
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

from support.crash import mount, unmount
from support.registry import check, check_each
from support.verdict import Skip, hold, same


def fed(path="in.jsonl"):
    return {"plugin": "JSONLinesFile", "with": {"path": path, "follow": True, "id": "/n"}}


def log(path="out.jsonl", more=None, **options):
    return {"log": {"plugin": "JSONLines", "from": ["a"], "with": {"path": path, **options}, **(more or {})}}


class Feed:
    """The lines that go in."""

    def __init__(self, case):
        self.path = case.write("in.jsonl", "")
        self.count = 0

    def add(self, count, pad=40):
        with open(self.path, "a") as file:
            for _ in range(count):
                self.count += 1
                file.write(json.dumps({"n": str(self.count), "pad": "x" * pad}, separators=(",", ":")) + "\n")

    @property
    def all(self):
        return [str(number) for number in range(1, self.count + 1)]


def ids(case, name="out.jsonl"):
    return [one.id for one in case.events(name)]


class Follower:
    """tail -F FILE | jq -c .id"""

    def __init__(self, case, name):
        for program in ("tail", "jq"):
            if not shutil.which(program):
                raise Skip(f"needs {program}")
        self.out = case.logs / "follower"
        self.err = case.logs / "follower-errors"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.tail = subprocess.Popen(
                ["tail", "-F", "-s", "0.1", "-n", "+1", name], cwd=case.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.jq = subprocess.Popen(["jq", "--unbuffered", "-c", ".id"], stdin=self.tail.stdout, stdout=out, stderr=err)
            self.tail.stdout.close()

    @property
    def ids(self):
        return [json.loads(line) for line in self.out.read_bytes().splitlines()]

    def stop(self):
        self.tail.kill()
        self.tail.wait()
        self.jq.wait(10)


@check
def a_reader_that_follows(case):
    """tail -F FILE | jq -c .id sees every event once, in order, without a parse error: through rotation, a rename, restarts and a full disk."""
    small = case.folder / "small"
    mount(small, "2m")
    follower = None
    try:
        feed = Feed(case)
        case.config({"a": fed()}, sinks=log("small/out.jsonl", rotate={"size": "40KB"}))
        follower = Follower(case, "small/out.jsonl")

        def arrived(run):
            case.until(lambda: follower.ids[-1:] == [str(feed.count)] or follower.jq.poll() is not None,
                       f"event {feed.count} at the reader", run=run)
            hold(follower.jq.poll() is None, "the reader can parse what it sees", seen=follower.err.read_text()[-300:])

        run = case.start("run", "--config", "config.json")
        for turn in range(6):
            for _ in range(4):
                feed.add(25, 250)
                arrived(run)
            if turn == 1:
                (small / "out.jsonl").rename(small / "moved")
            if turn == 2:
                run.process.send_signal(signal.SIGHUP)
            if turn == 3:
                run.stop().exits(0)
                run = case.start("run", "--config", "config.json")
            if turn == 4:
                for pad in (250, 30_000):
                    file = os.open(small / "filler", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                    try:
                        for size in (65536, 4096, 512, 1):
                            try:
                                while os.write(file, b"\0" * size):
                                    pass
                            except OSError:
                                pass
                    finally:
                        os.close(file)
                    before = len(run.told("waiting until it can be written", level="error"))
                    feed.add(600 if pad == 250 else 3, pad)
                    case.until(lambda: len(run.told("waiting until it can be written", level="error")) > before,
                               "it says that the disk is full", run=run)
                    time.sleep(0.3)
                    hold(follower.jq.poll() is None, "the reader can parse what it sees", seen=follower.err.read_text())
                    (small / "filler").unlink()
                    # What it had no room for comes in files of its own; one after the other is too fast for tail.
                    case.until(lambda: (small / "out.jsonl").exists() and run.told("recovered"), "recovery", run=run)
                    case.until(lambda: ids_of_all(small)[-1:] == [str(feed.count)], "the last event", run=run)
        run.stop().exits(0)
        time.sleep(0.3)
        follower.stop()
        same(follower.err.read_text(), "", "what jq has to say")
        seen = [int(one) for one in follower.ids]
        same(seen, sorted(set(seen)), "ids at the reader: in order, none twice")
        hold(len(seen) >= feed.count - 620, "the reader has seen them", expected=feed.count, seen=len(seen))
    finally:
        if follower:
            follower.stop()
        unmount(small)


def ids_of_all(folder):
    """Ids of all lines, by file from old to new; a rotated file sorts before out.jsonl."""
    found = []
    for path in sorted(folder.glob("out*.jsonl"), key=lambda one: (one.name == "out.jsonl", one.name)):
        try:
            found += [json.loads(line)["id"] for line in path.read_bytes().splitlines()]
        except FileNotFoundError:
            pass
    return found


@check
def a_limit_on_the_size_of_files(case):
    """RLIMIT_FSIZE: nothing torn, said once, and when the limit is raised everything arrives once."""
    feed = Feed(case)
    feed.add(10)
    case.config({"a": fed()}, sinks=log())
    limit = 40_000
    run = case.start("run", "--config", "config.json", before=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))
    case.until(lambda: len(case.lines()) == 10, "the first events", run=run)
    feed.add(400, 200)
    case.until(lambda: run.told("EFBIG", "out.jsonl", level="error"), "it says that the file is too large", run=run)
    time.sleep(0.6)
    same(ids(case), feed.all[: len(case.lines())], "whole lines, in order")
    hold(len(case.lines()) < 410, "there was no room for all", seen=len(case.lines()))
    resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    case.until(lambda: len(case.lines()) == 410, "everything arrives", run=run)
    run.stop().exits(0)
    same(ids(case), feed.all, "events")
    same(len(run.told("EFBIG", level="error")), 1, "it is said once")
    same(len(run.told("recovered", "out.jsonl", level="warning")), 1, "the recovery is said")


@check
def a_start_on_a_full_disk(case):
    """No room for so much as the file: the sink starts paused and says why; with room it goes on, and nothing is lost."""
    small = case.folder / "small"
    mount(small, "64k,nr_inodes=3")
    try:
        for name in ("one", "two"):
            (small / name).touch()
        feed = Feed(case)
        feed.add(20)
        case.config({"a": fed()}, sinks=log("small/out.jsonl"))
        run = case.start("run", "--config", "config.json")
        case.until(lambda: run.told("ENOSPC", "out.jsonl", level="error"), "it says that the disk is full", run=run)
        time.sleep(0.5)
        hold(run.running, "it waits", seen=run.tail)
        (small / "one").unlink()
        case.until(lambda: len(case.lines("small/out.jsonl")) == 20, "everything arrives", run=run)
        run.stop().exits(0)
        same(ids(case, "small/out.jsonl"), feed.all, "events")
        same(len(run.told("ENOSPC", level="error")), 1, "it is said once")
        hold(run.told("recovered", level="warning"), "the recovery is said")
    finally:
        unmount(small)


@check
def rotation_without_traffic(case):
    """A period that ends while nothing comes: the file is set aside all the same, and no empty file is."""
    feed = Feed(case)
    feed.add(5)
    case.config({"a": fed()}, sinks=log(rotate={"every": "2s"}))
    run = case.start("run", "--config", "config.json")

    def old():
        return sorted(one.name for one in case.folder.glob("out-*.jsonl"))

    case.until(lambda: len(old()) == 1 and not case.lines(), "the file is set aside", run=run, most=10)
    time.sleep(2.5)
    same(len(old()), 1, "files that were set aside, after a period without events")
    run.stop().exits(0)
    same(ids(case, old()[0]), feed.all, "events")


@check
def a_symbolic_link(case):
    """A link is followed: lines go where it leads, old files stand there, and the link stays."""
    (case.folder / "real").mkdir()
    os.symlink("real/data.jsonl", case.folder / "out.jsonl")
    feed = Feed(case)
    feed.add(50, 200)
    case.config({"a": fed()}, sinks=log(rotate={"size": "4KiB", "gzip": bool(shutil.which("gzip"))}))
    case.once()
    hold((case.folder / "out.jsonl").is_symlink(), "the link stays")
    same(list(case.folder.glob("out-*")), [], "old files beside the link")
    found = []
    for path in sorted((case.folder / "real").iterdir(), key=lambda one: (one.name == "data.jsonl", one.name)):
        text = path.read_bytes()
        text = gzip.decompress(text) if path.suffix == ".gz" else text
        found += [json.loads(line)["id"] for line in text.splitlines()]
    hold(len(list((case.folder / "real").iterdir())) > 2, "there are old files where it leads")
    same(sorted(map(int, found)), list(range(1, 51)), "events")


@check
def a_named_pipe(case):
    """A named pipe gets whole lines while somebody reads; rotation does not apply to it, and it says so."""
    os.mkfifo(case.folder / "out.jsonl")
    with open(case.folder / "read", "wb") as out:
        reader = subprocess.Popen(["cat", str(case.folder / "out.jsonl")], stdout=out)
    # Held open: the pipe has a reader, and one that does not see its end, before the program starts.
    writer = os.open(case.folder / "out.jsonl", os.O_WRONLY)
    try:
        feed = Feed(case)
        feed.add(40, 20_000)
        case.config({"a": fed()}, sinks=log(format="data"))
        case.once()
        feed.add(40, 20_000)
        case.config({"a": fed()}, sinks=log(rotate={"size": "1KiB"}))
        run = case.once()
        hold(run.told("no regular file", level="warning"), "it says that it is not rotated", seen=run.tail)
    finally:
        os.close(writer)
    reader.wait(10)
    lines = [json.loads(line) for line in (case.folder / "read").read_bytes().splitlines()]
    same([line.get("id", line.get("n")) for line in lines], feed.all, "events")
    hold(stat.S_ISFIFO(os.stat(case.folder / "out.jsonl").st_mode), "the pipe is still there")


@check
def standard_output_by_its_path(case):
    """/dev/stdout: lines go to where standard output leads, a pipe or a file; rotation is refused."""
    feed = Feed(case)
    feed.add(20)
    case.config({"a": fed()}, sinks=log("/dev/stdout"))
    run = case.once()
    same([json.loads(line)["id"] for line in run.out.splitlines()], feed.all, "events in a file")
    shutil.rmtree(case.folder / "var")
    run = case.once(wrap=["bash", "-c", '"$@" | cat; exit ${PIPESTATUS[0]}', "--"])
    same([json.loads(line)["id"] for line in run.out.splitlines()], feed.all, "events in a pipe")
    case.config({"a": fed()}, sinks=log("/dev/stdout", rotate={"size": "1KiB"}))
    run = case.once(code=2)
    hold("rotate" in run.err and "/dev/stdout" in run.err, "the error names the option and the path", seen=run.tail)


@check
def a_path_that_is_a_folder(case):
    """A folder in place of the file: said with its name, tried no further, exit 1. What had been read by then is a dead
    letter; what had not is read when the folder has gone."""
    (case.folder / "out.jsonl").mkdir()
    feed = Feed(case)
    feed.add(3)
    case.config({"a": fed()}, sinks=log())
    run = case.once(code=1)
    hold(run.told("EISDIR", "out.jsonl", level="error"), "the error names path and reason", seen=run.tail)
    if run.told("3 events set aside"):
        return
    hold(run.told("0 events emitted"), "nothing is lost", seen=run.tail)
    (case.folder / "out.jsonl").rmdir()
    case.once()
    same(ids(case), feed.all, "everything arrives")


@check
def a_read_only_file_system(case):
    """A file system that may not be written: tried as `retry` says, then dead letters, exit 1; the path is named."""
    small = case.folder / "small"
    mount(small, "64k")
    try:
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        feed = Feed(case)
        feed.add(3)
        case.config({"a": fed()}, sinks=log("small/out.jsonl", {"retry": {"attempts": 2, "base": "10ms", "cap": "20ms"}}))
        run = case.once(code=1)
        hold(run.told("EROFS", "small/out.jsonl", level="error"), "the error names path and reason", seen=run.tail)
        hold(run.told("try 1 of 2", level="warning") or run.told("tried 2 times"), "it was tried again", seen=run.tail)
    finally:
        unmount(small)


@check_each({"renamed": 0, "deleted": 1, "renamed while it is locked by another": 2}, recordings=False)
def a_file_that_goes_away(case, name, how):
    """Renamed or deleted under the sink: it goes on in a new file; where another program has that, it waits for it."""
    feed = Feed(case)
    feed.add(10)
    case.config({"a": fed()}, sinks=log())
    run = case.start("run", "--config", "config.json")
    case.until(lambda: len(case.lines()) == 10, "the first events", run=run)
    path = case.folder / "out.jsonl"
    holder = None
    if how == 1:
        path.unlink()
    else:
        path.rename(case.folder / "old.jsonl")
    if how == 2:
        holder = subprocess.Popen(
            [sys.executable, "-c",
             "import fcntl, sys, time\nfile = open(sys.argv[1], 'a')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
             "print('locked', flush=True)\ntime.sleep(60)\n", str(path)], stdout=subprocess.PIPE)
        holder.stdout.readline()
    time.sleep(0.1)
    feed.add(10)
    if holder:
        case.until(lambda: run.told("locked", "out.jsonl", level="error"), "it says that the file is locked", run=run)
        holder.kill()
        holder.wait()
        holder.stdout.close()
    case.until(lambda: len(case.lines()) == 10, "the next events, in a new file", run=run)
    run.stop().exits(0)
    same(ids(case), feed.all[10:], "events of the new file")
    if how != 1:
        same(ids(case, "old.jsonl"), feed.all[:10], "events of the old file")
