// feedbus: one life of a stage with several ways out.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Takes chunks from the buffer, has them divided and hands each part to the readers of its route.
struct RoutingRunner: Sendable {
    let edge: Edge<Event>
    /// Of the routes in order, then of what no route took; nil for that where nobody reads it.
    let outputs: [NodeOutput?]
    let counters: NodeCounters
    let limit: TimeLimit?

    /// Runs, on the stage's own executor, until the input has ended or the stage has come to its own end.
    /// - Returns: why it ended by itself; nil where there is nothing to say.
    /// - Throws: `StageFailure` when the stage threw; what the buffer or an output threw.
    func run<Stage: RoutingStage>(_ stage: isolated Stage) async throws -> String? {
        do {
            while let parts = try await next(stage) { try await send(parts) }
            return nil
        } catch let end as StageFinished {
            return end.reason
        }
    }

    /// What comes of the next chunk: only what is to be sent.
    private func next<Stage: RoutingStage>(
        _ stage: isolated Stage
    ) async throws -> [(output: NodeOutput, events: Chunk<Event>)]? {
        guard let chunk = try await edge.next() else { return nil }
        let routed: [Chunk<Event>]
        do {
            if let limit {
                routed = try await limit.run { try await stage.route(chunk) }
            } else {
                routed = try await stage.route(chunk)
            }
            guard routed.count == outputs.count else {
                throw FeedbusError(
                    "stage.routes",
                    "\(Stage.name) made \(routed.count) parts for \(outputs.count - 1) routes and the rest")
            }
        } catch let end as StageFinished {
            throw end
        } catch {
            throw StageFailure(error: error, lost: chunk)
        }
        counters.unmatched.add(routed[routed.count - 1].count)
        var parts: [(output: NodeOutput, events: Chunk<Event>)] = []
        for (output, events) in zip(outputs, routed) where !events.isEmpty {
            // What no route took and nobody reads is left out: it settles as delivered.
            if let output { parts.append((output, events)) }
        }
        return parts
    }

    /// Hands all parts over at once, and waits for all: a route whose reader is slow does not keep from the others what
    /// is theirs. A node that joins two routes would else wait for ever.
    private func send(_ parts: [(output: NodeOutput, events: Chunk<Event>)]) async throws {
        for (_, events) in parts { counters.delivered.add(events.count) }
        guard parts.count > 1 else {
            if let part = parts.first { try await send(part.events, to: part.output) }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (output, events) in parts { group.addImmediateTask { try await send(events, to: output) } }
            try await group.waitForAll()
        }
    }

    private func send(_ events: Chunk<Event>, to output: NodeOutput) async throws {
        do { try await output.send(events) } catch {
            // Given up in the middle: some readers may not have it; they have counted it.
            events.report(.undelivered)
            throw error
        }
    }
}
