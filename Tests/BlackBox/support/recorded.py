"""The recorded answers beside the checkout, and a service that gives them as the real one would."""

import json
import os
import threading
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from support.jsontext import elements
from support.upstream import Answer
from support.verdict import Skip

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("FEEDBUS_SHARED") or ROOT.parent / "shared")
DATA = FOLDER / "data"

# Which files were read, so that one check can say which were not.
used = set()
_lock = threading.Lock()

# Headers that describe how the recording was sent; ours is sent anew.
HOP = {"content-length", "content-encoding", "transfer-encoding", "connection", "status", "keep-alive"}


def here():
    return DATA.is_dir()


def path(name):
    """The path of a file under data/, noted as used."""
    if not here():
        raise Skip(f"needs the recorded answers, and {DATA} is not there (set FEEDBUS_SHARED)")
    found = DATA / name
    if not found.is_file():
        raise Skip(f"needs the recorded answer {name}, which is not under {DATA}")
    with _lock:
        used.add(name)
    return found


def text(name):
    return path(name).read_text(encoding="utf-8")


def all_files(kind):
    return sorted(f"{kind}/{one.relative_to(DATA / kind)}" for one in (DATA / kind).rglob("*") if one.is_file())


class Exchange:
    """One recorded request and its answer."""

    def __init__(self, line):
        value = json.loads(line)
        self.method = value["request"]["method"]
        self.url = value["request"]["url"]
        self.sent = value["request"].get("body")
        parts = urlsplit(self.url)
        self.path = parts.path
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.origin = f"{parts.scheme}://{parts.netloc}"
        answer = value["response"]
        self.status = answer["status"]
        self.headers = [(name, text) for name, text in answer["headers"]]
        self.body = answer["body"] or ""
        if answer.get("body_encoding") not in (None, "utf-8"):
            raise ValueError(f"a body in {answer['body_encoding']}")

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def is_list(self):
        return self.body.lstrip()[:1] == "["

    @property
    def elements(self):
        return elements(self.body)

    def answer(self, local, asked=None):
        """As the service gave it, its links led to `local`; a 304 where the request carries the recorded validator."""
        headers = [(name, value) for name, value in self.headers if name.lower() not in HOP]
        headers = [
            (name, value.replace(self.origin, local) if name.lower() in ("link", "location") else value)
            for name, value in headers
        ]
        tag = self.header("ETag")
        given = asked.headers.get("If-None-Match") if asked else None
        if tag and given and given.removeprefix("W/") == tag.removeprefix("W/"):
            # GitHub answers with the strong form of the weak validator that it was sent.
            kept = [(name, value) for name, value in headers if name.lower() not in ("etag", "content-type", "link")]
            return Answer(b"", 304, [*kept, ("ETag", tag.removeprefix("W/"))])
        gzipped = (self.header("Content-Encoding") or "").lower() == "gzip"
        chunked = (self.header("Transfer-Encoding") or "").lower() == "chunked"
        return Answer(
            self.body,
            self.status,
            headers,
            coding="gzip" if gzipped else None,
            framing="chunked" if chunked else "length",
        )


def exchanges(name):
    return [Exchange(line) for line in text(name).split("\n") if line.strip()]
