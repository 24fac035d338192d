"""TrendingRepos on every recorded search, served as GitHub served it."""

import json

from support import recorded
from support.jsontext import elements, joined, member, members, minified
from support.registry import check, check_each
from support.upstream import Answer
from support.verdict import hold, same

KIND = "com.github.repository.trending"


def ranked(item, rank):
    """The documented change: the rank, at the end."""
    return joined([*members(item), ("rank", str(rank))])


def compare(events, items, source, first=1, partial=False):
    same(
        [json.loads(one.data)["full_name"] for one in events],
        [json.loads(one)["full_name"] for one in items],
        "the ranking",
    )
    for rank, (event, item) in enumerate(zip(events, items), first):
        same(event.data, ranked(item, rank), f"the data of rank {rank}")
        same(event.type, KIND, "the type")
        hold(event.source.startswith(source), "the source is the search", expected=source, seen=event.source)
        same(event.all.get("partial"), True if partial else None, "the mark of a partial answer")


class Search:
    def __init__(self, case, name, **options):
        self.case = case
        self.up = case.upstream()
        self.pages = recorded.exchanges(f"github-search/exchanges/{name}.jsonl")
        self.searches = [one for one in self.pages if "/search/" in one.path]
        case.config({"top": case.source("TrendingRepos", self.up, **{"events_per_repo": 0, **options})})

    def serve(self, page):
        self.up.forget()
        self.up.on("/search/repositories", lambda asked: page.answer(self.up.url, asked))
        return self


# File: the search as the config says it, how many there are, and the recorded query.
SEARCHES = {
    "github3.py__GitHub_search_repositories": ("github3 language:python", 100, 8, {}),
    "hub4j__GHRepositoryTest_searchRepositories": ("tetris language:assembly", 30, 30, {"sort": "stars"}),
    "octokit.rb__search_repositories": ("tetris language:assembly", 30, 30, {"sort": "stars", "order": "desc"}),
    "pygithub__Search.testSearchRepos": ("github language:Python", 30, 30, {"sort": "stars", "order": "desc"}),
}


@check_each(SEARCHES)
def recorded_search(case, name, row):
    """Each repository once with its rank, its text unchanged; one request; then nothing, as nothing has changed."""
    q, limit, count, query = row
    search = Search(case, name, q=q, limit=limit)
    page = search.searches[0]
    items = elements(member(page.body, "items"))
    same(len(items), count, "repositories in the recording")
    search.serve(page)
    case.once()
    compare(case.events(), items, f"{search.up.url}/search/repositories")
    (asked,) = search.up.requests()
    same(asked.query.get("q"), q, "the search")
    same(asked.query.get("per_page"), str(limit), "the size of the page")
    for key, text in query.items():
        same(asked.query.get(key), text, key)
    search.serve(page)
    case.once()
    same(len(case.events()), count, "events after a second run")


@check(recordings=True)
def a_smaller_limit_takes_the_first(case):
    """A service that gives more than was asked for: only `limit` repositories."""
    search = Search(case, "octokit.rb__search_repositories", q="tetris", limit=3)
    search.serve(search.searches[0])
    case.once()
    compare(case.events(), elements(member(search.searches[0].body, "items"))[:3], search.up.url)


@check(recordings=True)
def a_ranking_that_changed(case):
    """The second recorded page as the answer of the next poll: who enters or has another rank comes, nobody else."""
    search = Search(case, "pygithub__Search.testSearchRepos", q="github language:Python", limit=30)
    before, after = (elements(member(one.body, "items")) for one in search.searches)
    search.serve(search.searches[0])
    case.once()
    search.serve(search.searches[1])
    case.once()
    compare(case.events()[:30], before, search.up.url)
    ranks = {json.loads(one)["id"]: rank for rank, one in enumerate(before, 1)}
    expected = [ranked(one, rank) for rank, one in enumerate(after, 1) if ranks.get(json.loads(one)["id"]) != rank]
    same([one.data for one in case.events()[30:]], expected, "what changed")
    # The ranking as it was: all come back, and are new events.
    search.serve(search.searches[0])
    case.once()
    same(
        [one.data for one in case.events()[30 + len(expected) :]],
        [ranked(one, rank) for rank, one in enumerate(before, 1) if one not in after],
        "who came back",
    )


@check(recordings=True)
def a_partial_search(case):
    """The repositories of a recorded search that ran out of time: marked, and who is missing has not left."""
    search = Search(case, "pygithub__PaginatedList.testSearchWithIncompleteResults", q="black", limit=5)
    hold(all(json.loads(one.body)["incomplete_results"] for one in search.searches), "the recording is incomplete")
    repositories = {}
    for page in search.searches:
        for item in elements(member(page.body, "items")):
            repository = member(item, "repository")
            repositories.setdefault(json.loads(repository)["id"], repository)
    items = list(repositories.values())[:5]
    hold(len(items) >= 4, "repositories in the recording", seen=len(items))

    def answer(some, partial):
        return Answer(
            f'{{"total_count":{len(some)},"incomplete_results":{str(partial).lower()},"items":[{",".join(some)}]}}'
        )

    search.up.on("/search/repositories", answer(items, True))
    case.once()
    compare(case.events(), items, search.up.url, partial=True)
    # Only the last one is found: the others keep their places.
    search.up.forget().on("/search/repositories", answer(items[-1:], True))
    case.once()
    same(len(case.events()), len(items), "events after an answer with one repository of all")
    # Now the answer is whole, and as at first: nothing has changed.
    search.up.forget().on("/search/repositories", answer(items, False))
    case.once()
    same(len(case.events()), len(items), "events after the whole answer")


# Recordings of searches for something else: not the documented shape.
OTHERS = {
    "pygithub__Github.testSearchRepos": False,
    "octokit.rb__search_users_auto_pagination": True,
    "pygithub__Search.testSearchUsers": True,
}


@check_each(OTHERS)
def a_search_of_another_kind(case, name, has_items):
    """An answer that holds no repositories: no event, and a word about it that names the node."""
    up = case.upstream()
    page = recorded.exchanges(f"github-search/exchanges/{name}.jsonl")[0]
    case.config({"top": case.source("TrendingRepos", up, events_per_repo=0)})
    up.on("/search/repositories", lambda asked: page.answer(up.url, asked))
    run = case.once(code=None)
    same(case.lines(), [], "events")
    if has_items:
        # There is a list "items", of objects without the name of a repository.
        count = len(elements(member(page.body, "items")))
        hold(run.told(r"\btop\b", rf"\b{count}\b"), "the log names the node and counts what it left out", seen=run.tail)
    else:
        run.exits(1)
        hold(
            run.told(r"\btop\b", up.url + "/search/repositories", level="error"),
            "one error names node and URL",
            seen=run.tail,
        )


@check(recordings=True)
def newest_events_of_each(case):
    """The repositories' newest events: combined, by time, each once; at most `max_concurrent` requests at a time."""
    search = Search(case, "octokit.rb__search_repositories", q="tetris", limit=5, events_per_repo=5, max_concurrent=2)
    names = [json.loads(one)["full_name"] for one in elements(member(search.searches[0].body, "items"))[:5]]
    public = recorded.exchanges("github-events/exchanges/hub4j__AppTest_testEventApi.jsonl")
    pool = [one for page in public if page.is_list for one in page.elements]

    def serve(start):
        search.serve(search.searches[0])
        lists = {}
        for place, name in enumerate(names):
            # The lists overlap: an event can stand in two of them.
            lists[name] = pool[start + place * 4 : start + place * 4 + 5]
            search.up.on(f"/repos/{name}/events", Answer("[" + ",".join(lists[name]) + "]", after=0.05))
        return lists

    def expected(lists, known=()):
        found = {}
        for name, texts in lists.items():
            for text in reversed(texts):
                one = json.loads(text)
                if one["id"] not in known:
                    found.setdefault(one["id"], (one["created_at"], text, name))
        return sorted(found.values(), key=lambda one: one[0])

    first = expected(serve(0))
    case.once()
    events = [one for one in case.events() if one.type != KIND]
    same([one.data for one in events], [minified(text) for _, text, _ in first], "the events, by time")
    same(
        [one.source for one in events],
        [f"{search.up.url}/repos/{name}/events" for _, _, name in first],
        "their sources",
    )
    for asked in search.up.requests():
        if asked.path.endswith("/events"):
            same(asked.query.get("per_page"), "5", "the size of a list of events")
    hold(search.up.most_under_way <= 2, "requests at one time", expected="at most 2", seen=search.up.most_under_way)
    known = {json.loads(text)["id"] for _, text, _ in first}
    second = expected(serve(3), known)
    hold(0 < len(second) < 25, "some are new", seen=len(second))
    case.once()
    events = [one for one in case.events() if one.type != KIND][len(first) :]
    same([one.data for one in events], [minified(text) for _, text, _ in second], "what is new, by time")
