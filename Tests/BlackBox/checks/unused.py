"""Looks back: was every recording used?"""

from support import recorded
from support.registry import check
from support.verdict import same


@check(recordings=True, last=True)
def every_recording_is_used(case):
    """No file of these kinds was left out by the checks before."""
    for kind in (
        "github-events",
        "github-search",
        "github-webhook-payloads",
        "eonet",
        "jokes",
        "gharchive",
        "jsonl-odd",
    ):
        same(
            [name for name in recorded.all_files(kind) if name not in recorded.used],
            [],
            f"files of {kind} that no check reads",
        )
