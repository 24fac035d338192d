"""EONET on every recorded list of events and categories, of v3 and of v2.1."""

import json
import re

from support import recorded
from support.jsontext import elements, joined, member, members, minified, quoted
from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import hold, same

CATEGORY, EVENT = "gov.nasa.eonet.category", "gov.nasa.eonet.event"
NONE = '{\n\t"title": "EONET Events",\n\t"description": "",\n\t"link": "",\n\t"events": [\n]\n}'
V3, V2 = "/api/v3", "/api/v2.1"


def categories_of(body):
    return elements(member(body, "categories"))


def events_of(body):
    return elements(member(body, "events"))


def envelope(events):
    return (
        '{"title":"EONET Events","description":"Natural events from EONET.","link":"","events":['
        + ",".join(events)
        + "]}"
    )


def titles_of(categories):
    return {json.loads(one)["id"]: json.loads(one)["title"] for one in categories}


def with_titles(text, titles):
    """The documented change: the titles of the event's categories are those of the category list, where it has them."""
    parts = []
    for key, value in members(text):
        if key == "categories":
            joint = []
            for one in elements(value):
                title = titles.get(json.loads(one)["id"])
                joint.append(
                    joined(
                        [(name, quoted(title) if name == "title" and title else part) for name, part in members(one)]
                    )
                )
            value = "[" + ",".join(joint) + "]"
        parts.append((key, value))
    return joined(parts)


def newest(text):
    one = json.loads(text)
    dates = [place["date"] for place in one.get("geometry") or one.get("geometries") or []]
    return max(dates, default=one.get("closed"))


def compare_categories(events, categories):
    by_title = sorted(categories, key=lambda one: json.loads(one)["title"])
    same([one.data for one in events], [minified(one) for one in by_title], "the categories, by title")


def compare_events(events, texts, titles):
    """Exactly these, in this order."""
    same(
        [json.loads(one.data)["id"] for one in events],
        [json.loads(one)["id"] for one in texts],
        "the events, oldest first",
    )
    for event, text in zip(events, texts):
        name = json.loads(text)["id"]
        same(event.data, with_titles(text, titles), f"the data of {name}")
        hold(
            event.id.startswith(f"{name}@") and event.id != f"{name}@",
            "the id is EONET's and a revision",
            expected=name,
            seen=event.id,
        )
        same(event.time, newest(text), f"the time of {name} is its newest date")


def split(case, known=0):
    """(categories, events) that came since the first `known` lines; categories must stand in front."""
    events = case.events()[known:]
    kinds = [one.type for one in events]
    same(kinds, sorted(kinds), "categories first, then events")
    same(sorted({*kinds} - {CATEGORY, EVENT}), [], "other types")
    return [one for one in events if one.type == CATEGORY], [one for one in events if one.type == EVENT]


def by_status(up, base, categories, opened=NONE, closed=NONE):
    up.on(f"{base}/categories", categories)
    up.on(f"{base}/events?status=open", opened)
    up.on(f"{base}/events?status=closed", closed)


def category_file(name):
    return recorded.text(f"eonet/{name}.json")


def icebergs(texts):
    hold(max(len(json.loads(one)["geometry"]) for one in texts) == 58, "an iceberg with 58 points")
    hold(any("35.00" in one for one in texts), "numbers written 35.00")
    jumps = [
        abs(a["coordinates"][0] - b["coordinates"][0])
        for one in texts
        if (g := json.loads(one)["geometry"])
        for a, b in zip(g, g[1:])
    ]
    hold(max(jumps) > 180, "a track over the antimeridian", seen=max(jumps))


def many_sources(texts):
    hold(any("&amp;" in one for one in texts), "HTML in an address")
    same(max(len(json.loads(one)["sources"]) for one in texts), 7, "sources of one event")
    same(max(len(json.loads(one)["geometry"]) for one in texts), 78, "points of one event")


def null_miles(texts):
    same(len(texts), 2831, "events")
    hold(
        any((json.loads(one)["description"] or "").startswith("null Miles null from null") for one in texts),
        "a description of nulls",
    )
    hold(any(newest(one) < "2012" for one in texts), "open events of long ago")


def swapped_polygon(texts):
    kinds = {place["type"] for one in texts for place in json.loads(one)["geometry"]}
    same(kinds, {"Point", "Polygon"}, "geometries")
    polygon = next(place for one in texts for place in json.loads(one)["geometry"] if place["type"] == "Polygon")
    point = polygon["coordinates"][0][0]
    hold(point[0] > 40 > point[1] > 10, "a polygon in Croatia with the latitude first", seen=point)
    hold(all(json.loads(one)["closed"] for one in texts), "all are closed")


V3_LISTS = {
    "aarlert__events-open-2026-07": ("open", icebergs),
    "cloudfright__events-open-2021-12": ("open", many_sources),
    "pratik152IT__events-open-2025-11.halfA": ("open", null_miles),
    "giovanniliverani__closed-with-polygon-2026-09": ("closed", swapped_polygon),
}


@check_each(V3_LISTS)
def v3_list(case, name, row):
    """Categories by title, then each event exactly once, oldest first, its text unchanged; then nothing; then one that grew."""
    status, odd = row
    up = case.upstream()
    categories, body = category_file("v3/takervare__categories"), category_file(f"v3/{name}")
    texts = events_of(body)[::-1]
    odd(texts)
    listed, titles = categories_of(categories), titles_of(categories_of(categories))
    same(len(listed), 13, "categories")
    case.config({"earth": case.source("EONET", up.url + V3)})
    by_status(up, V3, categories, **{{"open": "opened", "closed": "closed"}[status]: body})
    case.once()
    first, events = split(case)
    compare_categories(first, listed)
    compare_events(events, texts, titles)
    same(
        sorted(up.targets()),
        sorted([f"{V3}/categories", f"{V3}/events?status=open&days=360", f"{V3}/events?status=closed&days=360"]),
        "the requests",
    )
    case.once()
    same(len(case.events()), 13 + len(texts), "events after a second run")

    # A new point of the oldest one: an update of that event, and nothing else.
    place = elements(member(texts[0], "geometry"))[-1]
    later = place.replace(json.loads(place)["date"], "2026-11-01T00:00:00Z")
    grown = joined(
        [
            (key, "[" + ",".join([*elements(value), later]) + "]" if key == "geometry" else value)
            for key, value in members(texts[0])
        ]
    )
    up.forget()
    by_status(up, V3, categories, **{{"open": "opened", "closed": "closed"}[status]: envelope([*texts[:0:-1], grown])})
    case.once()
    none, events = split(case, 13 + len(texts))
    same(none, [], "categories again")
    compare_events(events, [grown], titles)


@check(recordings=True)
def open_and_closed_are_merged(case):
    """Two recorded lists, open and closed ones: all of both; and an event that stands in both comes once."""
    up = case.upstream()
    categories = category_file("v3/takervare__categories")
    opened = events_of(category_file("v3/aarlert__events-open-2026-07"))
    closed = events_of(category_file("v3/giovanniliverani__closed-with-polygon-2026-09"))
    case.config({"earth": case.source("EONET", up.url + V3)})
    by_status(up, V3, categories, envelope(opened), envelope([opened[0], *closed]))
    case.once()
    _, events = split(case)
    titles = titles_of(categories_of(categories))
    expected = {with_titles(one, titles) for one in opened + closed}
    same(sorted(one.data for one in events), sorted(expected), "the events of both")
    # Whichever answer is there first comes first, and with it the event that is in both.
    for some in (opened[1:], closed):
        texts = [with_titles(one, titles) for one in some[::-1]]
        same([one.data for one in events if one.data in texts], texts, "the order of each list")


@check(recordings=True)
def a_category_list_with_one_category(case):
    """Events of categories that the list lacks keep their own titles."""
    up = case.upstream()
    categories = category_file("v3/index12260521850__categories-one")
    texts = events_of(category_file("v3/aarlert__events-open-2026-07"))[::-1]
    case.config({"earth": case.source("EONET", up.url + V3)})
    by_status(up, V3, categories, envelope(texts[::-1]))
    case.once()
    first, events = split(case)
    compare_categories(first, categories_of(categories))
    compare_events(events, texts, {})


@check(recordings=True)
def titles_of_the_category_list_win(case):
    """Renamed categories: the events carry the new titles, and only that is changed in their text."""
    up = case.upstream()
    categories = category_file("v3/takervare__categories").replace(
        '"title": "Wildfires"', '"title": "Fires \\u00e0 \\"la\\" carte "'
    )
    texts = events_of(category_file("v3/cloudfright__events-open-2021-12"))[::-1]
    case.config({"earth": case.source("EONET", up.url + V3)})
    by_status(up, V3, categories, envelope(texts[::-1]))
    case.once()
    first, events = split(case)
    compare_categories(first, categories_of(categories))
    hold(any("Fires à" in one.data for one in events), "there are wildfires")
    compare_events(events, texts, titles_of(categories_of(categories)))


@check(recordings=True)
def a_geojson_answer_is_an_error(case):
    """A body of /events/geojson in place of /events: no event of it, one error that names node and URL; the next poll has all."""
    up = case.upstream()
    geojson = category_file("v3/takervare__events-geojson-2025-09")
    features = elements(member(geojson, "features"))
    hold(len({json.loads(one)["properties"]["id"] for one in features}) < len(features), "the same event many times")
    categories, good = category_file("v3/takervare__categories"), category_file("v3/aarlert__events-open-2026-07")
    case.config({"earth": case.source("EONET", up.url + V3, status="open")})
    by_status(up, V3, categories, geojson)
    run = case.once(code=1)
    _, events = split(case)
    same(events, [], "events")
    run.one_error("earth", f"{up.url}{V3}/events")
    up.forget()
    by_status(up, V3, categories, good)
    case.once()
    compare_events(split(case)[1], events_of(good)[::-1], titles_of(categories_of(categories)))


@check(recordings=True)
def a_failed_half_leaves_the_other(case):
    """One of open and closed fails: the other's events still come, and the failed ones with the next poll."""
    up = case.upstream()
    categories = category_file("v3/takervare__categories")
    opened, closed = category_file("v3/aarlert__events-open-2026-07"), category_file(
        "v3/giovanniliverani__closed-with-polygon-2026-09"
    )
    titles = titles_of(categories_of(categories))
    case.config({"earth": case.source("EONET", up.url + V3)})
    by_status(up, V3, categories, opened, Answer('{"message":"down"}', 500))
    run = case.once(code=None)
    compare_events(split(case)[1], events_of(opened)[::-1], titles)
    hold(run.told(r"\bearth\b", "closed", "500"), "the log names the failed half", seen=run.tail)
    up.forget()
    by_status(up, V3, categories, opened, closed)
    known = len(case.lines())
    case.once()
    none, events = split(case, known)
    same(none, [], "categories again")
    compare_events(events, events_of(closed)[::-1], titles)


@check(recordings=True)
def failed_categories_are_an_empty_list(case):
    """Without the category list the events come with their own titles."""
    up = case.upstream()
    body = category_file("v3/aarlert__events-open-2026-07")
    case.config({"earth": case.source("EONET", up.url + V3)})
    by_status(up, V3, Answer("no", 503), body)
    run = case.once(code=None)
    none, events = split(case)
    same(none, [], "categories")
    compare_events(events, events_of(body)[::-1], {})
    hold(run.told(r"\bearth\b", re.escape(f"{up.url}{V3}/categories")), "the log names node and URL", seen=run.tail)


@check(recordings=True)
def only_the_wanted_categories(case):
    """`categories` holds for the categories and the events, also where the service gives others."""
    up = case.upstream()
    categories, body = category_file("v3/takervare__categories"), category_file("v3/cloudfright__events-open-2021-12")
    wanted = {"volcanoes", "seaLakeIce"}
    case.config({"earth": case.source("EONET", up.url + V3, categories=sorted(wanted), status="open")})
    by_status(up, V3, categories, body)
    case.once()
    first, events = split(case)
    compare_categories(first, [one for one in categories_of(categories) if json.loads(one)["id"] in wanted])
    texts = [one for one in events_of(body)[::-1] if wanted & {each["id"] for each in json.loads(one)["categories"]}]
    hold(0 < len(texts) < 385, "some events are wanted", seen=len(texts))
    compare_events(events, texts, titles_of(categories_of(categories)))


@check(recordings=True)
def v3_by_category(case):
    """One request a category, at most two at a time, with progress in the log; all events, each once."""
    up = case.upstream()
    categories, body = category_file("v3/takervare__categories"), category_file("v3/cloudfright__events-open-2021-12")
    listed, texts = categories_of(categories), events_of(body)
    case.config({"earth": case.source("EONET", up.url + V3, by="category", max_concurrent=2)})
    up.on(f"{V3}/categories", categories)

    def some(asked):
        own = [one for one in texts if json.loads(one)["categories"][0]["id"] == asked.query["category"]]
        return Answer(envelope(own) if own else NONE, after=0.03)

    up.on(f"{V3}/events", some)
    run = case.once()
    first, events = split(case)
    compare_categories(first, listed)
    titles = titles_of(listed)
    same(sorted(one.data for one in events), sorted(with_titles(one, titles) for one in texts), "all events")
    hold(up.most_under_way <= 2, "requests at one time", expected="at most 2", seen=up.most_under_way)
    same(sorted(one.query["category"] for one in up.requests(f"{V3}/events")), sorted(titles), "one request a category")
    for asked in up.requests(f"{V3}/events"):
        same(asked.query.get("days"), "360", "days")
    for name in titles.values():
        hold(run.told(r"\bearth\b", re.escape(name)), "the progress names each category", expected=name, seen=run.tail)
    case.once()
    same(len(case.events()), 13 + len(texts), "events after a second run")


# v2.1: which category the events are of, and the texts, newest first.


def fires_2019_02(texts):
    hold(any(json.loads(one)["title"].endswith(" ") for one in texts), "a title with a blank at the end")
    hold(all(json.loads(one)["description"] == "" for one in texts), "no description is an empty text")
    hold(all("closed" not in json.loads(one) for one in texts), "open events have no member closed")


def fires_2019_10(texts):
    hold(any(re.search(r"\d\.\d{15}", one) for one in texts), "numbers of 17 digits")


def houston(texts):
    one = json.loads(texts[0])
    same(one["geometries"][0]["type"], "Polygon", "the geometry")
    same(one["sources"], [], "sources")


V2_LISTS = {
    "index21909427706__category-8-wildfires-2019-02": (8, events_of, fires_2019_02),
    "sneak555__category-8-wildfires-2019-10": (8, events_of, fires_2019_10),
    "index3516378048__event-houston-polygon-2016": (9, lambda body: [body], houston),
    "raditotev__events-array-2021-04": (8, elements, lambda texts: None),
}


@check_each(V2_LISTS)
def v2_list(case, name, row):
    """v2.1, by status and by category: number ids, `geometries`; each event once, its text unchanged; then nothing."""
    number, texts_of, odd = row
    categories, body = category_file("v2.1/index1344040943__categories-all13"), category_file(f"v2.1/{name}")
    newest_first = texts_of(body)
    odd(newest_first)
    texts, listed = newest_first[::-1], categories_of(categories)
    same(sorted(titles_of(listed)), [6, 7, 8, 9, 10, *range(12, 20)], "the ids of the categories")
    answer = body if texts_of is events_of else envelope(newest_first)
    for by, path in (("status", "/events"), ("category", f"/categories/{number}")):
        up = case.upstream()
        case.config(
            {"earth": case.source("EONET", up.url + V2, api="v2.1", by=by, max_concurrent=2)},
            sinks={"log": {"plugin": "JSONLines", "from": ["earth"], "with": {"path": f"{by}.jsonl"}}},
            feedbus={"state": f"state-{by}"},
        )
        up.on(f"{V2}/categories", categories)
        for one in titles_of(listed):
            up.on(f"{V2}/categories/{one}", Answer(NONE, after=0.01))
        up.on(f"{V2}/events?status=closed", NONE)
        up.on(f"{V2}{path}?status=open", answer)
        case.once()
        found = case.events(f"{by}.jsonl")
        compare_categories([one for one in found if one.type == CATEGORY], listed)
        compare_events([one for one in found if one.type == EVENT], texts, titles_of(listed))
        hold(up.most_under_way <= 2, "requests at one time", expected="at most 2", seen=up.most_under_way)
        case.once()
        same(len(case.events(f"{by}.jsonl")), len(found), "events after a second run")


@check(recordings=True)
def one_category_fails(case):
    """v2.1 by category, and the answer of one is an error: the other twelve still come; it comes with the next poll."""
    categories, fires = category_file("v2.1/index1344040943__categories-all13"), category_file(
        "v2.1/sneak555__category-8-wildfires-2019-10"
    )
    flood = category_file("v2.1/index3516378048__event-houston-polygon-2016")
    up = case.upstream()
    titles = titles_of(categories_of(categories))
    case.config({"earth": case.source("EONET", up.url + V2, api="v2.1", by="category", status="open")})

    def serve(first):
        up.forget().on(f"{V2}/categories", categories)
        for one in titles:
            up.on(f"{V2}/categories/{one}", NONE)
        up.on(f"{V2}/categories/9", envelope([flood]))
        up.on(f"{V2}/categories/8", first)

    serve(Answer("<html>Bad Gateway</html>", 502, media="text/html"))
    run = case.once(code=None)
    compare_events(split(case)[1], [flood], titles)
    hold(run.told(r"\bearth\b", "Wildfires|categories/8", "502"), "the log names what failed", seen=run.tail)
    serve(fires)
    case.once()
    compare_events(split(case, 14)[1], events_of(fires)[::-1], titles)


@check(recordings=True)
def the_console_trims_titles(case):
    """A title with a blank at its end makes no ragged line."""
    up = case.upstream()
    texts = events_of(category_file("v2.1/index21909427706__category-8-wildfires-2019-02"))
    case.config(
        {"earth": case.source("EONET", up.url + V2, api="v2.1", status="open")},
        sinks={"screen": {"plugin": "Console", "from": ["earth"]}},
    )
    up.on(f"{V2}/categories", '{"categories":[]}').on(f"{V2}/events", envelope(texts))
    lines = case.once().out.decode().splitlines()
    same(len(lines), len(texts), "lines")
    for line in lines:
        hold(line == line.rstrip(), "no blank at the end of a line", seen=repr(line))
