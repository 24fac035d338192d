"""kill -9 at seeded moments: in CI 100 times; `make crash-test` for 1,000 and more."""

from checks.clock import Clock
from support.crash import CrashTest
from support.registry import check


def crash(case, seed, kills, **more):
    test = CrashTest(case, seed, **more)
    try:
        print(f"     {test.run(kills)}", flush=True)
    finally:
        test.close()


@check
def killed_sixty_times(case):
    """kill -9 while it starts, polls, writes, syncs, rotates, packs, saves cursors and replays: every event is there, whole, and repeats are of the last moment."""
    crash(case, 20261130, 60)


@check
def killed_on_a_disk_that_is_full_now_and_then(case):
    """The same while output and state stand on a disk that is full again and again."""
    crash(case, 7, 25, full_disk=True)


@check
def killed_while_the_clock_is_set(case):
    """The same while the wall clock is set on and back, by hours and by months."""
    crash(case, 11, 15, clock=Clock(case))
