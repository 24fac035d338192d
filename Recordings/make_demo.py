#!/usr/bin/env python3
"""Writes demo.har, the recording from which the sample config runs without a network.

    Recordings/make_demo.py            # writes demo.har beside this file

Everything in it is made up: people, repositories, events, jokes. Only the shapes are those of the services, and the names
of public things (the repository that is asked for, EONET's categories). The same run gives the same file.
Standard library only.
"""

import base64
import hashlib
import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

NOW = datetime(2026, 11, 28, 9, 30, tzinfo=timezone.utc)
GITHUB = "https://api.github.com"
EONET = "https://eonet.gsfc.nasa.gov/api/v3"
JOKES = "https://api.chucknorris.io"


def stamp(when):
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def http_date(when):
    days, months = "Mon Tue Wed Thu Fri Sat Sun".split(), "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    return f"{days[when.weekday()]}, {when.day:02} {months[when.month - 1]} {when:%Y %H:%M:%S} GMT"


def sha(*parts):
    return hashlib.sha1(" ".join(map(str, parts)).encode()).hexdigest()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- GitHub ---------------------------------------------------------------------------------------------------------

PEOPLE = {name: 290_000_100 + 37 * n for n, name in enumerate(
    ["wren-halloway", "tomasz-igrek", "okafor-dev", "mirele-s", "pine-and-code", "juno-tidewater", "ansel-bright",
     "rhea-okonma", "quietbranch", "saltmarsh-ci[bot]"])}
RX = {"id": 33_569_135, "name": "ReactiveX/RxSwift", "org": ("ReactiveX", 6_407_041)}


def avatar(number):
    return f"https://avatars.githubusercontent.com/u/{number}?"


def account(login):
    number = PEOPLE[login]
    return {"login": login, "id": number, "avatar_url": f"https://avatars.githubusercontent.com/u/{number}?v=4",
            "gravatar_id": "", "url": f"{GITHUB}/users/{login}", "html_url": f"https://github.com/{login}",
            "type": "Bot" if login.endswith("[bot]") else "User", "site_admin": False}


class Timeline:
    """A repository's events, given oldest first, listed newest first."""

    def __init__(self, repo, first_id, start):
        self.repo, self.id, self.when = repo, first_id, start
        self.events = []

    def add(self, minutes, login, kind, payload):
        self.when += timedelta(minutes=minutes, seconds=7 * len(self.events) % 60)
        self.id += 90_000 + 1_013 * (len(self.events) % 11)
        name, number = self.repo["name"], PEOPLE[login]
        event = {
            "id": str(self.id), "type": kind,
            "actor": {"id": number, "login": login, "display_login": login.removesuffix("[bot]"), "gravatar_id": "",
                      "url": f"{GITHUB}/users/{login}", "avatar_url": avatar(number)},
            "repo": {"id": self.repo["id"], "name": name, "url": f"{GITHUB}/repos/{name}"},
            "payload": payload, "public": True, "created_at": stamp(self.when)}
        if self.repo.get("org"):
            org, org_id = self.repo["org"]
            event["org"] = {"id": org_id, "login": org, "gravatar_id": "", "url": f"{GITHUB}/orgs/{org}",
                            "avatar_url": avatar(org_id)}
        self.events.append(event)

    # The payloads, as they have been since October 2025.

    def star(self, minutes, login):
        self.add(minutes, login, "WatchEvent", {"action": "started"})

    def push(self, minutes, login, branch="main"):
        before = sha(self.repo["name"], branch, len(self.events))
        self.add(minutes, login, "PushEvent", {
            "repository_id": self.repo["id"], "push_id": 31_400_000_000 + self.id % 1_000_000,
            "ref": f"refs/heads/{branch}", "head": sha(before), "before": before})

    def fork(self, minutes, login):
        short = self.repo["name"].split("/")[1]
        self.add(minutes, login, "ForkEvent", {"action": "forked", "forkee": {
            "id": 1_390_000_000 + PEOPLE[login] % 100_000, "name": short, "full_name": f"{login}/{short}", "private": False,
            "owner": account(login), "html_url": f"https://github.com/{login}/{short}", "description": None, "fork": True,
            "url": f"{GITHUB}/repos/{login}/{short}", "default_branch": "main", "public": True}})

    def ref(self, minutes, login, kind, ref, ref_type="branch"):
        payload = {"ref": ref, "ref_type": ref_type, "full_ref": f"refs/{'tags' if ref_type == 'tag' else 'heads'}/{ref}"}
        if kind == "CreateEvent":
            payload |= {"master_branch": "main", "description": "Made up for a demonstration"}
        self.add(minutes, login, kind, payload | {"pusher_type": "user"})

    def issue(self, number, title, author):
        base = f"{GITHUB}/repos/{self.repo['name']}/issues/{number}"
        return {"url": base, "repository_url": f"{GITHUB}/repos/{self.repo['name']}", "comments_url": f"{base}/comments",
                "html_url": f"https://github.com/{self.repo['name']}/issues/{number}", "id": 5_900_000_000 + number,
                "number": number, "title": title, "user": account(author), "labels": [], "state": "open", "locked": False,
                "assignees": [], "milestone": None, "comments": 1, "created_at": stamp(self.when),
                "updated_at": stamp(self.when), "closed_at": None, "author_association": "NONE", "type": None,
                "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0}, "body": None,
                "state_reason": None}

    def issues(self, minutes, login, action, number, title):
        self.add(minutes, login, "IssuesEvent", {"action": action, "issue": self.issue(number, title, login)})

    def comment(self, minutes, login, number, title, text):
        self.add(minutes, login, "IssueCommentEvent", {
            "action": "created", "issue": self.issue(number, title, login), "comment": {
                "url": f"{GITHUB}/repos/{self.repo['name']}/issues/comments/{self.id}", "id": self.id, "user": account(login),
                "created_at": stamp(self.when), "updated_at": stamp(self.when), "body": text,
                "author_association": "CONTRIBUTOR"}})

    def pull(self, number, branch):
        side = {"id": self.repo["id"], "url": f"{GITHUB}/repos/{self.repo['name']}", "name": self.repo["name"].split("/")[1]}
        return {"url": f"{GITHUB}/repos/{self.repo['name']}/pulls/{number}", "id": 3_010_000_000 + number, "number": number,
                "head": {"ref": branch, "sha": sha(branch), "repo": side}, "base": {"ref": "main", "sha": sha("main"), "repo": side}}

    def pulls(self, minutes, login, action, number, branch):
        self.add(minutes, login, "PullRequestEvent", {"action": action, "number": number, "pull_request": self.pull(number, branch)})

    def review(self, minutes, login, number, branch, state="approved"):
        self.add(minutes, login, "PullRequestReviewEvent", {
            "action": "created", "pull_request": self.pull(number, branch), "review": {
                "id": self.id, "user": account(login), "body": None, "state": state, "commit_id": sha(branch),
                "submitted_at": stamp(self.when)}})

    def review_comment(self, minutes, login, number, branch, text):
        self.add(minutes, login, "PullRequestReviewCommentEvent", {
            "action": "created", "pull_request": self.pull(number, branch), "comment": {
                "id": self.id, "path": "Sources/Relay.swift", "line": 41, "commit_id": sha(branch), "user": account(login),
                "body": text, "created_at": stamp(self.when), "updated_at": stamp(self.when)}})

    def release(self, minutes, login, tag):
        self.add(minutes, login, "ReleaseEvent", {"action": "published", "release": {
            "url": f"{GITHUB}/repos/{self.repo['name']}/releases/{self.id}", "id": self.id, "tag_name": tag,
            "target_commitish": "main", "name": tag, "draft": False, "prerelease": False, "author": account(login),
            "created_at": stamp(self.when), "published_at": stamp(self.when), "assets": [], "body": f"What is new in {tag}"}})


def rxswift():
    line = Timeline(RX, 22_900_000_000, NOW - timedelta(hours=41))
    slow = "share(replay:) keeps its last value after an error"
    docs = "Say in the docs on which scheduler debounce emits"
    line.star(0, "juno-tidewater")
    line.issues(12, "mirele-s", "opened", 2701, slow)
    line.star(31, "ansel-bright")
    line.comment(44, "wren-halloway", 2701, slow, "Thanks, I can see it too.\r\nA failing test is on its way.")
    line.ref(25, "wren-halloway", "CreateEvent", "replay-after-error")
    line.push(18, "wren-halloway", "replay-after-error")
    line.pulls(3, "wren-halloway", "opened", 2702, "replay-after-error")
    line.fork(95, "okafor-dev")
    line.review_comment(61, "tomasz-igrek", 2702, "replay-after-error", "Would `defer` say this more clearly? 🤔")
    line.push(22, "wren-halloway", "replay-after-error")
    line.review(35, "tomasz-igrek", 2702, "replay-after-error")
    line.star(50, "rhea-okonma")
    line.pulls(7, "tomasz-igrek", "merged", 2702, "replay-after-error")
    line.push(0, "tomasz-igrek")
    line.issues(1, "tomasz-igrek", "closed", 2701, slow)
    line.ref(2, "wren-halloway", "DeleteEvent", "replay-after-error")
    line.star(140, "pine-and-code")
    line.add(33, "mirele-s", "GollumEvent", {"pages": [{
        "page_name": "Operators", "title": "Operators", "summary": None, "action": "edited", "sha": sha("wiki"),
        "html_url": "https://github.com/ReactiveX/RxSwift/wiki/Operators"}]})
    line.issues(71, "quietbranch", "opened", 2703, docs)
    line.comment(15, "ansel-bright", 2703, docs, "On the one that it was given. I will write a sentence.")
    line.fork(20, "ansel-bright")
    line.star(66, "quietbranch")
    line.pulls(81, "ansel-bright", "opened", 2704, "debounce-docs")
    line.review(26, "wren-halloway", 2704, "debounce-docs", "changes_requested")
    line.pulls(47, "ansel-bright", "synchronize", 2704, "debounce-docs")
    line.review(19, "wren-halloway", 2704, "debounce-docs")
    line.pulls(5, "wren-halloway", "merged", 2704, "debounce-docs")
    line.push(0, "wren-halloway")
    line.issues(1, "wren-halloway", "closed", 2703, docs)
    line.star(98, "okafor-dev")
    line.add(54, "rhea-okonma", "CommitCommentEvent", {"action": "created", "comment": {
        "id": 175_000_001, "commit_id": sha("main"), "path": None, "line": None, "user": account("rhea-okonma"),
        "body": "This fixed it for us, thank you ♥", "created_at": stamp(line.when), "updated_at": stamp(line.when)}})
    line.ref(90, "tomasz-igrek", "CreateEvent", "6.11.0", "tag")
    line.release(4, "tomasz-igrek", "6.11.0")
    line.push(12, "saltmarsh-ci[bot]", "gh-pages")
    line.star(37, "mirele-s")
    line.add(28, "wren-halloway", "DiscussionEvent", {"action": "created", "discussion": {
        "id": 9_100_001, "number": 2705, "title": "What should 7.0 leave behind?", "user": account("wren-halloway"),
        "state": "open", "comments": 0, "created_at": stamp(line.when), "body": "Say what you would not miss."}})
    return line


REPOSITORIES = [
    ("lanternworks/tidekit", "Charts for iOS that follow the finger", 71_240, "MIT"),
    ("northgate-labs/quill", "A fast text view with plain Swift attributes", 58_902, "Apache-2.0"),
    ("saltmarsh/ferry", "Dependency-free networking for small apps", 41_377, "MIT"),
    ("hollowtree/acorn", "Snapshot tests that explain the difference", 36_018, "BSD-3-Clause"),
    ("brightwater/loom", "Structured concurrency, drawn on the screen", 33_456, None),
]


def repository(name, about, stars, licence, number):
    owner, short = name.split("/")
    return {
        "id": 1_201_000_000 + 7_919 * number, "node_id": "R_" + base64.b64encode(name.encode()).decode().rstrip("="),
        "name": short, "full_name": name, "private": False,
        "owner": {"login": owner, "id": 280_000_000 + number, "avatar_url": avatar(280_000_000 + number) + "v=4",
                  "url": f"{GITHUB}/users/{owner}", "html_url": f"https://github.com/{owner}", "type": "Organization",
                  "site_admin": False},
        "html_url": f"https://github.com/{name}", "description": about, "fork": False, "url": f"{GITHUB}/repos/{name}",
        "events_url": f"{GITHUB}/repos/{name}/events", "created_at": "2019-05-14T08:11:02Z",
        "updated_at": stamp(NOW - timedelta(minutes=3 + number)), "pushed_at": stamp(NOW - timedelta(hours=2 + number)),
        "homepage": None, "size": 8_000 + 731 * number, "stargazers_count": stars, "watchers_count": stars,
        "language": "Swift", "forks_count": stars // 9, "open_issues_count": 12 + 5 * number,
        "license": licence and {"key": licence.lower(), "name": licence, "spdx_id": licence},
        "topics": ["swift", "ios"], "visibility": "public", "default_branch": "main", "score": 1.0}


def repository_events(item, number):
    owner = item["full_name"].split("/")[0]
    repo = {"id": item["id"], "name": item["full_name"], "org": (owner, item["owner"]["id"])}
    people = list(PEOPLE)
    one, two = people[number], people[number + 3]
    line = Timeline(repo, 16_600_000_000 + 10_000_000 * number, NOW - timedelta(hours=7 + number))
    line.star(3, two)
    line.pulls(50 + 4 * number, one, "opened", 310 + number, "tidy-up")
    line.review(40, two, 310 + number, "tidy-up")
    line.push(25, one)
    line.star(75, people[number + 4])
    return line


# --- EONET ----------------------------------------------------------------------------------------------------------

CATEGORIES = [
    ("drought", "Drought", "Long dry spells that harm crops and water supplies."),
    ("dustHaze", "Dust and Haze", "Dust storms and other air full of particles, volcanoes aside."),
    ("earthquakes", "Earthquakes", "Shaking and shifting of the ground."),
    ("floods", "Floods", "Water where there is none as a rule, seen on land or from above."),
    ("landslides", "Landslides", "Slopes that slide, of rock, mud or snow."),
    ("manmade", "Manmade", "Events with people behind them, large enough to be seen from space."),
    ("seaLakeIce", "Sea and Lake Ice", "Ice on the seas and lakes, icebergs among it."),
    ("severeStorms", "Severe Storms", "Hurricanes, cyclones, tornadoes and other strong storms."),
    ("snow", "Snow", "Snowfall that is out of the common, in amount or in time."),
    ("tempExtremes", "Temperature Extremes", "Heat or cold far from what is usual."),
    ("volcanoes", "Volcanoes", "Eruptions, and the ash that comes of them."),
    ("waterColor", "Water Color", "Water that changes its colour: algae, sediment, salt."),
    ("wildfires", "Wildfires", "Fires in the open country, as fires of forests and grass."),
]

# number, title, category, closed after so many days or None, unit, points: (days ago, hour, magnitude, longitude, latitude)
NATURAL = [
    (21_904, "Wildfire at Cinder Creek, Oregon ", "wildfires", None, "acres",
     [(3, 21, "640.00", -121.4402, 44.0301), (1, 18, "1175.50", -121.4391, 44.0377)]),
    (21_897, "Tropical Cyclone Oriole", "severeStorms", None, "kts",
     [(4, 0, "35.00", 88.2, 12.4), (3, 0, "50.00", 87.1, 13.6), (2, 0, "65.00", 86.3, 15), (1, 0, "60.00", 85.9, 16.7)]),
    (21_889, "Ash from Mount Kestrel", "volcanoes", None, None, [(6, 0, None, 160.55, 55.972)]),
    (21_871, "Iceberg Q-31", "seaLakeIce", None, "NM^2",
     [(40, 0, "212.00", -46.15, -61.98), (26, 0, "208.00", -45.2, -61.4), (12, 0, "199.00", -44.96, -60.87)]),
    (21_860, "Flood of the Lower Marl, Queensland", "floods", None, None, [(9, 0, None, 145.77, -17.91)]),
    (21_842, "Wildfire near Pedra Alta, Portugal", "wildfires", None, "hectare", [(14, 15, "88.00", -8.03, 40.21)]),
    (21_815, "Dust over the Hollow Basin", "dustHaze", None, None, [(19, 0, None, 64.8, 30.9)]),
    (21_701, "Wildfire at Larkspur Ridge, California", "wildfires", 9, "acres",
     [(75, 20, "310.00", -120.71, 38.4455), (71, 19, "2204.25", -120.6999, 38.452)]),
    (21_688, "Hurricane Juniper", "severeStorms", 7, "kts",
     [(92, 6, "40.00", -54.2, 16.9), (90, 6, "75.00", -58, 19.25), (88, 6, "95.00", -62.4, 22.1), (86, 6, "60.00", -63.3, 27.8)]),
    (21_640, "Eruption of Mount Sorrel", "volcanoes", 30, None, [(130, 0, None, 112.92, -8.108)]),
    (21_577, "Green water in Lake Amberley", "waterColor", 12, None, [(168, 0, None, -81.2, 41.82)]),
    (21_490, "Late snow in the Vanter Alps", "snow", 3, None, [(210, 0, None, 9.61, 46.8)]),
    (21_402, "Wildfire in the Halde Forest, Sweden", "wildfires", 6, "hectare", [(255, 12, "54.00", 14.9, 61.3)]),
]


def natural_event(number, title, category, closed_after, unit, points):
    """The text as the service formats it: tabs, stray blanks and digits such as 35.00 included."""
    first = NOW - timedelta(days=points[0][0])
    closed = f'"{stamp((first + timedelta(days=closed_after)).replace(hour=0, minute=0))}"' if closed_after else "null"
    name = dict((key, text) for key, text, _ in CATEGORIES)[category]
    geometry = ",\n\n".join(
        '\t\t\t\t\t{{\n\t\t\t\t\t\t\t"magnitudeValue": {},\n\t\t\t\t\t"magnitudeUnit": {},\n\t\t\t\t\t"date": "{}",\n'
        '\t\t\t\t\t"type": "Point", \n\t\t\t\t\t\t\t"coordinates": [ {}, {} ]\n\t\t\t\t\t\t\t}}'.format(
            magnitude or "null", json.dumps(unit),
            stamp((NOW - timedelta(days=days)).replace(hour=hour, minute=0)), longitude, latitude)
        for days, hour, magnitude, longitude, latitude in points)
    return (f'\t\t{{\n\t\t\t"id": "EONET_{number}",\n\t\t\t"title": {json.dumps(title)},\n            "description": null,\n'
            f'\t\t\t"link": "{EONET}/events/EONET_{number}",\n\t\t\t"closed": {closed},\n\t\t\t\t"categories": [\n\t\t\t\t\t{{\n'
            f'\t\t\t\t\t"id": "{category}",\n\t\t\t\t\t"title": "{name}"\n\t\t\t\t}}\n\n\t    \t\t\t\t],\n    \t\t\t"sources": [\n'
            f'\t\t\t\t\t{{\n\t\t\t\t\t"id": "DEMO",\n\t\t\t\t\t"url": "https://example.org/events/{number}?a=1&amp;b=2"\n'
            f'\t\t\t\t}}\n\n\t\t\t],\n\t\t\t\t\t"geometry": [\n{geometry}\n\n\t\t\t]\n\t\t}}')


def natural_events(are_open):
    chosen = [one for one in NATURAL if (one[3] is None) == are_open]
    events = ",\n\n".join(natural_event(*one) for one in chosen)
    return (f'{{\n\t"title": "EONET Events",\n\t"description": "Natural events from EONET.",\n\t"link": "{EONET}/events",\n'
            f'\t"events": [\n{events}\n\t]\n}}\n')


def natural_categories():
    items = ",\n".join(
        f'\t\t{{\n\t\t\t"id": "{key}",\n\t\t\t"title": "{title}",\n\t\t\t"link": "{EONET}/categories/{key}",\n'
        f'\t\t\t"description": "{about}",\n\t\t\t"layers": "{EONET}/layers/{key}"\n\t\t}}' for key, title, about in CATEGORIES)
    return (f'{{\n\t"title": "EONET Event Categories",\n\t"description": "The categories of events",\n'
            f'\t"link": "{EONET}/categories",\n\t"categories": [\n{items}\n\t]\n}}\n')


# --- Jokes ----------------------------------------------------------------------------------------------------------

JOKE_TEXTS = [
    ("Chuck Norris does not wait for the kettle. The water boils out of respect.", []),
    ("When Chuck Norris opens a window, the weather asks for permission to come in.", []),
    ("Chuck Norris never writes tests. The bugs report themselves to him.", ["dev"]),
    ("Chuck Norris found the last page of the internet, and then he turned it.", ["dev"]),
    ("The mountain did not come to Chuck Norris. It was already there, waiting.", []),
    ("Chuck Norris can hear the colour of a \"silent\" film.", ["movie"]),
    ("A compass near Chuck Norris points at him and says sorry to the north.", ["science"]),
    ("Chuck Norris once lost a race, so the road was sent back to school.", ["sport"]),
    ("When Chuck Norris plants a seed, the tree grows down to see who did it.", []),
    ("Chuck Norris's calendar has no Monday. Monday did not dare.", ["career"]),
    ("The moon is only half full on some nights because Chuck Norris drank the other half.", ["food"]),
    ("Chuck Norris merged two rivers without a single conflict.", ["dev"]),
]


def joke(number, text, categories):
    name = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).decode().rstrip("=")
    created = f"2020-01-05 13:42:{20 + number}.{104_863 + 7_001 * number}".rstrip("0")
    return {"categories": categories, "created_at": created, "icon_url": f"{JOKES}/img/avatar/chuck-norris.png",
            "id": name, "updated_at": created, "url": f"{JOKES}/jokes/{name}", "value": text}


# --- the recording --------------------------------------------------------------------------------------------------


class Recording:
    def __init__(self):
        self.entries = []
        self.when = NOW
        self.left = {"core": 60, "search": 10}

    def add(self, url, body, accept="application/json", headers=(), mime="application/json"):
        self.when += timedelta(milliseconds=350)
        sent = [("Accept", accept)]
        if url.startswith(GITHUB):
            sent.append(("X-GitHub-Api-Version", "2022-11-28"))
        items = [("Date", http_date(self.when)), ("Content-Type", mime), *headers]
        size = len(body.encode())
        self.entries.append({
            "startedDateTime": self.when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.when.microsecond // 1000:03}Z", "time": 180,
            "request": {"method": "GET", "url": url, "httpVersion": "HTTP/2", "cookies": [],
                        "headers": [{"name": name, "value": value} for name, value in sent],
                        "queryString": [{"name": name, "value": value} for name, value in parse_qsl(urlsplit(url).query)],
                        "headersSize": -1, "bodySize": 0},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/2", "cookies": [],
                         "headers": [{"name": name, "value": value} for name, value in items],
                         "content": {"size": size, "mimeType": mime, "text": body}, "redirectURL": "", "headersSize": -1,
                         "bodySize": size},
            "cache": {}, "timings": {"send": 0, "wait": 180, "receive": 0}})

    def github(self, url, value, more=(), resource="core", limit=60):
        self.left[resource] -= 1
        body = compact(value)
        # A search answers without validators.
        own = [("Cache-Control", "no-cache")] if resource == "search" else [
            ("Cache-Control", "public, max-age=60, s-maxage=60"), ("ETag", 'W/"%s"' % hashlib.sha256(body.encode()).hexdigest()),
            ("Last-Modified", http_date(datetime.fromisoformat(value[0]["created_at"]))), ("X-Poll-Interval", "60")]
        self.add(url, body, "application/vnd.github+json", [
            *own, ("X-RateLimit-Limit", str(limit)), ("X-RateLimit-Remaining", str(self.left[resource])),
            ("X-RateLimit-Used", str(limit - self.left[resource])),
            ("X-RateLimit-Reset", str(int(NOW.timestamp()) + (60 if resource == "search" else 3600))),
            ("X-RateLimit-Resource", resource), *more], "application/json; charset=utf-8")


def main():
    recording = Recording()

    events = rxswift().events[::-1]
    pages = f"{GITHUB}/repositories/{RX['id']}/events?per_page=30&page="
    last, first = (f'<{pages}{number}>; rel="{relation}"' for number, relation in ((2, "last"), (1, "first")))
    recording.github(f"{GITHUB}/repos/{RX['name']}/events?per_page=30", events[:30],
                     [("Link", f'<{pages}2>; rel="next", {last}')])
    recording.github(f"{pages}2", events[30:], [("Link", f'<{pages}1>; rel="prev", {first}')])

    items = [repository(*one, number) for number, one in enumerate(REPOSITORIES)]
    search = f"{GITHUB}/search/repositories?q=language:swift&sort=stars&order=desc&per_page=5"
    recording.github(search, {"total_count": 1_204_551, "incomplete_results": False, "items": items},
                     [("Link", f'<{search}&page=2>; rel="next", <{search}&page=200>; rel="last"')], "search", 10)
    for number, item in enumerate(items):
        recording.github(f"{GITHUB}/repos/{item['full_name']}/events?per_page=5", repository_events(item, number).events[::-1])

    recording.add(f"{EONET}/categories", natural_categories())
    recording.add(f"{EONET}/events?status=open&days=360", natural_events(True))
    recording.add(f"{EONET}/events?status=closed&days=360", natural_events(False))

    for number, (text, categories) in enumerate(JOKE_TEXTS):
        recording.add(f"{JOKES}/jokes/random", compact(joke(number, text, categories)))

    lines = ",\n".join(compact(entry) for entry in recording.entries)
    target = Path(__file__).resolve().parent / "demo.har"
    target.write_text('{"log":{"version":"1.2","creator":{"name":"make_demo.py","version":"1"},"entries":[\n'
                      f"{lines}\n]}}}}\n", encoding="utf-8")
    print(f"{target.name}: {len(recording.entries)} exchanges, {target.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
