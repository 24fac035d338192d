"""JSON as text: taken apart and made shorter without changing a byte of what it says."""

import json
import re

BLANKS = re.compile(r"[ \t\r\n]*")
STRING_OR_BLANKS = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', re.S)
DECODER = json.JSONDecoder(strict=False)


def text_of(content):
    """Bytes as text. An error here is an error of the test data, or of the program's output."""
    return content.decode("utf-8") if isinstance(content, (bytes, bytearray)) else content


def minified(content):
    """Without the blanks between its tokens."""
    return STRING_OR_BLANKS.sub(lambda found: found.group(1) or "", text_of(content))


def elements(content):
    """The texts of an array's elements."""
    return [value for _, value in _parts(text_of(content), "[", "]")]


def members(content):
    """(key, text of the value) of each member of an object, in order, repeated keys too."""
    return _parts(text_of(content), "{", "}")


def member(content, key):
    """The text of the first member of that name, or None."""
    return next((value for name, value in members(content) if name == key), None)


def joined(parts):
    """An object's minified text out of (key, text) pairs."""
    return "{" + ",".join(f"{quoted(key)}:{minified(value)}" for key, value in parts) + "}"


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def _parts(text, opening, closing):
    at = BLANKS.match(text).end()
    if text[at : at + 1] != opening:
        raise ValueError(f"no {opening} at the start of {text[:60]!r}")
    at = BLANKS.match(text, at + 1).end()
    found = []
    while text[at : at + 1] != closing:
        key = None
        if opening == "{":
            key, at = DECODER.raw_decode(text, at)
            at = BLANKS.match(text, at).end()
            if text[at : at + 1] != ":":
                raise ValueError(f"no colon at {at} of {text[:60]!r}")
            at = BLANKS.match(text, at + 1).end()
        _, end = DECODER.raw_decode(text, at)
        found.append((key, text[at:end]))
        at = BLANKS.match(text, end).end()
        if text[at : at + 1] == ",":
            at = BLANKS.match(text, at + 1).end()
        elif text[at : at + 1] != closing:
            raise ValueError(f"no comma at {at} of {text[:60]!r}")
    return found


def strict(text):
    """The value of a JSON text; NaN and the like are refused, as RFC 8259 has them not."""

    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)
