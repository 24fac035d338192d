"""Jokes on every recorded joke, of all four services."""

import json

from support import recorded
from support.jsontext import elements, joined, member, members, quoted
from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import hold, same

TYPES = {
    "chucknorris": "io.chucknorris.joke",
    "icanhazdadjoke": "com.icanhazdadjoke.joke",
    "jokeapi": "dev.jokeapi.joke",
    "official": "com.appspot.official-joke-api.joke",
}
PATHS = {"chucknorris": "/jokes/random", "icanhazdadjoke": "/", "jokeapi": "/joke/Any", "official": "/random_joke"}


def told(service, one):
    """The joke's text in any service's words."""
    if service == "chucknorris":
        return one["value"]
    if service == "icanhazdadjoke":
        return one["joke"]
    if service == "jokeapi":
        return one["joke"] if one["type"] == "single" else f"{one['setup']}\n{one['delivery']}"
    return f"{one['setup']}\n{one['punchline']}"


def compare(event, service, body):
    """All that the service sent, unchanged and in its order, and behind it what is documented and was not there."""
    sent, data = members(body), members(event.data)
    same(joined(data[: len(sent)]), joined(sent), "what the service sent, byte for byte, in front")
    one = json.loads(body)
    added = dict((key, json.loads(text)) for key, text in data[len(sent) :])
    same(set(added), {"id", "value", "categories", "languageCode"} - set(one), "the members that are added")
    whole = json.loads(event.data)
    same(str(whole["id"]), str(one["id"]), "id")
    same(whole["value"], told(service, one), "value")
    same(whole["languageCode"], one.get("lang", "en"), "languageCode")
    hold(isinstance(whole["categories"], list), "categories is a list", seen=whole["categories"])
    same(event.type, TYPES[service], "the type")


def ask_all(case, service, bodies):
    """As many sources as there are jokes, each with a service of its own path; one run. Gives the events by source."""
    up = case.upstream()
    for number, body in enumerate(bodies):
        up.on(f"/{number}{PATHS[service]}", body)
    case.config(
        {f"j{number}": case.source("Jokes", f"{up.url}/{number}", service=service) for number in range(len(bodies))}
    )
    run = case.once(most=60)
    for asked in up.requests():
        same(asked.headers.get("Accept"), "application/json", "what is asked for")
        hold(asked.headers.get("User-Agent"), "an own User-Agent is sent")
    return up, run


def all_told(case, service, bodies):
    ask_all(case, service, bodies)
    events = {one.node: one for one in case.events()}
    same(len(case.lines()), len(bodies), "jokes")
    for number, body in enumerate(bodies):
        compare(events[f"j{number}"], service, body)
    case.once(most=60)
    same(len(case.events()), len(bodies), "jokes after a second run on the same ones")
    return list(events.values())


CHUCK = {
    "kodeco__SampleJoke": lambda text: hold("\\/" in text, "slashes are escaped"),
    "chuck-api__readme-random": lambda text: hold('47:39.43184"' in text, "a fraction of five digits"),
    "index42658781035__random-oneline": lambda text: hold(not json.loads(text)["categories"], "no categories"),
    "chuck-api-issue18__random-two-categories": lambda text: same(
        json.loads(text)["categories"], ["movie"], "the category"
    ),
    "index16985857270__old-format-2016": lambda text: hold(
        "\\u0027" in text and "categories" not in json.loads(text), "the old form"
    ),
    "index17449049627__random-dev-1": lambda text: same(json.loads(text)["categories"], ["dev"], "the category"),
}


@check(recordings=True)
def chucknorris(case):
    """All recorded jokes of chucknorris.io: the text unchanged, only what is missing is added at the end."""
    bodies = []
    for name, odd in CHUCK.items():
        text = recorded.text(f"jokes/chucknorris/{name}.json")
        odd(text)
        bodies.append(text)
    all_told(case, "chucknorris", bodies)


@check(recordings=True)
def one_source_one_joke_a_poll(case):
    """The same source asked again and again: another joke each time; one that was told is not told again."""
    up = case.upstream()
    bodies = [recorded.text(f"jokes/chucknorris/{name}.json") for name in CHUCK]
    up.on("/jokes/random", *bodies)
    case.config({"jokes": case.source("Jokes", up, every="1s", category="dev,movie")})
    for number, body in enumerate(bodies, 1):
        case.once()
        same(len(case.events()), number, "jokes so far")
        compare(case.events()[-1], "chucknorris", body)
    up.forget().on("/jokes/random", *bodies[:2])
    for _ in range(2):
        case.once()
    same(len(case.events()), len(bodies), "jokes after two that were told")
    same({one.query.get("category") for one in up.requests()}, {"dev,movie"}, "the category asked for")


@check(recordings=True)
def chucknorris_has_no_such_category(case):
    """The recorded 404: no joke, one line that names node, URL and the service's words; exit 0, as it is only counted."""
    up = case.upstream()
    body = recorded.text("jokes/chucknorris/index17449049627__error-404-category.json")
    up.on("/jokes/random", Answer(body, 404))
    case.config({"jokes": case.source("Jokes", up, category="tets")})
    run = case.once(code=0)
    same(case.lines(), [], "jokes")
    same(len(up.asked), 1, "requests: a 404 is not tried again")
    hold(
        run.told(r"\bjokes\b", f"{up.url}/jokes/random", "No jokes for category tets found", r"\b1\b"),
        "the log names all of it",
        seen=run.tail,
    )


@check(recordings=True)
def icanhazdadjoke(case):
    """The documented joke, and each of a recorded search as the answer that it would have been."""
    bodies = [recorded.text("jokes/icanhazdadjoke/site-docs__random.json")]
    for one in elements(member(recorded.text("jokes/icanhazdadjoke/brad-dow__search-write.json"), "results")):
        bodies.append(joined([*members(one), ("status", "200")]))
    hold(len(bodies) >= 4, "jokes", seen=len(bodies))
    all_told(case, "icanhazdadjoke", bodies)


@check(recordings=True)
def official_joke_api(case):
    """225 jokes of the service's own file, each by a source of its own in one run: two parts, ids that are numbers."""
    bodies = elements(recorded.text("jokes/official-joke-api/source__jokes-first-half.json"))
    same(len(bodies), 225, "jokes")
    events = all_told(case, "official", bodies)
    same({one.id for one in events}, {str(json.loads(one)["id"]) for one in bodies}, "ids")


@check(recordings=True)
def official_joke_api_in_a_list(case):
    """The recorded single joke, bare and in the list of one that some addresses give."""
    body = recorded.text("jokes/official-joke-api/tamnd__random.json")
    up = case.upstream()
    up.on("/random_joke", body).on("/jokes/general/random", f" [ {body} ]\n")
    case.config(
        {
            "bare": case.source("Jokes", up, service="official"),
            "listed": case.source("Jokes", up, service="official", category="general"),
        }
    )
    case.once()
    same(len(case.events_by_node()), 2, "sources with a joke")
    for event in case.events_by_node().values():
        compare(event, "official", body)


def as_served(joke, language):
    """A joke of the server's own file in its answer."""
    return joined([("error", "false"), *members(joke), ("lang", quoted(language))])


@check(recordings=True)
def jokeapi(case):
    """93 English jokes of the server's file, single and in two parts, with all text beyond ASCII."""
    jokes = elements(member(recorded.text("jokes/jokeapi/source__jokes-en.safe.json"), "jokes"))
    same(len(jokes), 93, "jokes")
    same({json.loads(one)["type"] for one in jokes}, {"single", "twopart"}, "kinds of jokes")
    hold(any(not one.isascii() for one in jokes), "text beyond ASCII")
    all_told(case, "jokeapi", [as_served(one, "en") for one in jokes])


@check(recordings=True)
def jokeapi_in_two_languages(case):
    """Ids are numbered per language: English and Spanish jokes of one number are two jokes."""
    english = elements(member(recorded.text("jokes/jokeapi/source__jokes-en.safe.json"), "jokes"))
    spanish = elements(member(recorded.text("jokes/jokeapi/source__jokes-es.safe.json"), "jokes"))
    same(len(spanish), 6, "jokes")
    bodies = [as_served(one, "es") for one in spanish]
    numbers = {json.loads(one)["id"] for one in spanish}
    bodies += [as_served(one, "en") for one in english if json.loads(one)["id"] in numbers]
    hold(len(bodies) > 6, "numbers that both have", seen=sorted(numbers))
    # One source, so that only the id tells them apart.
    up = case.upstream()
    up.on("/joke/Any", *bodies)
    case.config({"jokes": case.source("Jokes", up, service="jokeapi")})
    for _ in bodies:
        case.once()
    events = case.events()
    same(len(events), len(bodies), "jokes")
    for event, body in zip(events, bodies):
        compare(event, "jokeapi", body)


@check(recordings=True)
def jokeapi_of_old(case):
    """A joke of the time before `error` and `safe`."""
    body = recorded.text("jokes/jokeapi/docs__01-joke.json")
    hold("error" not in json.loads(body), "no member error")
    all_told(case, "jokeapi", [body])


# Answers of the same services that are no joke.
NO_JOKES = {
    "jokeapi/docs__03-langcode.json": "jokeapi",
    "jokeapi/docs__05-submission.json": "jokeapi",
    "icanhazdadjoke/brad-dow__search-write.json": "icanhazdadjoke",
}


@check_each(NO_JOKES)
def an_answer_without_a_joke(case, name, service):
    """Nothing comes out, never a stand-in; it is counted, and the log names node and URL; the next joke comes."""
    up = case.upstream()
    up.on(PATHS[service], recorded.text(f"jokes/{name}"))
    case.config({"jokes": case.source("Jokes", up, service=service)})
    run = case.once(code=0)
    same(case.lines(), [], "jokes")
    hold(
        run.told(r"\bjokes\b", up.url + PATHS[service], r"\b1\b"),
        "the log names node and URL, and counts",
        seen=run.tail,
    )
    good = {
        "jokeapi": '{"error":false,"category":"Pun","type":"single","joke":"ha","flags":{},"id":9,"safe":true,"lang":"en"}',
        "icanhazdadjoke": '{"id":"a","joke":"ha","status":200}',
    }[service]
    up.forget().on(PATHS[service], good)
    case.once()
    compare(case.events()[0], service, good)


@check
def jokeapi_says_no_with_status_200(case):
    """JokeAPI's error in an answer of status 200: no joke, its words in the log, exit 0."""
    up = case.upstream()
    up.on(
        "/joke/Any",
        '{"error":true,"internalError":false,"code":106,"message":"No matching joke found","causedBy":["none"],'
        '"additionalInfo":"Error while finalizing joke filtering","timestamp":1579170794412}',
    )
    case.config({"jokes": case.source("Jokes", up, service="jokeapi")})
    run = case.once(code=0)
    same(case.lines(), [], "jokes")
    hold(run.told(r"\bjokes\b", up.url, "No matching joke found"), "the service's words", seen=run.tail)
