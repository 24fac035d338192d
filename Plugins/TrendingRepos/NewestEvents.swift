// feedbus: the newest events of several repositories, as one list.

import FeedbusPlugin
import GitHubAPI
import Polling

/// What was emitted of the repositories' events, and what is needed to ask for them again.
struct NewestEvents: Sendable {
    /// An event with the address of the list that it stood in.
    struct ListedEvent: Sendable {
        var event: GitHubEvent
        var source: String
    }

    private(set) var seen: SeenIDs
    /// By repository; only of those that are in the ranking.
    private(set) var validators: [String: Validators]
    /// By the address of the list: the ids of its last whole answer, oldest first. After a 304 they are still listed.
    private(set) var listed: [String: [String]] = [:]

    init(limit: Int, saved: JSONValue?) {
        seen = SeenIDs(limit: limit, json: saved?["seen"]) ?? SeenIDs(limit: limit)
        validators = [:]
        if let members = saved?["validators"]?.members {
            for member in members { validators[member.key.string] = Validators(saved: member.value) }
        }
        if let members = saved?["listed"]?.members {
            for member in members { listed[member.key.string] = member.value.elements.compactMap(\.string) }
        }
    }

    /// Takes the pages of one poll and returns the events that were not emitted before, each once, by `created_at`;
    /// events of one time stay in the order of the repositories, oldest first.
    /// - Parameter pages: by rank; each page newest event first.
    mutating func take(_ pages: [(source: String, page: EventsPage)]) -> [ListedEvent] {
        var news: [(event: ListedEvent, time: WallTime?)] = []
        var found: Set<String> = []
        for (source, page) in pages {
            listed[source] = page.events.reversed().map(\.id)
            for event in page.events.reversed() where !seen.contains(event.id) && found.insert(event.id).inserted {
                news.append((ListedEvent(event: event, source: source), WallTime(rfc3339: event.createdAt)))
            }
        }
        let sorted = news.enumerated().sorted { left, right in
            // An event without a time goes first: nothing says that it is new.
            let first = left.element.time ?? WallTime(seconds: .min)
            let second = right.element.time ?? WallTime(seconds: .min)
            return first == second ? left.offset < right.offset : first < second
        }
        // What is still listed comes again with the next whole answer: it is not forgotten before what no longer does.
        let still = listed.sorted { $0.key < $1.key }.flatMap { $0.value.filter(seen.contains) }
        seen.insert(still + sorted.map(\.element.event.event.id))
        return sorted.map(\.element.event)
    }

    /// Forgets which events were listed at other addresses than these.
    mutating func forgetLists(allBut sources: [String]) {
        listed = listed.filter { sources.contains($0.key) }
    }

    /// Keeps the validators of these repositories only, and puts in new ones. Returns whether something changed that
    /// has to be saved.
    mutating func keep(_ fresh: [String: Validators], of repositories: [String]) -> Bool {
        var isChanged = false
        for name in validators.keys where !repositories.contains(name) {
            validators[name] = nil
            isChanged = true
        }
        for (name, new) in fresh {
            if !new.isSame(as: validators[name]) { isChanged = true }
            validators[name] = new
        }
        return isChanged
    }

    /// The cursor.
    var saved: Bytes {
        var ids = ByteWriter()
        seen.append(to: &ids)
        let kept = validators.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.json) }
        let lists = listed.sorted { $0.key < $1.key }.map { source, ids in
            (key: source, value: SavedText.array(ids.map { JSON.quote($0) }))
        }
        return SavedText.make([
            (key: "seen", value: ids.finish()), (key: "validators", value: SavedText.object(kept)),
            (key: "listed", value: SavedText.object(lists)),
        ])
    }
}
