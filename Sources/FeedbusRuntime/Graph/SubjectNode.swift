// feedbus: a subject of the config: a shared, replayable point in the graph.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import Synchronization

/// A named subject with the nodes that feed it. It ends when the last of them has.
final class SubjectNode: Sendable {
    let name: String
    private let subject: Subject<Event>
    private let producers: Atomic<Int>
    private let readers = Mutex<[SubjectNode]>([])

    init(name: String, replay: Int, scope: SubjectScope, producers: Int) {
        self.name = name
        self.producers = Atomic(producers)
        // What is kept for late subscribers must keep no source waiting and no page of a feed in memory.
        subject = Subject(replay: replay, scope: scope) { $0.detached() }
    }

    /// Adds a consumer's buffer.
    func attach(_ edge: Edge<Event>) async throws { try await subject.attach(edge) }

    /// Adds a subject that this one feeds.
    func feed(_ other: SubjectNode) { readers.withLock { $0.append(other) } }

    func send(_ chunk: Chunk<Event>) async throws {
        try await subject.send(chunk, shielded: true)
        for reader in readers.withLock({ $0 }) { try await reader.send(chunk) }
    }

    func producerFinished() {
        guard producers.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        subject.finish()
        for reader in readers.withLock({ $0 }) { reader.producerFinished() }
    }
}
