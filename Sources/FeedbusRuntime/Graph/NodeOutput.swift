// feedbus: the way out of a node: every consumer gets every event. A subject of the config is one with a memory.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import Synchronization

/// Fans a node's events out to the buffers of its consumers and to the subjects that read it.
///
/// A consumer that comes to its own end (a Take, a closed console) is forgotten: nothing is owed to it any more.
final class NodeOutput: Sendable {
    /// Consumers that the subject does not serve.
    private struct Others {
        var readers: [NodeOutput] = []
        var strict: [StrictBuffer] = []
    }

    private let subject: Subject<Event>
    private let others = Mutex(Others())
    private let producers: Atomic<Int>

    /// - Parameters:
    ///   - replay: events kept for late consumers; 0 for anything but a subject.
    ///   - producers: how many `finish()` calls end it.
    init(replay: Int = 0, scope: SubjectScope = .forever, producers: Int = 1) {
        // What is kept for late consumers must keep no source waiting and no page of a feed in memory.
        subject = Subject(replay: replay, scope: scope) { $0.detached() }
        self.producers = Atomic(producers)
    }

    /// Adds a consumer's buffer.
    func add(_ edge: Edge<Event>) async throws { try await subject.attach(edge) }

    /// Adds a consumer's buffer of the policy `fail`: it is owed every event, also after it has failed.
    func add(_ buffer: StrictBuffer) { others.withLock { $0.strict.append(buffer) } }

    /// Adds a subject that reads this node.
    func add(_ reader: NodeOutput) { others.withLock { $0.readers.append(reader) } }

    /// Hands a chunk to all consumers, then waits for those whose buffer blocks.
    ///
    /// The stop of a source does not interrupt it: what a source has begun to emit is emitted.
    /// - Throws: `CancellationError` when the program gave up waiting.
    func send(_ chunk: Chunk<Event>) async throws {
        let others = others.withLock { $0 }
        for buffer in others.strict { try await buffer.send(chunk) }
        try await subject.send(chunk, shielded: true)
        for reader in others.readers { try await reader.send(chunk) }
    }

    /// One of the producers has come to its end.
    func finish() {
        guard producers.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        subject.finish()
        let others = others.withLock { $0 }
        for buffer in others.strict { buffer.edge.finish() }
        for reader in others.readers { reader.finish() }
    }
}

extension Chunk<Event> {
    /// Reports what became of every event in it.
    func report(_ outcome: Outcome) {
        for event in self { event.receipt?.report(outcome) }
    }

    /// Leaves the events undelivered.
    /// - Returns: how many of them no durable log keeps: their sources must give them again.
    func leave() -> Int {
        report(.undelivered)
        return count { $0.receipt?.isKept != true }
    }

    /// What comes to a node that takes no more. Events that a durable log keeps stay there; the others are set aside
    /// as dead letters where the node has failed, and left undelivered where it was stopped.
    /// - Parameter reason: why the node has failed; nil where it was stopped.
    func giveUp(_ reason: String?, counters: NodeCounters, letters: DeadLetterBox?) async {
        guard let letters, let reason else { return counters.undelivered.add(leave()) }
        let isMixed = contains { $0.receipt?.isKept == true }
        if isMixed { _ = Chunk(filter { $0.receipt?.isKept == true }).leave() }
        let others = isMixed ? Chunk(filter { $0.receipt?.isKept != true }) : self
        await letters.put(others, reason: reason)
    }
}
