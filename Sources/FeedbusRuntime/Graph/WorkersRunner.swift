// feedbus: one life of several instances of a stage that share its work, with the order kept.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import Synchronization

/// An instance that is free takes the next chunk; what comes of the chunks goes on in the order in which they were taken.
/// See `WorkersStateMachine` for how much may be under way.
final class WorkersRunner: Sendable {
    private struct Finished: Sendable {
        var events: Chunk<Event>
        var end: ChunkRunner.End
    }

    private typealias Machine = WorkersStateMachine<Finished>

    private enum Reader: Sendable {
        case nobody
        case waits(Task<Chunk<Event>?, any Error>)
        case isOver
    }

    private let chunks: ChunkRunner
    private let chunkLimit: Int
    private let host: any LoopHost
    private let machine: Mutex<Machine>

    /// The instance that waits for the next chunk.
    private let reader = Mutex(Reader.nobody)

    /// - Parameters:
    ///   - workers: how many instances there will be, 2...
    ///   - chunkLimit: at most so many events are given to an instance at once, 1...
    ///   - weightLimit: while what is finished and waits for its turn weighs more, no more is taken. See `Event.weight`.
    init(_ chunks: ChunkRunner, workers: Int, chunkLimit: Int, weightLimit: Int, host: any LoopHost) {
        self.chunks = chunks
        self.chunkLimit = chunkLimit
        self.host = host
        machine = Mutex(Machine(workers: workers, weightLimit: weightLimit))
    }

    /// Runs until the input has ended, the stage has come to its own end, or one of the instances has failed. What the
    /// others have under way is then brought to its end, and no more is taken.
    /// - Returns: why it ended by itself; nil where there is nothing to say.
    /// - Throws: `StageFailure` with the first error and the losses of all that failed; what the buffer or the output
    ///   threw.
    func run(_ instances: [any ChunkStage]) async throws -> String? {
        var reason: String?
        var failures: [any Error] = []
        await withTaskGroup(of: Result<Void, any Error>.self) { group in
            for instance in instances {
                group.addTask {
                    do { return .success(try await self.work(instance)) } catch { return .failure(error) }
                }
            }
            var giveUp: (any Error)?
            do { reason = try await handOn() } catch { giveUp = error }
            for await end in group {
                if case .failure(let error) = end { failures.append(error) }
            }
            if let giveUp { failures.append(giveUp) }
        }
        guard let first = failures.first else { return reason }
        let lost = failures.flatMap { ($0 as? StageFailure)?.lost.array ?? [] }
        throw StageFailure(error: (first as? StageFailure)?.error ?? first, lost: Chunk(lost))
    }

    private func act<Value: Sendable>(_ event: (inout Machine, inout Machine.Actions) -> Value) -> Value {
        var actions = Machine.Actions()
        let value = machine.withLock { event(&$0, &actions) }
        actions.run()
        return value
    }

    // MARK: - The instances

    /// One instance: chunk by chunk, as it becomes free.
    private func work<Stage: ChunkStage>(_ stage: isolated Stage) async throws {
        while let (number, chunk) = try await take() {
            let finished: Finished
            do {
                let (events, end) = try await chunks.processed(chunk, by: stage)
                finished = Finished(events: events, end: end)
            } catch {
                endReading()
                // The chunks before and after go their way.
                _ = act { $0.finish(number, nil, weight: 0, &$1) }
                throw error
            }
            if case .itself = finished.end { endReading() }
            let weight = finished.events.reduce(0) { $0 + $1.weight }
            switch act({ $0.finish(number, finished, weight: weight, &$1) }) {
            case .yes: break
            case .letGo: return
            case .undelivered: return leave(finished)
            }
        }
    }

    private func leave(_ finished: Finished) {
        finished.events.report(.undelivered)
        chunks.counters.undelivered.add(finished.events.count)
    }

    /// The next chunk and its number.
    /// - Returns: nil when nothing more is to be read.
    private func take(isolation: isolated (any Actor)? = #isolation) async throws -> (Int, Chunk<Event>)? {
        let isAdmitted = await withUnsafeContinuation { worker in
            machine.withLock { $0.ask(worker) }.run()
        }
        guard isAdmitted else { return nil }
        let chunk: Chunk<Event>?
        do {
            chunk = chunks.edge.count > 0 ? try await chunks.edge.next(max: chunkLimit) : try await wait()
        } catch {
            machine.withLock { $0.tookNothing() }.run()
            throw error
        }
        guard let chunk else {
            machine.withLock { $0.tookNothing() }.run()
            return nil
        }
        return (act { $0.took(&$1) }, chunk)
    }

    /// Waits in a task of its own, which the failure of another instance can end without touching what is under way.
    private func wait() async throws -> Chunk<Event>? {
        let task = host.task { [edge = chunks.edge, chunkLimit] in try await edge.next(max: chunkLimit) }
        let isOver = reader.withLock { reader in
            if case .isOver = reader { return true }
            reader = .waits(task)
            return false
        }
        if isOver { task.cancel() }
        do {
            return try await task.join()
        } catch is CancellationError {
            try Task.checkCancellation()
            if case .isOver = reader.withLock({ $0 }) { return nil }
            throw CancellationError()
        }
    }

    private func endReading() {
        let waiting = reader.withLock { reader in
            defer { reader = .isOver }
            return reader
        }
        if case .waits(let task) = waiting { task.cancel() }
        machine.withLock { $0.endReading() }.run()
    }

    // MARK: - The way out

    /// Hands on what is finished, in its order.
    /// - Returns: why the stage has ended by itself, if it has something to say about it.
    private func handOn() async throws -> String? {
        while let finished = await next() {
            do { try await chunks.send(finished.events) } catch {
                for one in act({ $0.close(isComplete: false, &$1) }) { leave(one) }
                endReading()
                throw error
            }
            if case .itself(let reason) = finished.end {
                _ = act { $0.close(isComplete: true, &$1) }
                endReading()
                return reason
            }
            act { $0.handedOn(&$1) }
        }
        return nil
    }

    private func next() async -> Finished? {
        while true {
            switch act({ $0.next(&$1) }) {
            case .finished(let finished): return finished
            case .end: return nil
            case .wait:
                await withUnsafeContinuation { writer in
                    machine.withLock { $0.wait(writer) }.run()
                }
            }
        }
    }
}
