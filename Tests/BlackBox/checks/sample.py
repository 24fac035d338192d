"""The sample config of the repository, from its recording."""

import json
import shutil
import subprocess

from support.recorded import ROOT
from support.registry import check
from support.verdict import Skip, hold, same

SOURCES = {
    "rxswift": "com.github.event.",
    "trending": "com.github.",
    "earth": "gov.nasa.eonet.",
    "jokes": "io.chucknorris.joke",
}
KINDS = (
    "com.github.event.",
    "com.github.repository.trending",
    "gov.nasa.eonet.category",
    "gov.nasa.eonet.event",
    "io.chucknorris.joke",
)


def sample(case):
    """The config and its recording, in the folder of the check. Its state and its output go there too."""
    for name in ("config.json", "Recordings/demo.har"):
        if not (ROOT / name).is_file():
            raise Skip(f"needs {name} of the repository, which is not there")
        case.write(name, (ROOT / name).read_bytes())


def alone():
    """The command that runs another one in a network namespace without a network."""
    for one in (["unshare", "-n"], ["unshare", "-rn"]):
        if shutil.which("unshare") and subprocess.run([*one, "true"], capture_output=True).returncode == 0:
            return one
    raise Skip("needs the right to make a network namespace (unshare -n)")


def all_recorded(case):
    events = case.events("out/feedbus.jsonl")
    for kind in KINDS:
        hold(
            any(one.type.startswith(kind) for one in events),
            f"there are events of {kind}",
            seen=sorted({one.type for one in events}),
        )
    for one in events:
        same(one.all.get("recorded"), True, f"the mark of {one!r}")
        hold(one.type.startswith(SOURCES[one.node]), "the type fits the source", seen=one)
    return events


@check
def offline_once(case):
    """`--offline --once` prints all kinds of events, each marked as recorded, and exits 0. The next run has nothing new: its screen
    begins with the last 50 events of GitHub, from disk."""
    sample(case)
    run = case.once("--offline")
    events = all_recorded(case)
    first = run.out.decode().splitlines()
    same(len(first), len(events), "lines on the console, one an event")
    same([one for one in run.records if one.level in ("warning", "error")], [], "warnings")
    run = case.once("--offline")
    same(len(case.events("out/feedbus.jsonl")), len(events), "events after a second run")
    again = run.out.decode().splitlines()
    activity = sum(one.node in ("rxswift", "trending") for one in events)
    same(len(again), min(50, activity), "lines on the console of a second run")
    same([line for line in first if line in again], again, "they are those of the first run, in its order")


@check
def check_accepts_it(case):
    """`check config.json` finds nothing."""
    sample(case)
    case.start("check", "config.json").wait().exits(0)


@check
def offline_for_a_while(case):
    """A long run from the recording: joke after joke, and a clean end by itself."""
    sample(case)
    run = (
        case.start(
            "run", "--config", "config.json", "--offline", "--for", "3500ms", "--set", "sources.jokes.with.every=1s"
        )
        .wait(20)
        .exits(0)
    )
    jokes = [one for one in all_recorded(case) if one.node == "jokes"]
    hold(len(jokes) >= 3, "jokes in three and a half seconds", seen=len(jokes))
    hold(3.4 < run.seconds < 8, "the time it ran", seen=f"{run.seconds:.1f} s")


@check
def without_a_network(case):
    """A plain run where there is no network: the recording answers, which is said once a source, at warning level."""
    sample(case)
    run = case.once(wrap=alone())
    all_recorded(case)
    for name in SOURCES:
        said = [one for one in run.told("recording") if one.node == name]
        same([one.level for one in said], ["warning"], f"the word of {name} about the recording: {said}")
        hold("demo.har" in said[0].line, "it names the recording", seen=said[0])
        hold(f"{name}:" not in said[0].text, "the node is named once", seen=said[0])


@check
def without_a_network_and_a_recording(case):
    """The same without `http.offline`: an error a source that names its URL, exit 1, no event."""
    sample(case)
    wrap = alone()
    text = (case.folder / "config.json").read_text()
    case.write(
        "config.json",
        text.replace('"offline": "Recordings/demo.har"', '"user_agent": "x"').replace(
            '"user_agent": "feedbus (+https://github.com/you/yours)",', ""
        ),
    )
    sets = [text for name in SOURCES for text in ("--set", f'sources.{name}.retry={{"attempts": 1}}')]
    run = case.once(*sets, wrap=wrap, code=1)
    same(case.lines("out/feedbus.jsonl"), [], "events")
    for name, host in (("rxswift", "api.github.com"), ("trending", "api.github.com"), ("earth", "eonet.gsfc.nasa.gov")):
        run.one_error(name, host)
    hold(
        run.told(r"\bjokes\b", "api.chucknorris.io", level="warning"),
        "the joke that could not be had is counted",
        seen=run.tail,
    )


@check
def the_jokes_are_spanish(case):
    """With Apertium on this machine the sample's jokes are translated, without marks of unknown words."""
    sample(case)
    if not shutil.which("apertium"):
        raise Skip("needs the program apertium (apt: apertium apertium-eng-spa)")
    if not {"eng-spa", "en-es"} & set(
        subprocess.run(["apertium", "-l"], capture_output=True, text=True).stdout.split()
    ):
        raise Skip("needs Apertium's English-Spanish pair (apt: apertium-eng-spa)")
    case.start(
        "run", "--config", "config.json", "--offline", "--for", "3500ms", "--set", "sources.jokes.with.every=1s"
    ).wait(20).exits(0)
    jokes = [json.loads(one.data) for one in case.events("out/feedbus.jsonl") if one.node == "jokes"]
    hold(jokes, "there are jokes")
    for one in jokes:
        same(one["translationLanguageCode"], "es", "the language")
        hold(one["translatedValue"] and one["translatedValue"] != one["value"], "translated", seen=one)
        hold("*" not in one["translatedValue"], "no marks of unknown words", seen=one["translatedValue"])


@check
def without_apertium(case):
    """Where Apertium is missing the sample still runs: the jokes go on untranslated, and it is said how to get it."""
    sample(case)
    run = case.once("--offline", env={"PATH": "/nonexistent"}, code=None)
    hold(run.code in (0, 2), "the exit", seen=f"{run.code}: {run.tail}")
    hold("apertium" in run.err.lower(), "the log names apertium", seen=run.tail)
    if run.code == 0:
        jokes = [one for one in all_recorded(case) if one.node == "jokes"]
        hold(jokes and all(one.all.get("translationerror") for one in jokes), "jokes are marked", seen=jokes)


@check
def one_warning_for_a_source_that_the_recording_answers(case):
    """Without a network the log says once for each source that the recording answers, however often it polls."""
    sample(case)
    arguments = ["run", "--config", "config.json", "--set", "sources.jokes.with.every=1s", "--for", "5s"]
    run = case.start(*arguments, wrap=alone()).wait(30)
    said = run.told(r"\bjokes\b", "the recording .* answers instead")
    same(len(said), 1, "warnings for the source")
    hold(len([one for one in case.events("out/feedbus.jsonl") if one.node == "jokes"]) > 1, "several polls", seen=run.tail)
