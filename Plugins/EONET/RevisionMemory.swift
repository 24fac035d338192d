// feedbus: which revision of which natural event was emitted.

import FeedbusPlugin
import Polling

/// The events of the last answers, and those that are no longer listed: an answer that lacks some, or all, is no reason to
/// emit them again when they are back. Of the latter it holds as many as the longest list had, and at least a thousand.
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
    /// What no list has any more, the latest to go last.
    private(set) var gone: [Gone] = []

    /// An event that is no longer listed, with its last revision.
    struct Gone: Sendable, Equatable {
        var id: String
        var revision: String
    }

    private static let leastGone = 1_000

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

    /// Sets aside what only this list had.
    private mutating func setAside(_ before: [String: String]) {
        let most = max(Self.leastGone, before.count, gone.count)
        let left = before.filter { id, _ in !lists.values.contains { $0.revisions[id] != nil } }
        gone += left.sorted { $0.key < $1.key }.map { Gone(id: $0.key, revision: $0.value) }
        if gone.count > most { gone.removeFirst(gone.count - most) }
    }

    /// Takes a whole answer, and returns the events that are new or have changed, oldest first: the reverse of the
    /// service's order. Where an answer has an id twice, its first event counts.
    mutating func take(_ events: [NaturalEvent], of query: EventsQuery) -> [NaturalEvent] {
        var revisions: [String: String] = [:]
        var news: [NaturalEvent] = []
        let set = Dictionary(gone.map { ($0.id, $0.revision) }) { _, last in last }
        for event in events where revisions[event.id] == nil {
            revisions[event.id] = event.revision
            if !knows(event) && set[event.id] != event.revision { news.append(event) }
        }
        let before = lists[query.key]
        lists[query.key] = List(url: query.url, revisions: revisions, validators: before?.validators)
        if !gone.isEmpty { gone.removeAll { revisions[$0.id] != nil } }
        if let before { setAside(before.revisions) }
        return news.reversed()
    }

    /// Keeps validators beside what they are of.
    mutating func keep(_ validators: Validators, for query: EventsQuery) {
        lists[query.key, default: List(url: query.url, revisions: [:])].validators = validators
    }

    /// Forgets what was asked for by other requests than these.
    mutating func forget(allBut queries: [EventsQuery]) {
        let keys = Set(queries.map(\.key))
        let dropped = lists.filter { !keys.contains($0.key) }.sorted { $0.key < $1.key }
        lists = lists.filter { keys.contains($0.key) }
        for (_, list) in dropped { setAside(list.revisions) }
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
        guard let events = saved?["gone"]?.members else { return }
        for event in events {
            guard let revision = event.value.string else { continue }
            gone.append(Gone(id: event.key.string, revision: revision))
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
        let left = gone.map { (key: $0.id, value: JSON.quote($0.revision)) }
        return SavedText.make([
            (key: "lists", value: SavedText.object(members)), (key: "gone", value: SavedText.object(left)),
        ])
    }
}
