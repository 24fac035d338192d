// feedbus: the way out of a node: every consumer gets every event.

import FeedbusFlow
import FeedbusPlugin
import Synchronization

/// Fans a node's events out to the buffers of its consumers and to the subjects that it feeds.
final class NodeOutput: Sendable {
    enum Target: Sendable {
        case edge(consumer: String, Edge<Event>)
        case subject(SubjectNode)
    }

    private let targets: Mutex<[Target]>

    init(_ targets: [Target] = []) { self.targets = Mutex(targets) }

    func add(_ target: Target) { targets.withLock { $0.append(target) } }

    /// Hands a chunk to each consumer in turn and waits for those whose buffer blocks.
    ///
    /// The stop of a source does not interrupt it: what a source has begun to emit is emitted.
    /// - Throws: `CancellationError` when the program gave up waiting.
    func send(_ chunk: Chunk<Event>) async throws {
        for target in targets.withLock({ $0 }) {
            switch target {
            case .subject(let subject):
                try await subject.send(chunk)
            case .edge(let consumer, let edge):
                do {
                    try await edge.send(chunk, shielded: true)
                } catch is EdgeClosed {
                    // The consumer came to its own end (a Take, a closed console): nothing is owed to it any more.
                    targets.withLock { $0.removeAll { $0.isEdge(of: consumer) } }
                } catch is EdgeOverflow {
                    // Policy `fail`: the consumer sees the failure at its own end of the edge and reports itself failed.
                    chunk.report(.undelivered)
                }
            }
        }
    }

    /// The node has come to its end.
    func finish() {
        for target in targets.withLock({ $0 }) {
            switch target {
            case .subject(let subject): subject.producerFinished()
            case .edge(_, let edge): edge.finish()
            }
        }
    }
}

extension NodeOutput.Target {
    fileprivate func isEdge(of name: String) -> Bool {
        if case .edge(let consumer, _) = self { consumer == name } else { false }
    }
}

extension Chunk<Event> {
    /// Reports what became of every event in it.
    func report(_ outcome: Outcome) {
        for event in self { event.receipt?.report(outcome) }
    }
}
