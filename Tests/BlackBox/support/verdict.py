"""What a check can say: nothing (it holds), Wrong, or Skip."""


class Wrong(Exception):
    """The program did not do what it promises."""

    def __init__(self, what, *, expected=None, seen=None):
        parts = [what]
        if expected is not None:
            parts.append(f"expected {brief(expected)}")
        if seen is not None:
            parts.append(f"seen {brief(seen)}")
        super().__init__("; ".join(parts))


class Skip(Exception):
    """The check cannot be tried here, through no fault of the program."""


def brief(value, most=420):
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most - 80]} [... {len(text)} characters ...] {text[-40:]}"


def hold(condition, what, *, expected=None, seen=None):
    if not condition:
        raise Wrong(what, expected=expected, seen=seen)


def same(seen, expected, what):
    """Equal, or say where the two part."""
    if seen == expected:
        return
    if isinstance(seen, (list, tuple)) and isinstance(expected, (list, tuple)):
        at = parting(seen, expected)
        missing = [one for one in expected if one not in seen][:3]
        extra = [one for one in seen if one not in expected][:3]
        raise Wrong(
            f"{what}: {len(seen)} in place of {len(expected)}, first difference at {at}"
            + (f", missing {brief(missing, 200)}" if missing else "")
            + (f", too many {brief(extra, 200)}" if extra else ""),
            expected=expected[at : at + 1],
            seen=seen[at : at + 1],
        )
    if isinstance(seen, (str, bytes)) and type(seen) is type(expected):
        at = parting(seen, expected)
        low = max(0, at - 30)
        raise Wrong(
            f"{what}: differs at {at} of {len(expected)}", expected=expected[low : at + 60], seen=seen[low : at + 60]
        )
    raise Wrong(what, expected=expected, seen=seen)


def parting(one, other):
    """The first index at which two sequences differ."""
    for at, (left, right) in enumerate(zip(one, other)):
        if left != right:
            return at
    return min(len(one), len(other))
