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

    init(limit: Int, saved: JSONValue?) {
        seen = SeenIDs(limit: limit, json: saved?["seen"]) ?? SeenIDs(limit: limit)
        validators = [:]
        guard let members = saved?["validators"]?.members else { return }
        for member in members { validators[member.key.string] = Validators(saved: member.value) }
    }

    /// Takes the pages of one poll and returns the events that were not emitted before, each once, by `created_at`;
    /// events of one time stay in the order of the repositories, oldest first.
    /// - Parameter pages: by rank; each page newest event first.
    mutating func take(_ pages: [(source: String, page: EventsPage)]) -> [ListedEvent] {
        var news: [(event: ListedEvent, time: WallTime?)] = []
        var found: Set<String> = []
        for (source, page) in pages {
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
        seen.insert(sorted.lazy.map(\.element.event.event.id))
        return sorted.map(\.element.event)
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
        return SavedText.make([
            (key: "seen", value: ids.finish()), (key: "validators", value: SavedText.object(kept)),
        ])
    }
}
