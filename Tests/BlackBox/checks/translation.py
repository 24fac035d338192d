"""The Translation stage on the recorded answers of five services, and on the local Apertium."""

import json
import shutil
import subprocess
import time
from urllib.parse import parse_qs

from support import recorded
from support.jsontext import joined, members, quoted
from support.registry import check
from support.upstream import Answer
from support.verdict import Skip, hold, same

KEY = "geheim-4711:fx"
JSON_FORM = "application/json"


def joke(text, name="j", language=None):
    tail = f',"languageCode":{quoted(language)}' if language else ""
    return f'{{"id":"{name}","value":{quoted(text)}{tail}}}'


# What each service must be asked: path, and (text, source, target) out of the request.


def fields(asked):
    if (asked.headers.get("Content-Type") or "").startswith(JSON_FORM):
        return json.loads(asked.body)
    return {
        name: texts[0] for name, texts in parse_qs(asked.body.decode(), keep_blank_values=True).items()
    } | asked.query


def one_text(value):
    return value[0] if isinstance(value, list) else value


def libretranslate(asked):
    form = fields(asked)
    return one_text(form["q"]), form["source"], form["target"]


def google(asked):
    form = fields(asked)
    same(form.get("format"), "text", "Google is told that it is no HTML, or it would answer with entities")
    return one_text(form["q"]), form["source"], form["target"]


def deepl(asked):
    form = fields(asked)
    return one_text(form["text"]), form["source_lang"].lower(), form["target_lang"].lower()


def yandex(asked):
    form = fields(asked)
    return form["text"], *form["lang"].split("-")


def apy(asked):
    form = fields(asked)
    codes = {"eng": "en", "spa": "es"}
    return form["q"], *(codes[one] for one in form["langpair"].split("|"))


SERVICES = {
    "libretranslate": ("/translate", libretranslate),
    "google": ("/language/translate/v2", google),
    "deepl": ("/v2/translate", deepl),
    "yandex": ("/api/v1.5/tr.json/translate", yandex),
    "apertium-apy": ("/translate", apy),
}
KEYED = {"libretranslate", "google", "deepl", "yandex"}


class Work:
    """Many translations in one run: each a source with one text, a stage, and a service of its own."""

    def __init__(self, case):
        self.case = case
        self.rows = []

    def add(self, name, service, text, to, answer, expected=None, language="en", **stage):
        up = self.case.upstream()
        path, read = SERVICES[service]
        self.body = joke(text, name, language)
        up.on("/jokes/random", self.body)
        for method in ("POST", "GET"):
            up.on(
                path,
                answer if isinstance(answer, Answer) else (lambda asked, answer=answer: answer.answer(up.url)),
                method=method,
            )
        self.rows.append((name, service, text, to, expected, language, up, stage))

    def run(self):
        sources, stages = {}, {}
        for name, service, _, to, _, language, up, more in self.rows:
            sources[name] = self.case.source("Jokes", up)
            provider = {"name": service, "base_url": up.url}
            if service in KEYED:
                provider["api_key"] = {"secret": "env:TRANSLATE_KEY"}
            stages[f"{name}-{to.lower()}"] = {
                "plugin": "Translation",
                "from": [name],
                "with": {"to": to, "from": language, "provider": provider},
                "retry": {"attempts": 2, "base": "10ms", "cap": "20ms"},
                **more,
            }
        self.case.config(sources, stages)
        run = self.case.once(env={"TRANSLATE_KEY": KEY}, most=60)
        hold(KEY not in run.err and KEY not in run.out.decode(), "no key on stderr or stdout", seen=run.tail)
        for line in self.case.lines():
            hold(KEY not in line, "no key in an event", seen=line)
        self.check_requests()
        return run, self.case.events_by_node()

    def check_requests(self):
        for name, service, text, to, _, language, up, _ in self.rows:
            path, read = SERVICES[service]
            asked = up.requests(path)
            hold(1 <= len(asked) <= 2, f"{name} is asked, and at most once again", seen=up.targets())
            for one in asked:
                seen = read(one)
                same((seen[0], seen[1].lower(), seen[2].lower()), (text, language, to.lower()), f"what {name} is asked")
                whole = one.target + one.body.decode() + str(one.headers)
                same(KEY.replace(":", "%3A") in whole or KEY in whole, service in KEYED, f"the key is sent to {name}")


@check(recordings=True)
def recorded_translations(case):
    """Every recorded translation: asked for in the service's own form, and added to the end of data; nothing else changes."""
    work = Work(case)

    def add(name, service, text, to, answer, expected, language="en"):
        work.add(name, service, text, to, answer, expected, language)

    for name, text, to in (
        ("index11749957459__translate", "Moscow", "ru"),
        ("index46402693589__translate-options1", "sample", "ru"),
        ("kodeco__TestTranslationResponse", "Chuck Norris's beard can type 140 wpm.", "es"),
    ):
        body = recorded.text(f"translate/yandex-v1.5/{name}.json")
        add(f"yandex-{len(work.rows)}", "yandex", text, to, Answer(body), json.loads(body)["text"][0])
    for name, text in (("docs__1", "Hello!"), ("docs__3", '<p class="green">Hello!</p>')):
        body = recorded.text(f"translate/libretranslate/{name}.json")
        add(f"libre-{len(work.rows)}", "libretranslate", text, "es", Answer(body), json.loads(body)["translatedText"])
    (exchange,) = recorded.exchanges("translate/exchanges/google-v2__sher-github-1.jsonl")
    sent = json.loads(exchange.sent)
    add(
        "google-1",
        "google",
        sent["q"],
        sent["target"],
        exchange,
        json.loads(exchange.body)["data"]["translations"][0]["translatedText"],
    )
    fixture = json.loads(recorded.text("translate/google-v2/zulip__test_quotation.json"))
    add(
        "google-2",
        "google",
        fixture["request"]["params"]["q"],
        "en",
        Answer(json.dumps(fixture["response"])),
        fixture["response"]["data"]["translations"][0]["translatedText"],
        "es",
    )
    count = 0
    for file in ("deepl-rb__deepl_translate", "deepl-rb__translate_texts.part1"):
        for exchange in recorded.exchanges(f"translate/exchanges/{file}.jsonl"):
            if exchange.path == "/v2/translate" and exchange.status == 200:
                sent = {key: texts[0] for key, texts in parse_qs(exchange.sent).items()}
                count += 1
                add(
                    f"deepl-{count}",
                    "deepl",
                    sent["text"],
                    sent["target_lang"].lower(),
                    exchange,
                    json.loads(exchange.body)["translations"][0]["text"],
                )
    same(count, 6, "recorded translations of DeepL")
    for line in recorded.text("translate/apertium/reconstructed__answers.jsonl").split("\n"):
        one = json.loads(line) if line else {}
        if "eng|spa" in one.get("request", "") and one["status"] == 200:
            add(
                "apy",
                "apertium-apy",
                "government",
                "es",
                Answer(json.dumps(one["body"], ensure_ascii=False)),
                one["body"]["responseData"]["translatedText"],
            )
    same(len(work.rows), 14, "translations")
    _, events = work.run()
    same(len(events), len(work.rows), "events")
    for name, service, text, to, expected, language, up, _ in work.rows:
        event = events[name]
        body = joined([*members(joke(text, name, language)), ("categories", "[]")])
        data = members(event.data)
        same(joined(data[:4]), body, f"the data of {name} up to what is added")
        same([key for key, _ in data[4:]], ["translatedValue", "translationLanguageCode"], f"what is added to {name}")
        same(json.loads(data[4][1]), expected, f"the translation of {name}")
        same(json.loads(data[5][1]).lower(), to.lower(), f"the language of {name}")
        hold("translationerror" not in event.all, "no error is marked", seen=event)


@check(recordings=True)
def recorded_refusals(case):
    """Every recorded error or other answer: the joke goes on untranslated and marked, the log names stage and URL, exit 0."""
    work = Work(case)
    number = 0

    def add(service, answer):
        nonlocal number
        number += 1
        work.add(f"{service[:5]}-{number}", service, f"Sample text {number}", "es", answer)

    for line in recorded.text("translate/libretranslate/reconstructed__errors.jsonl").split("\n"):
        one = json.loads(line) if line else None
        if one and one["status"] != 429:  # that one is a wait
            add("libretranslate", Answer(json.dumps(one["body"]), one["status"]))
    add("libretranslate", Answer(recorded.text("translate/libretranslate/docs__5.json")))
    refused = recorded.text("translate/yandex-v1.5/index15531571057__error-401.json")
    for status in (200, 401, 403, 400):
        add("yandex", Answer(refused, status))
    add("yandex", Answer(recorded.text("translate/yandex-v1.5/nickname55__getLangs-ru.json")))
    for name in ("403", "languages"):
        fixture = json.loads(recorded.text(f"translate/google-v2/zulip__test_{name}.json"))
        add("google", Answer(json.dumps(fixture["response"]), fixture["response-headers"]["status"]))
    for exchange in recorded.exchanges("translate/exchanges/google-v2__sher-github-3.jsonl"):
        add("google", exchange)
    for file in ("deepl_languages", "languages", "translate_texts.part1"):
        for exchange in recorded.exchanges(f"translate/exchanges/deepl-rb__{file}.jsonl"):
            if "/languages" in exchange.path or exchange.status >= 400:
                add("deepl", exchange)
    for line in recorded.text("translate/apertium/reconstructed__answers.jsonl").split("\n"):
        one = json.loads(line) if line else {}
        if one and "eng|spa" not in one["request"]:
            add("apertium-apy", Answer(json.dumps(one["body"]), one["status"]))
    hold(len(work.rows) >= 20, "refusals", seen=len(work.rows))
    run, events = work.run()
    same(len(events), len(work.rows), "events")
    for name, service, text, to, _, language, up, _ in work.rows:
        event = events[name]
        same(
            event.data,
            joined([*members(joke(text, name, language)), ("categories", "[]")]),
            f"the data of {name}, untranslated",
        )
        hold(event.all.get("translationerror"), f"{name} is marked with translationerror", seen=event)
        hold(run.told(rf"\b{name}-es\b", up.url), f"the log names stage {name}-es and its URL", seen=run.tail)


@check
def answers_that_are_nonsense(case):
    """Bad answers of a translation service, each to a stage of its own: the joke goes on untranslated and marked, the log
    names stage and URL, and says no more than fits on a line."""
    work = Work(case)
    good = '{"translatedText":"Muestra"}'
    answers = {
        "html": Answer("<html><h1>Whoa</h1></html>", media="text/html"),
        "empty": Answer(""),
        "cut": Answer(good[:12]),
        "null": Answer("null"),
        "number": Answer('{"translatedText":7}'),
        "list": Answer('{"translatedText":["Muestra"]}'),
        "nothing": Answer("", 204),
        "deep": Answer("[" * 50_000),
        "broken-off": Answer(good, cut=9),
        "status": Answer(good, 500),
        "html-502": Answer("<html>\n" * 400, 502),
        "redirect": Answer("", 302, {"Location": "file:///etc/passwd"}),
        "no-http": Answer(raw=b"220 smtp ready\r\n"),
        "huge": Answer('{"translatedText":"' + "x" * (20 << 20) + '"}'),
        "not-utf8": Answer(b'{"translatedText":"\xff\xfe"}'),
    }
    for name, answer in answers.items():
        work.add(name, "libretranslate", f"Sample {name}", "es", answer)
    run, events = work.run()
    same(len(events), len(answers), "events")
    for name, *_, up, _ in work.rows:
        if name == "not-utf8" and "translationerror" not in events[name].all:
            continue  # repaired: as good as refused
        same(
            events[name].data,
            joined([*members(joke(f"Sample {name}", name, "en")), ("categories", "[]")]),
            f"the data of {name}, untranslated",
        )
        hold(events[name].all.get("translationerror"), f"{name} is marked with translationerror", seen=events[name])
        said = run.told(rf"\b{name}-es\b", up.url, level="warning")
        hold(len(said) == 1 and len(said[0].line) < 700, f"one line about {name}", seen=said)


@check
def what_on_error_says(case):
    """A translation that cannot be had: pass lets the event go on, drop leaves it out and says so, fail ends with exit 1."""
    for policy, count, code in (("pass", 1, 0), ("drop", 0, 0), ("fail", 0, 1)):
        up = case.upstream()
        up.on("/jokes/random", joke("Sample", policy)).on(
            "/translate", Answer('{"error":"Invalid API key"}', 403), method="POST"
        )
        provider = {"name": "libretranslate", "base_url": up.url}
        case.config(
            {"jokes": case.source("Jokes", up)},
            {
                "es": {
                    "plugin": "Translation",
                    "from": ["jokes"],
                    "with": {"to": "es", "provider": provider},
                    "on_error": policy,
                }
            },
            {"log": {"plugin": "JSONLines", "from": ["es"], "with": {"path": f"{policy}.jsonl"}}},
            feedbus={"state": f"state-{policy}"},
        )
        run = case.once(code=code)
        same(len(case.events(f"{policy}.jsonl")), count, f"events with on_error {policy}")
        hold(run.told(r"\bes\b", "Invalid API key"), "the service's words", seen=run.tail)
        if policy == "fail":
            # Nothing is lost: it is a dead letter, and with a service that works the joke comes.
            up.on("/translate", '{"translatedText":"Muestra"}', method="POST")
            case.start("replay", "--dead-letters").wait().exits(0)
            same(
                [json.loads(one.data)["translatedValue"] for one in case.events("fail.jsonl")],
                ["Muestra"],
                "the replay of dead letters",
            )


@check(recordings=True)
def too_many_requests_is_a_wait(case):
    """LibreTranslate's recorded 429: no second request at once; a stop ends the wait at once, and the joke comes with the
    next run."""
    up = case.upstream()
    line = next(
        one
        for one in recorded.text("translate/libretranslate/reconstructed__errors.jsonl").split("\n")
        if '"status": 429' in one
    )
    up.on("/jokes/random", joke("Sample", "late"))
    up.on("/translate", Answer(json.dumps(json.loads(line)["body"]), 429, {"Retry-After": "30"}), method="POST")
    provider = {"name": "libretranslate", "base_url": up.url}
    case.config(
        {"jokes": case.source("Jokes", up)},
        {"es": {"plugin": "Translation", "from": ["jokes"], "with": {"to": "es", "provider": provider}}},
        feedbus={"state": "var", "shutdown_grace": "6s"},
    )
    run = case.start("run", "--config", "config.json", "--once")
    case.until(lambda: run.told(r"\bes\b", "429", "wait"), "a word about the wait", run=run)
    began = time.monotonic()
    run.stop()
    took = time.monotonic() - began
    same(len(up.requests("/translate")), 1, "requests while it waits")
    had = [one.id for one in case.events()]
    up.on("/translate", '{"translatedText":"Muestra"}', method="POST")
    case.once()
    same([one.id for one in case.events()], ["late"], f"the joke, in the first or the second run (first: {had})")
    hold(
        took < 4,
        "a stop ends the wait of a stage at once",
        expected="less than 4 s with a grace of 6 s",
        seen=f"{took:.1f} s: {run.tail}",
    )


@check
def the_local_apertium(case):
    """With the provider that is the default: Spanish text without the engine's marks for words that it does not know."""
    if not shutil.which("apertium"):
        raise Skip("needs the program apertium (apt: apertium apertium-eng-spa)")
    modes = subprocess.run(["apertium", "-l"], capture_output=True, text=True).stdout.split()
    if not {"eng-spa", "en-es"} & set(modes):
        raise Skip("needs Apertium's English-Spanish pair (apt: apertium-eng-spa)")
    texts = [
        "The house is red.",
        "Chuck Norris can divide by zero. Zyxwq!",
        'Two lines\nand "quotes" & <b>signs</b> \\ here.',
        "It costs $5 [or less] ^maybe/perhaps$ @home.",
    ]
    up = case.upstream()
    for number, text in enumerate(texts):
        up.on(f"/{number}/jokes/random", joke(text, f"j{number}"))
    case.config(
        {f"j{number}": case.source("Jokes", f"{up.url}/{number}") for number in range(len(texts))},
        {"es": {"plugin": "Translation", "from": [f"j{number}" for number in range(len(texts))], "with": {"to": "es"}}},
    )
    case.once()
    events = case.events_by_node()
    same(len(events), len(texts), "events")
    for number, text in enumerate(texts):
        data = json.loads(events[f"j{number}"].data)
        same(data["value"], text, "the text as it was")
        hold("translationerror" not in events[f"j{number}"].all, "translated", seen=events[f"j{number}"])
        hold(data["translatedValue"] and data["translatedValue"] != text, "translated", seen=data)
        hold("*" not in data["translatedValue"], "no marks of unknown words", seen=data["translatedValue"])
        same(data["translationLanguageCode"], "es", "the language")
        same(data["translatedValue"].count("\n"), text.count("\n"), "lines of the translation")
    hold("casa" in json.loads(events["j0"].data)["translatedValue"].lower(), "a house is a casa", seen=events["j0"])
    hold(
        '"' in json.loads(events["j2"].data)["translatedValue"]
        and "<b>" in json.loads(events["j2"].data)["translatedValue"],
        "signs stay",
        seen=events["j2"],
    )
