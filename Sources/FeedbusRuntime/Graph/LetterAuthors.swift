// feedbus: whose dead letters a full store drops.

import FeedbusStore
import Synchronization

/// The nodes of a graph that have set something aside in this run. The store has one cap for all: where it drops the oldest
/// letter for a new one, that is mostly another node's, whose count must then go down.
final class LetterAuthors: Sendable {
    private let nodes = Mutex<[String: NodeCounters]>([:])

    init() {}

    func add(_ node: String, _ counters: NodeCounters) { nodes.withLock { $0[node] = counters } }

    /// Letters of this run went, or were never taken.
    func dropped(_ gone: [String: DeadLettersTaken.Gone]) {
        for (name, letters) in gone {
            // Only what is here has set anything aside since the state was opened.
            guard let counters = nodes.withLock({ $0[name] }) else { continue }
            counters.deadLettered.add(-letters.count)
            counters.deadTexts.add(-letters.texts)
            counters.lettersDropped.add(letters.count)
        }
    }
}
