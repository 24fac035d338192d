#!/usr/bin/env python3
"""Checks that the documents agree with the program, and writes what can be written from it.

    Docs/check.py                 # check; exit 1 where something is not true
    Docs/check.py --write         # write the tables, the shown files and feedbus.schema.json, then check
    Docs/check.py --feedbus PATH  # another program than .build/release/feedbus

Checked are: the table of options of every built-in plugin (Docs/Plugins.md, from `feedbus describe`); the files that a
document shows; every whole config in a `json` block (with `feedbus check`); links to files and headings; the schema
beside the sample config (`feedbus schema`); and that the plugins in Docs/exec do what is said of them.
Python's standard library only.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = {"sources", "stages", "subjects", "sinks"}
SCHEMA = ROOT / "feedbus.schema.json"
# What the configs of the documents name and a reader has.
ENVIRONMENT = {"GITHUB_TOKEN": "x", "DEEPL_KEY": "x", "PACKAGES_KEY": "x"}

problems = []


def problem(where, words):
    problems.append(f"{where}: {words}")


def documents():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "Docs").glob("*.md"))]


def short(path):
    return str(path.relative_to(ROOT))


class Program:
    def __init__(self, path):
        self.path = str(path)

    def run(self, *arguments, folder=None):
        return subprocess.run([self.path, *arguments], cwd=folder, capture_output=True, text=True, timeout=60,
                              env=os.environ | ENVIRONMENT)

    def plugins(self):
        """(kind, name) of every plugin that `list` names."""
        found, kind = [], None
        for line in self.run("list").stdout.splitlines():
            if heading := re.fullmatch(r"(Source|Stage|Sink)s:", line):
                kind = heading[1].lower()
            elif line.startswith("  ") and kind:
                found.append((kind, line.split()[0]))
        return found

    def options(self, kind, name):
        """The options that `describe` shows: name, what it takes, default, meaning, example."""
        text = self.run("describe", name).stdout
        parts = re.split(r"^(\S+), an? (source|stage|sink)$", text, flags=re.M)[1:]
        body = next(body for _, k, body in zip(parts[::3], parts[1::3], parts[2::3]) if k == kind)
        options, outer, isObject = [], "", False
        for line in body.splitlines():
            depth = len(line) - len(line.lstrip(" "))
            head = re.fullmatch(r" *([a-z_]+): (.*)", line)
            # In the sixth column stands the help of an option, or an option of an object.
            if head and head[1] != "example" and (depth == 2 or depth == 6 and isObject):
                takes, _, default = head[2].partition("; ")
                if depth == 2:
                    outer, isObject = head[1], takes.startswith("object")
                options.append({
                    "name": head[1] if depth == 2 else f"{outer}.{head[1]}", "takes": takes, "help": "", "example": "",
                    "default": default.removeprefix("default ")})
            elif options and depth >= 6:
                words = line.strip()
                if words.startswith("example: "):
                    options[-1]["example"] = words.split(": ", 2)[2]
                else:
                    options[-1]["help"] = f"{options[-1]['help']} {words}".strip()
        return options


def cell(text):
    return text.replace("|", "\\|")


def table(options):
    if not options:
        return "It has no options."
    rows = ["| option | takes | default | meaning |", "| --- | --- | --- | --- |"]
    for option in options:
        default = option["default"]
        default = "required" if default == "required" else f"`{default}`" if default else ""
        example = f"; for example `{option['example']}`" if option["example"] and option["example"] != default.strip("`") else ""
        rows.append("| " + " | ".join(
            [f"`{option['name']}`", cell(option["takes"]), cell(default), cell(option["help"] + example)]) + " |")
    return "\n".join(rows)


LANGUAGES = {".swift": "swift", ".py": "python", ".sh": "sh", ".json": "json"}


def shown(path):
    file = ROOT / path
    if not file.exists():
        return None
    # A first line that only says what the file is (the house's header) is no news to a reader of the page.
    text = re.sub(r"\A// feedbus: .*\n\n", "", file.read_text())
    return f"```{LANGUAGES[file.suffix]}\n{text}```"


def generated(program, mark):
    """The text that belongs between a mark and its end; nothing where the mark is a wrong one."""
    if found := re.fullmatch(r"options of (source|stage|sink) (\w+)", mark):
        return table(program.options(found[1], found[2])) if (found[1], found[2]) in program.plugins() else None
    if found := re.fullmatch(r"file (\S+)", mark):
        return shown(found[1])
    return None


MARKED = re.compile(r"<!-- ((?:options of|file) [^>]*?) -->\n(.*?)<!-- end -->", re.S)


def check_marks(program, write):
    seen = set()
    for path in documents():
        text = path.read_text()

        def renew(match):
            mark = match[1]
            seen.add(mark)
            wanted = generated(program, mark)
            if wanted is None:
                problem(short(path), f"there is nothing to show for the mark \"{mark}\"")
                return match[0]
            if match[2] != wanted + "\n" and not write:
                problem(short(path), f"\"{mark}\" is out of date: run Docs/check.py --write")
            return f"<!-- {mark} -->\n{wanted}\n<!-- end -->"

        renewed = MARKED.sub(renew, text)
        if write and renewed != text:
            path.write_text(renewed)
    for kind, name in program.plugins():
        if f"options of {kind} {name}" not in seen:
            problem("Docs/Plugins.md", f"the {kind} {name} is missing")


def check_configs(program):
    """Every `json` block that is a whole config must be one that feedbus takes."""
    count = 0
    for path in documents():
        for block in re.finditer(r"^```jsonc?\n(.*?)^```", path.read_text(), re.S | re.M):
            text = block[1]
            if not re.match(r"\s*(//[^\n]*\s*)*\{", text) or not all(f'"{s}"' in text for s in ("sources", "sinks")):
                continue
            count += 1
            with tempfile.TemporaryDirectory() as folder:
                copy_helpers(folder)
                (Path(folder) / "config.json").write_text(text)
                result = program.run("check", "config.json", folder=folder)
                if result.returncode:
                    line = path.read_text()[:block.start()].count("\n") + 1
                    problem(f"{short(path)}:{line}", f"feedbus check says: {result.stdout.strip()}{result.stderr.strip()}")
    return count


def copy_helpers(folder):
    shutil.copytree(ROOT / "Docs/exec", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("var", "*.txt"))
    shutil.copytree(ROOT / "Recordings", Path(folder) / "Recordings")


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def check_links():
    for path in documents():
        prose = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, heading = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            if not target.exists():
                problem(short(path), f"a link to {link}, which is not there")
            elif heading and heading not in map(anchor, re.findall(r"^#+ (.*)$", target.read_text(), re.M)):
                problem(short(path), f"a link to {link}: there is no such heading")


def check_schema(program, write):
    wanted = program.run("schema").stdout
    if write:
        SCHEMA.write_text(wanted)
    if not SCHEMA.exists() or SCHEMA.read_text() != wanted:
        problem(short(SCHEMA), "it is out of date: run Docs/check.py --write")


def check_exec(program):
    """The three plugins without Swift: three events go in, three lines come out."""
    with tempfile.TemporaryDirectory() as folder:
        copy_helpers(folder)
        result = program.run("--config", "config.json", "--once", folder=folder)
        notes = Path(folder) / "load.txt"
        lines = notes.read_text().splitlines() if notes.exists() else []
        printed = result.stdout.splitlines()
        if result.returncode or len(lines) != 3 or len(printed) != 3 or not all(" load " in line for line in lines):
            problem("Docs/exec", f"exit code {result.returncode}, {lines}, {printed}, {result.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--feedbus", type=Path, default=ROOT / ".build/release/feedbus")
    parser.add_argument("--write", action="store_true", help="write tables, shown files and the schema")
    options = parser.parse_args()
    if not options.feedbus.exists():
        print(f"SKIPPED: the documents were not checked, as {options.feedbus} is not built")
        return 0
    program = Program(options.feedbus.resolve())
    check_marks(program, options.write)
    check_schema(program, options.write)
    count = check_configs(program)
    check_links()
    check_exec(program)
    for line in problems:
        print(line)
    print(f"documents: {len(documents())} checked, with {count} configs; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
