// feedbus: who holds which rank, and what changes.

import FeedbusPlugin
import Polling

/// The repositories of the last answers by rank.
struct Ranking: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        var id: String
        var name: String
        /// 1...
        var rank: Int
    }

    /// A repository that entered, or that has another rank than before.
    struct Change: Sendable {
        var repository: SearchPage.Repository
        var rank: Int
    }

    /// By rank.
    private(set) var entries: [Entry] = []
    /// How often there was something to emit. Part of the events' ids: a repository that comes back to an earlier rank
    /// is a new event, and one that is polled again with the same state has the same id.
    private(set) var turn = 0

    init() {}

    /// Takes an answer and returns what is to be emitted, by rank.
    ///
    /// A partial answer leaves out repositories that have not left the list: they keep their ranks, and those that were
    /// found take the ranks between them.
    /// - Parameters:
    ///   - limit: the last rank.
    ///   - everything: emit all that was found, changed or not.
    mutating func take(_ page: SearchPage, limit: Int, everything: Bool = false) -> [Change] {
        let found = Set(page.repositories.map(\.id))
        let kept = page.isPartial ? entries.filter { !found.contains($0.id) && $0.rank <= limit } : []
        let taken = Set(kept.map(\.rank))
        let free = (1...max(limit, 1)).filter { !taken.contains($0) }
        let before = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.rank) })

        var changes: [Change] = []
        var next = kept
        for (repository, rank) in zip(page.repositories, free) {
            next.append(Entry(id: repository.id, name: repository.name, rank: rank))
            if everything || before[repository.id] != rank {
                changes.append(Change(repository: repository, rank: rank))
            }
        }
        entries = next.sorted { $0.rank < $1.rank }
        if !changes.isEmpty { turn += 1 }
        return changes
    }

    /// The id of a change's event.
    func eventID(_ change: Change) -> String { "\(change.repository.id)@\(change.rank).\(turn)" }
}

// MARK: - Saving

extension Ranking {
    /// Reads what `json` gave; nil for another value. A repeated id or rank is left out.
    init?(json: JSONValue?) {
        guard let json, let turn = json["turn"]?.int, let list = json["entries"], list.kind == .array else {
            return nil
        }
        self.turn = turn
        var ids: Set<String> = []
        for element in list.elements {
            guard let id = element["id"]?.string, let name = element["name"]?.string, let rank = element["rank"]?.int,
                ids.insert(id).inserted
            else { continue }
            entries.append(Entry(id: id, name: name, rank: rank))
        }
    }

    /// The ranking as JSON text.
    var json: Bytes {
        let list = entries.map { entry in
            SavedText.object([
                (key: "id", value: JSON.quote(entry.id)), (key: "name", value: JSON.quote(entry.name)),
                (key: "rank", value: Bytes(String(entry.rank))),
            ])
        }
        return SavedText.object([
            (key: "turn", value: Bytes(String(turn))), (key: "entries", value: SavedText.array(list)),
        ])
    }

    /// The same count of turns without the repositories: for another search.
    var emptied: Ranking {
        var copy = self
        copy.entries = []
        return copy
    }
}
