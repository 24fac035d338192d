"""GitHub events made by hand: as few members as will do, with blanks that must go."""


def event(number):
    return (
        f'{{ "id": "{number}", "type": "WatchEvent", "actor": {{"login": "x"}}, "repo": {{"id": 1, "name": "a/b"}}, '
        f'"payload": {{"action": "started"}}, "public": true, "created_at": "2026-01-01T00:00:{int(number) % 60:02}Z" }}'
    )


def page(count, first=1):
    """`count` events, numbered from `first`, the newest in front."""
    return "[" + ",\n ".join(event(number) for number in range(first + count - 1, first - 1, -1)) + "]"
