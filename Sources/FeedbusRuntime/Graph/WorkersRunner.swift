// feedbus: one life of several instances of a stage that share its work, with the order kept.

import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import Synchronization

/// Each instance takes the next chunk when it has sent the last one; chunks go out in the order in which they were taken.
/// So at most one chunk an instance is under way.
final class WorkersRunner: Sendable {
    private enum Reader: Sendable {
        case nobody
        case waits(Task<Chunk<Event>?, any Error>)
        case isOver
    }

    private let chunks: ChunkRunner
    private let chunkLimit: Int
    private let host: any LoopHost

    /// The instance that waits for the next chunk.
    private let reader = Mutex(Reader.nobody)
    private let reading = Turns()
    private let writing = Turns()
    /// True when the writing ended because nothing more can be delivered, and not because the stage is complete.
    private let isGivenUp = Atomic<Bool>(false)

    /// - Parameter chunkLimit: at most so many events are given to an instance at once, 1...
    init(_ chunks: ChunkRunner, chunkLimit: Int, host: any LoopHost) {
        self.chunks = chunks
        self.chunkLimit = chunkLimit
        self.host = host
    }

    /// Runs until the input has ended, the stage has come to its own end, or one of the instances has failed. What the
    /// others have under way is then brought to its end, and no more is taken.
    /// - Returns: why it ended by itself; nil where there is nothing to say.
    /// - Throws: `StageFailure` with the first error and the losses of all that failed; what the buffer or the output
    ///   threw.
    func run(_ instances: [any ChunkStage]) async throws -> String? {
        let ends = await withTaskGroup(of: Result<String?, any Error>.self) { group in
            for (number, instance) in instances.enumerated() {
                group.addTask {
                    do { return .success(try await self.work(instance, from: number, step: instances.count)) } catch {
                        return .failure(error)
                    }
                }
            }
            var ends: [Result<String?, any Error>] = []
            for await end in group { ends.append(end) }
            return ends
        }
        var reason: String?
        var failure: (any Error)?
        var lost: [Event] = []
        for end in ends {
            switch end {
            case .success(let text): reason = text ?? reason
            case .failure(let error):
                if let failure = error as? StageFailure { lost += failure.lost }
                failure = failure ?? error
            }
        }
        guard let failure else { return reason }
        throw StageFailure(error: (failure as? StageFailure)?.error ?? failure, lost: Chunk(lost))
    }

    /// One instance: chunk number `from`, then every `step`-th.
    private func work<Stage: ChunkStage>(_ stage: isolated Stage, from: Int, step: Int) async throws -> String? {
        var number = from
        while true {
            guard case .mine = await reading.wait(for: number), let chunk = try await take(number) else { return nil }
            let events: Chunk<Event>
            let end: ChunkRunner.End
            do { (events, end) = try await chunks.processed(chunk, by: stage) } catch {
                endReading()
                // The chunks before and after go their way.
                if case .mine = await writing.wait(for: number) { writing.pass(number) }
                throw error
            }
            guard case .mine = await writing.wait(for: number) else {
                guard isGivenUp.load(ordering: .relaxed) else { return nil }
                events.report(.undelivered)
                chunks.counters.undelivered.add(events.count)
                return nil
            }
            do { try await chunks.send(events) } catch {
                isGivenUp.store(true, ordering: .relaxed)
                endReading()
                writing.end()
                throw error
            }
            if case .itself(let reason) = end {
                endReading()
                writing.end()
                return reason
            }
            writing.pass(number)
            number += step
        }
    }

    /// The next chunk, for whose turn it is.
    /// - Returns: nil when nothing more is to be read.
    private func take(_ number: Int, isolation: isolated (any Actor)? = #isolation) async throws -> Chunk<Event>? {
        let chunk: Chunk<Event>?
        do {
            chunk = chunks.edge.count > 0 ? try await chunks.edge.next(max: chunkLimit) : try await wait()
        } catch {
            reading.end()
            throw error
        }
        if chunk == nil { reading.end() } else { reading.pass(number) }
        return chunk
    }

    /// Waits in a task of its own, which the failure of another instance can end without touching what is under way.
    private func wait(isolation: isolated (any Actor)? = #isolation) async throws -> Chunk<Event>? {
        let task = host.task { [edge = chunks.edge, chunkLimit] in try await edge.next(max: chunkLimit) }
        let isOver = reader.withLock { reader in
            if case .isOver = reader { return true }
            reader = .waits(task)
            return false
        }
        if isOver { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
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
        reading.end()
    }
}
