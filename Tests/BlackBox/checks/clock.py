"""A wall clock that jumps while feedbus runs (with libfaketime)."""

import contextlib
import glob
import os
import re
import time
from email.utils import formatdate

from support.registry import check_each
from support.upstream import Answer
from support.verdict import Skip, hold, same

JUMPS = {"a day on": "+1d", "a day back": "-1d", "ten years on": "+10y", "three years back": "-3y"}


def feed(count, name="a/b"):
    return (
        "["
        + ",".join(
            f'{{"id":"{number}","type":"WatchEvent","repo":{{"name":"{name}"}},"created_at":"2026-01-01T00:00:00Z"}}'
            for number in range(count, 0, -1)
        )
        + "]"
    )


class Clock:
    """The program's wall clock: it runs as it should until it is told otherwise. Its steady clock is left alone."""

    def __init__(self, case):
        found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1") + glob.glob("/usr/lib/faketime/libfaketime.so.1")
        if not found:
            raise Skip("needs libfaketime (apt: libfaketime)")
        self.sweep()
        self.file = case.folder / "clock"
        self.set("+0")
        # Swift looks for the arguments beside the environment: a variable that libfaketime would add is there beforehand,
        # so that the environment stays where it is.
        self.env = {
            "FAKETIME_SHARED": "/none-there /none-there",
            "LD_PRELOAD": found[0],
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, offset):
        new = self.file.with_name("clock-new")
        new.write_text(offset + "\n")
        new.rename(self.file)

    @staticmethod
    def sweep():
        """Takes away what libfaketime leaves of processes that are killed: one that gets the same number would not start."""
        for path in glob.glob("/dev/shm/faketime_shm_*") + glob.glob("/dev/shm/sem.faketime_sem_*"):
            if not os.path.exists(f"/proc/{path.rsplit('_', 1)[1]}"):
                with contextlib.suppress(OSError):
                    os.unlink(path)

    @staticmethod
    def jumped(run):
        """The last line of the log is of another day: else nothing was tried."""
        last = run.err.splitlines()[-1][:10]
        hold(re.fullmatch(r"\d{4}-\d\d-\d\d", last), "the log begins with the date", seen=run.tail)
        if last in (time.strftime("%Y-%m-%d", time.gmtime(time.time() - more)) for more in (0, 60)):
            raise Skip("libfaketime does not reach the program's clock")


@check_each(JUMPS, recordings=False)
def polls_go_on(case, name, offset):
    """After a jump the polls come as before: none in a burst, none missing, no event lost or twice."""
    clock = Clock(case)
    up = case.upstream()
    up.on("/repos/a/b/events", lambda asked: feed(len(up.asked)))
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", every="1s")})
    run = case.start("run", "--config", "config.json", env=clock.env)
    case.until(lambda: len(up.asked) >= 2, "two polls", run=run)
    before = len(up.asked)
    clock.set(offset)
    began = time.monotonic()
    case.until(lambda: len(up.asked) >= before + 3, "three polls more", most=10, run=run)
    took = time.monotonic() - began
    hold(took > 1.5, "no burst after the jump: three polls take two seconds at least", seen=f"{took:.2f} s")
    run.stop().exits(0)
    clock.jumped(run)
    same([one.id for one in case.events()], [str(number) for number in range(1, len(up.asked) + 1)], "the events")


@check_each({"a day on": "+1d", "a day back": "-1d"}, recordings=False)
def a_wait_is_as_long_as_asked(case, name, offset):
    """A jump in the middle of a wait that the service asked for: neither cut short nor drawn out; by Retry-After, as a
    date, and by a rate limit's reset."""
    clock = Clock(case)
    waits = {
        "seconds": lambda: Answer("{}", 429, {"Retry-After": "2"}),
        "date": lambda: Answer("{}", 503, {"Retry-After": formatdate(time.time() + 2, usegmt=True)}),
        "reset": lambda: Answer(
            '{"message":"API rate limit exceeded"}',
            403,
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "60", "X-RateLimit-Reset": str(int(time.time()) + 2)},
        ),
    }
    services = {}
    for node, answer in waits.items():
        services[node] = case.upstream()
        services[node].on("/repos/a/b/events", lambda asked, answer=answer: answer(), feed(2))
    case.config({node: case.source("GitHubEvents", up, repo="a/b", every="1s") for node, up in services.items()})
    run = case.start("run", "--config", "config.json", "--once", env=clock.env)
    for node, up in services.items():
        case.until(lambda: len(up.asked) >= 1, f"the first request of {node}", run=run)
    case.until(
        lambda: all(run.told(rf"\b{node}\b", "waits|again") for node in services), "a word about each wait", run=run
    )
    clock.set(offset)
    run.wait(15).exits(0)
    clock.jumped(run)
    for node, up in services.items():
        same(len(up.asked), 2, f"requests of {node}")
        gap = up.asked[1].at - up.asked[0].at
        hold(0.9 < gap < 8, f"the wait of {node}", expected="1 to 8 s", seen=f"{gap:.2f} s")
    same(len(case.events()), 6, "events")
