#!/usr/bin/env python3
"""Makes terminal.svg: the sample config in a terminal of 100 columns and 30 rows, from the first line to Ctrl-C.

    Docs/make_terminal.py [--feedbus .build/release/feedbus] [--output Docs/terminal.svg]

It runs feedbus in tmux, waits for a few jokes, presses Ctrl-C, and draws what tmux shows, colours included. Of many lines
of one kind in a row the first few are drawn, and how many are left out. The picture in the repository is of a machine
without a network (`unshare -rn` makes one of any). Needs tmux; Python's standard library only.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 100, 30
SHOWN = 3  # of many lines of one kind in a row
JOKES = 3
PATIENCE = 120  # seconds for the whole run

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE, MARGIN, TITLE_HEIGHT = 8.4, 19, 14, 16, 30
BACKGROUND, FRAME, FOREGROUND, FAINT = "#14181f", "#232a35", "#d5dae3", "#8b95a5"
PALETTE = {
    30: "#3b4252", 31: "#f07178", 32: "#a5d46a", 33: "#f2c75c", 34: "#7aa2f7", 35: "#d699e0", 36: "#5fc9d8", 37: "#d5dae3",
    90: "#7d879a", 91: "#ff8b92", 92: "#bdf07f", 93: "#ffe08a", 94: "#9dbcff", 95: "#e9b3f2", 96: "#86e3f0", 97: "#ffffff"}


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self, folder):
        self.command = ["tmux", "-L", "feedbus-picture", "-f", "/dev/null"]
        self.run("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(folder),
                 "env", "PS1=$ ", "HISTFILE=", "TZ=UTC", "TERM=tmux-256color", "bash", "--norc", "--noprofile")

    def run(self, *arguments):
        return subprocess.run(self.command + list(arguments), check=True, capture_output=True, text=True).stdout

    def type(self, *keys):
        self.run("send-keys", *keys)

    def lines(self, colours=False):
        """Everything since the start, as the screen and its scrollback show it, without the empty rest."""
        lines = self.run("capture-pane", "-p", "-S", "-", *(["-e"] if colours else [])).split("\n")
        while lines and not re.sub(r"\x1b\[[0-9;]*m", "", lines[-1]).strip():
            lines.pop()
        return lines

    def wait(self, isThere, what, deadline):
        while not isThere(self.lines()):
            if time.monotonic() > deadline:
                sys.exit(f"make_terminal: waited in vain for {what}:\n" + "\n".join(self.lines()[-20:]))
            time.sleep(0.2)

    def close(self):
        subprocess.run(self.command + ["kill-server"], capture_output=True)


def record(feedbus):
    folder = Path("/tmp/feedbus")
    folder.mkdir()  # its name is in the picture: nothing of this machine should be
    terminal = None
    try:
        shutil.copy(ROOT / "config.json", folder)
        shutil.copytree(ROOT / "Recordings", folder / "Recordings")
        (folder / "bin").mkdir()
        (folder / "bin/feedbus").symlink_to(feedbus)
        terminal = Terminal(folder)
        deadline = time.monotonic() + PATIENCE
        terminal.type('PATH="$PWD/bin:$PATH"; clear; tmux clear-history', "Enter")
        terminal.wait(lambda lines: lines == ["$"], "a clear screen", deadline)
        terminal.type("feedbus --config config.json", "Enter")
        terminal.wait(lambda lines: sum(" jokes " in line for line in lines) >= JOKES and quiet(lines), "jokes", deadline)
        terminal.type("C-c")
        terminal.wait(lambda lines: lines[-1] == "$", "the end", deadline)
        return terminal.lines(colours=True)
    finally:
        if terminal:
            terminal.close()
        shutil.rmtree(folder)


def quiet(lines):
    """The last line is a joke: the first rush of events is over."""
    return " jokes " in lines[-1]


def spans(line):
    """The pieces of a line: (text, colour, bold)."""
    colour, bold, dim = None, False, False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b["):
            if part:
                yield part, FAINT if dim else PALETTE.get(colour, FOREGROUND), bold
            continue
        for code in map(int, part[2:-1].split(";") if part[2:-1] else ["0"]):
            if code == 0:
                colour, bold, dim = None, False, False
            elif code == 1:
                bold = True
            elif code == 2:
                dim = True
            elif code == 22:
                bold = dim = False
            elif code == 39:
                colour = None
            elif code in PALETTE:
                colour = code


def plain(line):
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def kind(line):
    """What many lines in a row may have in common: the node, and what is said of it. Nothing for all other lines."""
    found = re.match(r"[ \d:-]+ (earth|rxswift|trending) +(category |#)?", plain(line))
    return found and found.groups()


def shorten(lines):
    """Many lines of one kind in a row become a few and a number."""
    short = []
    while lines:
        same = 1
        while kind(lines[0]) and same < len(lines) and kind(lines[same]) == kind(lines[0]):
            same += 1
        if same > SHOWN + 2:
            short += lines[:SHOWN] + [same - SHOWN]
        else:
            short += lines[:same]
        lines = lines[same:]
    return short


def draw(lines):
    """The rows as SVG. Every word is told its width, so that columns stand below each other in any font."""
    width = MARGIN * 2 + COLUMNS * CELL_WIDTH
    height = TITLE_HEIGHT + MARGIN * 2 + len(lines) * CELL_HEIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
        ' role="img" aria-label="feedbus in a terminal: warnings that the services cannot be reached, then events of'
        ' earth, rxswift, trending and translated jokes, then a clean end after Ctrl-C">',
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{BACKGROUND}"/>',
        f'<path d="M0 {TITLE_HEIGHT}V8a8 8 0 0 1 8-8H{width - 8:g}a8 8 0 0 1 8 8V{TITLE_HEIGHT}z" fill="{FRAME}"/>',
        *(f'<circle cx="{18 + 18 * n}" cy="15" r="5" fill="{c}"/>' for n, c in enumerate(["#f07178", "#f2c75c", "#a5d46a"])),
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', \'Liberation Mono\', monospace"'
        f' font-size="{FONT_SIZE}" xml:space="preserve">']
    for row, line in enumerate(lines):
        y = TITLE_HEIGHT + MARGIN + row * CELL_HEIGHT + CELL_HEIGHT * 0.75
        if isinstance(line, int):
            x = MARGIN + 12 * CELL_WIDTH
            out.append(f'<text x="{x:g}" y="{y:g}" font-style="italic" fill="{FAINT}">⋯ {line} more, left out here</text>')
            continue
        column = 0
        for text, colour, bold in spans(line):
            for word in re.finditer(r"\S+", text):
                x = MARGIN + (column + word.start()) * CELL_WIDTH
                weight = ' font-weight="bold"' if bold else ""
                length = len(word.group()) * CELL_WIDTH
                out.append(f'<text x="{x:.1f}" y="{y:g}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"'
                           f' fill="{colour}"{weight}>{escape(word.group())}</text>')
            column += len(text)
    return "\n".join(out + ["</g>", "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--feedbus", default=ROOT / ".build/release/feedbus", type=Path)
    parser.add_argument("--output", default=ROOT / "Docs/terminal.svg", type=Path)
    options = parser.parse_args()
    if not options.feedbus.exists():
        sys.exit(f"make_terminal: there is no {options.feedbus}; build it with `make build`")
    lines = record(options.feedbus.resolve())
    rows = shorten(lines)
    options.output.write_text(draw(rows))
    print(f"{options.output}: {len(rows)} rows of {len(lines)}")


if __name__ == "__main__":
    main()
