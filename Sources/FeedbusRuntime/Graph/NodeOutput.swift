// feedbus: the way out of a node: every consumer gets every event. A subject of the config is one with a memory.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import Synchronization

/// Fans a node's events out to the buffers of its consumers and to the subjects that read it.
///
/// A consumer that comes to its own end (a Take, a closed console) is forgotten: nothing is owed to it any more.
final class NodeOutput: Sendable {
    private struct Ways {
        /// The only buffer, where there is no subject: most nodes are read by one other, and there may be thousands.
        var only: Edge<Event>?
        var subject: Subject<Event>?
        /// Consumers that a subject does not serve.
        var readers: [NodeOutput] = []
        var strict: [StrictBuffer] = []
    }

    private let ways: Mutex<Ways>
    private let producers: Atomic<Int>

    /// - Parameters:
    ///   - replay: events kept for late consumers; 0 for anything but a subject.
    ///   - producers: how many `finish()` calls end it.
    init(replay: Int = 0, scope: SubjectScope = .forever, producers: Int = 1) {
        // What is kept for late consumers must keep no source waiting and no page of a feed in memory.
        ways = Mutex(Ways(subject: replay > 0 ? Subject(replay: replay, scope: scope) { $0.detached() } : nil))
        self.producers = Atomic(producers)
    }

    /// Adds a consumer's buffer.
    func add(_ edge: Edge<Event>) async throws {
        let (subject, first) = ways.withLock { ways -> (Subject<Event>?, Edge<Event>?) in
            if ways.subject == nil, ways.only == nil {
                ways.only = edge
                return (nil, nil)
            }
            let subject = ways.subject ?? Subject()
            ways.subject = subject
            return (subject, ways.only.take())
        }
        if let first { try await subject?.attach(first) }
        try await subject?.attach(edge)
    }

    /// Adds a consumer's buffer of the policy `fail`: it is owed every event, also after it has failed.
    func add(_ buffer: StrictBuffer) { ways.withLock { $0.strict.append(buffer) } }

    /// Adds a subject that reads this node.
    func add(_ reader: NodeOutput) { ways.withLock { $0.readers.append(reader) } }

    /// Hands a chunk to all consumers, then waits for those whose buffer blocks.
    ///
    /// The stop of a source does not interrupt it: what a source has begun to emit is emitted.
    /// - Throws: `CancellationError` when the program gave up waiting.
    func send(_ chunk: Chunk<Event>) async throws {
        let ways = ways.withLock { $0 }
        for buffer in ways.strict { try await buffer.send(chunk) }
        if let edge = ways.only {
            // A closed one takes no more, and nothing is owed to it.
            do { try await edge.send(chunk, shielded: true) } catch {
                if error is CancellationError { throw error }
            }
        }
        try await ways.subject?.send(chunk, shielded: true)
        for reader in ways.readers { try await reader.send(chunk) }
    }

    /// One of the producers has come to its end.
    func finish() {
        guard producers.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        let ways = ways.withLock { $0 }
        ways.only?.finish()
        ways.subject?.finish()
        for buffer in ways.strict { buffer.edge.finish() }
        for reader in ways.readers { reader.finish() }
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
