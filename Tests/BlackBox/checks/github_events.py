"""GitHubEvents on every recorded list of events, served as GitHub served it."""

import hashlib
import json

from support import recorded
from support.jsontext import elements, minified
from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import hold, same

PAST_THE_END = Answer(
    '{"message":"In order to keep the API fast for everyone, pagination is limited for this resource.",'
    '"documentation_url":"https://docs.github.com/v3/#pagination"}',
    422,
)


def value(text):
    return json.loads(text)


def paths(whose):
    ((kind, name),) = whose.items()
    return {
        "repo": f"/repos/{name}/events",
        "user": f"/users/{name}/events",
        "org": f"/orgs/{name}/events",
        "public": "/events",
    }[kind]


def each_once(texts):
    """The first of each id, as the service ordered them, and then oldest first."""
    found = {}
    for text in texts:
        found.setdefault(value(text)["id"], text)
    return list(found.values())[::-1]


def compare(events, texts, source, node="gh"):
    """What came out is exactly these elements, in this order."""
    expected = [value(one) for one in texts]
    same([one.id for one in events], [one["id"] for one in expected], "the ids, oldest first")
    for event, text, one in zip(events, texts, expected):
        same(event.data, minified(text), f"the data of {event.id}")
        same(event.type, f"com.github.event.{one['type']}", f"the type of {event.id}")
        same(event.source, source, f"the source of {event.id}")
        same(event.subject, one.get("repo", {}).get("name"), f"the subject of {event.id}")
        same(event.time, one["created_at"], f"the time of {event.id}")
        same(event.node, node, f"the node of {event.id}")
        hold("recorded" not in event.all, "a live event is not marked as recorded", seen=event)


class Feed:
    """A recorded list of events as a service: its first page at the address that feedbus asks, the others where the
    recorded links lead."""

    def __init__(self, case, name, whose, old=False):
        self.case, self.whose = case, whose
        self.up = case.upstream()
        everything = recorded.exchanges(f"github-events/exchanges/{name}.jsonl")
        self.pages = [one for one in everything if one.is_list]
        self.others = [one for one in everything if not one.is_list]
        self.size = int(self.pages[0].query.get("per_page", 30))
        # In 2012-13 a next page was named where it was empty.
        self.rest = Answer("[]") if old else PAST_THE_END
        self.path = paths(whose)
        self.texts = [text for page in self.pages for text in page.elements]
        case.config({"gh": case.source("GitHubEvents", self.up, per_page=self.size, **self.options)})

    @property
    def options(self):
        ((kind, name),) = self.whose.items()
        return {kind: name}

    @property
    def source(self):
        return self.up.url + self.path

    def first(self, page):
        """The first page's answer, also where feedbus asks for a page size that the recording did not name."""
        return lambda asked: page.answer(self.up.url, asked)

    def serve(self):
        self.up.forget()
        for page in [*self.others, *self.pages]:
            self.up.on(page.url.removeprefix(page.origin), lambda asked, page=page: page.answer(self.up.url, asked))
        last = next(iter(self.next_links(self.pages[-1])), None)
        if last:
            self.up.on(last, self.rest)
        self.up.on(self.path + f"?per_page={self.size}", self.first(self.pages[0]))
        return self

    def next_links(self, page):
        for one in (page.header("Link") or "").split(","):
            if 'rel="next"' in one:
                yield one.partition("<")[2].partition(">")[0].removeprefix(page.origin)

    @property
    def targets(self):
        """The requests of a first poll: the first page, then what the links name, letter by letter."""
        found = [f"{self.path}?per_page={self.size}"]
        for page in self.pages:
            found += list(self.next_links(page))[:1]
        return found


def no_display_login(texts):
    hold(not any("display_login" in value(one)["actor"] for one in texts), "events of that time have no display_login")


def has_display_login(texts):
    hold(all("display_login" in value(one)["actor"] for one in texts), "events of that time have display_login")


def has_type(*names):
    def odd(texts):
        there = {value(one)["type"] for one in texts}
        hold(set(names) <= there, f"the recording has {names}", seen=sorted(there))

    return odd


def ids(texts):
    return [int(value(one)["id"]) for one in texts]


def times(texts):
    return [value(one)["created_at"] for one in texts]


def unsorted_ids(texts):
    hold(ids(texts) != sorted(ids(texts), reverse=True), "the ids of the recording are not in order")


def sorted_times(texts):
    hold(times(texts) == sorted(times(texts), reverse=True), "the times of the recording are in order")


def unsorted_times(texts):
    hold(times(texts) != sorted(times(texts), reverse=True), "the times of the recording are not in order")


def sorted_ids(texts):
    hold(ids(texts) == sorted(ids(texts), reverse=True), "the ids of the recording descend")


def has_pages(*sizes):
    def odd(texts):
        same(len(texts), sum(sizes), "the events of all pages")

    return odd


def same_page_twice(texts):
    same(texts[30:60], texts[60:90], "pages 2 and 3 of the recording")
    same((len(texts), len(set(ids(texts)))), (281, 155), "events, and different events, of the recording")


# File: whose events, whether of the time when a next page was named that was empty, and what is odd in it.
RECORDED = {
    "pygithub__Repository.testGetEvents": (
        {"repo": "PyGithub/PyGithub"},
        True,
        [has_type("DownloadEvent"), no_display_login],
    ),
    "pygithub__Github.testGetEvents": ({"public": True}, False, [unsorted_ids, sorted_times, has_display_login]),
    "pygithub__NamedUser.testGetPublicEvents": ({"user": "jacquev6"}, True, [no_display_login]),
    "pygithub__Event.setUp": ({"user": "jacquev6"}, True, [no_display_login]),
    "pygithub__Repository.testGetNetworkEvents": ({"repo": "PyGithub/PyGithub"}, True, [no_display_login]),
    "octokit.rb__repository_events": ({"repo": "sferik/rails_admin"}, True, [no_display_login]),
    "octokit.rb__repository_network_events": ({"repo": "sferik/rails_admin"}, True, [no_display_login]),
    "octokit.rb__public_events": ({"public": True}, True, [no_display_login]),
    "octokit.rb__user_public_events": ({"user": "sferik"}, True, [no_display_login]),
    "octokit.rb__user_events": ({"user": "sferik"}, True, [no_display_login]),
    "github3.py__Repository_network_events": ({"repo": "sigmavirus24/github3.py"}, False, [has_pages(100, 100, 84)]),
    "github3.py__Organization_all_events": ({"org": "testgh3py"}, False, [has_display_login]),
    "github3.py__Organization_public_events": ({"org": "github3py"}, False, [has_pages(1)]),
    "github3.py__User_organization_events": ({"org": "github3py"}, False, [has_display_login]),
    "github3.py__User_events": ({"user": "sigmavirus24"}, False, [has_pages(100, 100, 88), sorted_ids, unsorted_times]),
    "hub4j__AppTest_testEventApi": ({"public": True}, False, [same_page_twice, unsorted_ids, unsorted_times]),
}


@check_each(RECORDED)
def recorded_list(case, name, row):
    """Each event of the recorded pages exactly once, oldest first, its text unchanged; then nothing; then only what is new."""
    whose, old, odd = row
    feed = Feed(case, name, whose, old).serve()
    for one in odd:
        one(feed.texts)
    case.once()
    once = each_once(feed.texts)
    compare(case.events(), once, feed.source)
    same(feed.up.targets(), feed.targets, "the requests")

    # The same answers, with GitHub's 304 where it has one.
    feed.serve()
    case.once()
    same(len(case.events()), len(once), "events after a second run")
    tag = feed.pages[0].header("ETag")
    (asked,) = feed.up.requests()
    same(asked.headers.get("If-None-Match"), tag, "the validator, as it was received")
    same(asked.status, 304, "the service's answer to its own validator")

    # And with one that takes no notice of validators.
    feed.serve().up.on(f"{feed.path}?per_page={feed.size}", lambda asked: feed.pages[0].answer(feed.up.url))
    case.once()
    same(len(case.events()), len(once), "events after a run on the whole list again")

    # One event more.
    new = feed.pages[0].elements[0].replace(f'"{value(feed.texts[0])["id"]}"', '"1"', 1)
    page = Answer("[" + ",\n".join([new, *feed.pages[0].elements]) + "]", headers={"ETag": '"another"'})
    feed.serve().up.on(f"{feed.path}?per_page={feed.size}", page)
    case.once()
    compare(case.events(), [*once, new], feed.source)
    same(feed.up.targets(), feed.targets[:1], "no page after one with known events")


def as_page(texts):
    return "[" + ",".join(texts) + "]"


def md5(text):
    return {"ETag": f'"{hashlib.md5(text.encode()).hexdigest()}"'}


def file_page(case, body, **options):
    """One page of events out of a file: emitted once, in order, then never again. Gives the elements, oldest first."""
    up = case.upstream()
    case.config({"gh": case.source("GitHubEvents", up, repo="a/b", per_page=100, **options)})
    page = Answer(body, headers={**md5(body), "X-Poll-Interval": "60"})
    up.on("/repos/a/b/events", page)
    case.once()
    texts = each_once(elements(body))
    compare(case.events(), texts, f"{up.url}/repos/a/b/events")
    case.once()
    same(len(case.events()), len(texts), "events after a second run")
    return texts


def body_2018(texts):
    with_org = sum("org" in value(one) for one in texts)
    hold(0 < with_org < len(texts), "org is present on some only", seen=with_org)
    hold(any(not one.isascii() for one in texts), "there is text beyond ASCII")
    hold(any("\n" in one for one in texts), "the file is indented")


def body_2013(texts):
    hold(any('\\"' in one for one in texts), "there are escaped characters")
    hold(any(value(one)["actor"]["gravatar_id"] for one in texts), "there are gravatar ids")
    hold(any('": null' in one for one in texts), "there are members that are null")


def body_2025(texts):
    payload = value(texts[0])["payload"]
    hold(not {"commits", "size", "distinct_size"} & set(payload), "a push has no commits any more", seen=payload)
    same(len(value(texts[0])["id"]), 10, "the digits of its id")


def body_2026(texts):
    hold(all(len(value(one)["id"]) == 11 for one in texts), "ids have 11 digits")
    issues = [value(one)["payload"]["issue"] for one in texts if value(one)["type"] == "IssuesEvent"]
    hold(
        any("sub_issues_summary" in one and one.get("type", 0) is None for one in issues),
        "an issue as of today",
        seen=len(issues),
    )


BODIES = {
    "krishna24ch__public-events-2018-11-14.json": body_2018,
    "simdjson__github_events-2013.json": body_2013,
    "keemgdeok__push_event_post_drift_2025-12-15.json": body_2025,
    "antenna__repo-events-2026-10-01.first4.json": body_2026,
}


@check_each(BODIES)
def recorded_body(case, name, odd):
    """A recorded body as the only page: each event once, its text unchanged."""
    body = recorded.text(f"github-events/bodies/{name}")
    odd(file_page(case, body if body.lstrip().startswith("[") else f"[{body}]"))


ARCHIVES = {"quickwit__gharchive-2015-100events.jsonl": 100, "kuba-tyburski__2018-01-01-0.head9.jsonl": 10}


@check_each(ARCHIVES)
def archive_lines(case, name, count):
    """The lines of a GH Archive file as one page, the newest first as GitHub would list them."""
    lines = [line for line in recorded.text(f"gharchive/{name}").split("\n") if line.strip()]
    same(len(lines), count, "lines of the file")
    texts = file_page(case, as_page(reversed(lines)))
    if name.startswith("quickwit"):
        fractions = [one for one in times(texts) if "." in one]
        same(len(fractions), 3, "times with a fraction")


@check(recordings=True)
def an_id_below_all_older_ones_is_new(case):
    """The ids were restarted lower in 2025: an event of then is new to who knows the ids of 2019."""
    feed = Feed(case, "hub4j__AppTest_testEventApi", {"public": True}).serve()
    case.once()
    before = each_once(feed.texts)
    late = recorded.text("github-events/bodies/keemgdeok__push_event_post_drift_2025-12-15.json")
    hold(int(value(late)["id"]) < min(ids(feed.texts)), "the new id is below all others")
    feed.serve().up.on(f"/events?per_page={feed.size}", Answer(as_page([late, *feed.pages[0].elements])))
    case.once()
    compare(case.events(), [*before, late], feed.source)


@check(recordings=True)
def webhook_payloads_pass_through(case):
    """Payloads of all sizes, empty ones and unknown types of event pass with their text unchanged."""
    texts = []
    for number, name in enumerate(recorded.all_files("github-webhook-payloads")):
        payload = recorded.text(name)
        texts.append(
            f'{{"id":"{900 - number}","type":"Odd{number}Event","actor":{{"login":"x"}},"repo":{{"name":"a/b"}},'
            f'"payload": {payload},"public":true,"created_at":"2026-01-01T00:00:00Z"}}'
        )
    hold(len(texts) >= 16, "payloads", seen=len(texts))
    file_page(case, as_page(texts))


@check(recordings=True)
def any_valid_json_passes_unchanged(case):
    """Every text that a JSON parser must accept, and those whose numbers or keys most parsers change, as a payload."""
    texts = []
    for name in recorded.all_files("json-conformance"):
        kind = name.rpartition("/")[2]
        if kind.startswith("y_") or "/test_transform/" in name:
            try:
                payload = recorded.path(name).read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                continue
            texts.append(
                f'{{"id":"j{len(texts)}","type":"PushEvent","repo":{{"name":"a/b"}},"payload":{payload},'
                f'"created_at":"2026-01-01T00:00:00Z"}}'
            )
    hold(len(texts) > 40, "texts", seen=len(texts))
    file_page(case, as_page(texts))


@check(recordings=True)
def a_reader_sees_who_did_it(case):
    """The console names the actor of events with and without display_login."""
    for name, whose in (
        ("octokit.rb__repository_events", {"repo": "sferik/rails_admin"}),
        ("pygithub__Github.testGetEvents", {"public": True}),
    ):
        feed = Feed(case, name, whose, old=True).serve()
        case.config(
            {"gh": case.source("GitHubEvents", feed.up, per_page=30, **feed.options)},
            sinks={"screen": {"plugin": "Console", "from": ["gh"]}},
            feedbus={"state": f"state-{name}"},
        )
        lines = case.once().out.decode().splitlines()
        texts = each_once(feed.texts)
        same(len(lines), len(texts), "lines on the console")
        for line, text in zip(lines, texts):
            actor = value(text)["actor"]
            hold(
                actor.get("display_login", actor["login"]) in line,
                "the line names the actor",
                expected=actor["login"],
                seen=line,
            )
