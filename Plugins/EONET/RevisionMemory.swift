// feedbus: which revision of which natural event was emitted.

import FeedbusPlugin
import Polling

/// The events of the last answers. It holds what the service lists and no more: an event that is no longer listed is
/// forgotten.
struct RevisionMemory: Sendable, Equatable {
    /// What one request gave.
    struct List: Sendable, Equatable {
        var url: String
        /// Revisions by the event's id.
        var revisions: [String: String]
        var validators: Validators?
    }

    /// By the request's key.
    private(set) var lists: [String: List] = [:]

    init() {}

    /// The validators for a request; nil where it has another address than last time.
    func validators(for query: EventsQuery) -> Validators? {
        guard let list = lists[query.key], list.url == query.url else { return nil }
        return list.validators
    }

    /// The event was emitted, by whichever request it came.
    func knows(_ event: NaturalEvent) -> Bool {
        lists.values.contains { $0.revisions[event.id] == event.revision }
    }

    /// Takes a whole answer, and returns the events that are new or have changed, oldest first: the reverse of the
    /// service's order. Where an answer has an id twice, its first event counts.
    mutating func take(_ events: [NaturalEvent], of query: EventsQuery) -> [NaturalEvent] {
        var revisions: [String: String] = [:]
        var news: [NaturalEvent] = []
        for event in events where revisions[event.id] == nil {
            revisions[event.id] = event.revision
            if !knows(event) { news.append(event) }
        }
        lists[query.key] = List(url: query.url, revisions: revisions, validators: lists[query.key]?.validators)
        return news.reversed()
    }

    /// Keeps validators beside what they are of.
    mutating func keep(_ validators: Validators, for query: EventsQuery) {
        lists[query.key, default: List(url: query.url, revisions: [:])].validators = validators
    }

    /// Forgets what was asked for by other requests than these.
    mutating func forget(allBut queries: [EventsQuery]) {
        let keys = Set(queries.map(\.key))
        lists = lists.filter { keys.contains($0.key) }
    }

    /// True where there is something to save after the poll that led from `earlier` to this.
    func differs(from earlier: RevisionMemory) -> Bool {
        guard lists.count == earlier.lists.count else { return true }
        return lists.contains { key, list in
            guard let before = earlier.lists[key] else { return true }
            return list.url != before.url || list.revisions != before.revisions
                || list.validators.map { !$0.isSame(as: before.validators) } ?? (before.validators != nil)
        }
    }
}

// MARK: - Saving

extension RevisionMemory {
    init(saved: JSONValue?) {
        guard let members = saved?["lists"]?.members else { return }
        for member in members {
            guard let url = member.value["url"]?.string, let events = member.value["events"] else { continue }
            var revisions: [String: String] = [:]
            for event in events.members { revisions[event.key.string] = event.value.string }
            lists[member.key.string] = List(
                url: url, revisions: revisions, validators: Validators(saved: member.value["validators"]))
        }
    }

    /// The cursor.
    var saved: Bytes {
        let members = lists.sorted { $0.key < $1.key }.map { key, list -> (key: String, value: Bytes) in
            let events = list.revisions.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSON.quote($0.value)) }
            var parts = [
                (key: "url", value: JSON.quote(list.url)), (key: "events", value: SavedText.object(events)),
            ]
            if let validators = list.validators { parts.append((key: "validators", value: validators.json)) }
            return (key, SavedText.object(parts))
        }
        return SavedText.make([(key: "lists", value: SavedText.object(members))])
    }
}
