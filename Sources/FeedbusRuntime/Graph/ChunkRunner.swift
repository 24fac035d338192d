// feedbus: one life of a stage that treats each chunk on its own.

import FeedbusFlow
import FeedbusPlugin

/// Takes chunks from the buffer, has them processed and hands on what comes of them.
///
/// What it has in hand is one chunk, so it needs no stand-ins for receipts to know what a failure lost.
struct ChunkRunner: Sendable {
    let edge: Edge<Event>
    let output: NodeOutput
    let counters: NodeCounters
    let limit: TimeLimit?

    /// Runs, on the stage's own executor, until the input has ended or the stage has come to its own end.
    /// - Returns: why it ended by itself; nil where there is nothing to say.
    /// - Throws: `StageFailure` when the stage threw; what the buffer or the output threw.
    func run<Stage: ChunkStage>(_ stage: isolated Stage) async throws -> String? {
        while true {
            let (events, end) = try await next(stage)
            try await send(events)
            switch end {
            case .no: break
            case .input: return nil
            case .itself(let reason): return reason
            }
        }
    }

    enum End {
        case no
        /// The input has ended.
        case input
        /// The stage has come to its own end.
        case itself(String?)
    }

    /// One chunk's way through the stage. The chunk that came in is let go before what came of it is sent, so that what
    /// was left out of it holds no memory while the output is blocked.
    private func next<Stage: ChunkStage>(_ stage: isolated Stage) async throws -> (Chunk<Event>, End) {
        guard let chunk = try await edge.next() else { return ([], .input) }
        return try await processed(chunk, by: stage)
    }

    func send(_ events: Chunk<Event>) async throws {
        guard !events.isEmpty else { return }
        counters.delivered.add(events.count)
        do { try await output.send(events) } catch {
            // Given up in the middle: some consumers may not have it; they have counted it.
            events.report(.undelivered)
            throw error
        }
    }

    /// What comes of a chunk.
    /// - Throws: `StageFailure` with the chunk, whose events are for the caller to settle.
    func processed<Stage: ChunkStage>(
        _ chunk: Chunk<Event>, by stage: isolated Stage
    ) async throws(StageFailure) -> (Chunk<Event>, End) {
        do {
            guard let limit else { return (try await stage.process(chunk), .no) }
            return (try await limit.run { try await stage.process(chunk) }, .no)
        } catch let end as StageFinished {
            return (end.last, .itself(end.reason))
        } catch {
            throw StageFailure(error: error, lost: chunk)
        }
    }
}

/// A stage failed.
struct StageFailure: Error {
    var error: any Error
    /// The events on which it failed.
    var lost: Chunk<Event>
}
