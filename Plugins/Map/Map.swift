// feedbus: a stage that makes new data of each event's data.

import Conditions
public import FeedbusPlugin

/// Gives events new data: what a jq expression makes of the old, or some of its values.
///
/// The attributes stay. Where jq gives several outputs for an event, the first keeps its id and the n-th gets `/n` behind
/// it; where it gives none, the event is left out.
public actor Map: ChunkStage {
    public static let name = "Map"
    public static let summary = "gives events new data: values of the old, or what jq makes of it"
    public static let allowsWorkers = true

    public nonisolated let context: PluginContext
    private let scope: EventScope
    private let form: Form

    private enum Form: Sendable {
        case pick(Pick)
        case jq(JQRunner)
    }

    public static func check(_ options: MapOptions, _ checking: OptionCheck) {
        switch (options.jq != nil, !options.pick.isEmpty) {
        case (false, false):
            checking.problem("it needs \"jq\" or \"pick\"", code: "missing-option")
        case (true, true):
            checking.problem("\"jq\" and \"pick\" exclude each other", at: "pick", code: "contradiction")
        default: break
        }
    }

    public init(options: MapOptions, context: PluginContext) {
        self.context = context
        scope = options.scope
        if let expression = options.jq {
            form = .jq(JQRunner(expression, context: context, limit: options.limit))
        } else {
            form = .pick(Pick(options.pick.map { ($0.name, $0.pointer) }))
        }
    }

    public func process(_ events: Chunk<Event>) async throws -> Chunk<Event> {
        switch form {
        case .pick(let pick): return picked(events, pick)
        case .jq(let runner):
            let (mapped, failures) = try await runner.outputs(of: events, on: scope)
            for (event, reason) in failures { try context.giveUp(on: event, reason: reason) }
            return Chunk(mapped)
        }
    }

    /// Of lines that were read together.
    private func picked(_ events: PackedEvents, _ range: Range<Int>, _ pick: Pick) -> Chunk<Event> {
        var writer = ByteWriter(capacity: range.count * 160)
        var places: [TextPlace] = []
        places.reserveCapacity(range.count)
        var start = 0
        pick.append(events, range, to: &writer) { writer in
            places.append(TextPlace(start, writer.count))
            writer.append(UInt8(ascii: "\n"))
            start = writer.count
        }
        return Chunk(
            events.replacing(
                buffer: writer.finish().buffer, places: places, ids: events.ids(of: range), areFollowed: true))
    }

    /// The new data of all events of a chunk stand in one buffer.
    private func picked(_ events: Chunk<Event>, _ pick: Pick) -> Chunk<Event> {
        if scope == .data, let (packed, range) = events.packedEvents { return picked(packed, range, pick) }
        var writer = ByteWriter(capacity: events.count * 128)
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: events.count) { ends in
            for index in 0..<events.count {
                scope.text(of: events[index]).withUnsafeBytes { pick.append($0, to: &writer) }
                ends.initializeElement(at: index, to: writer.count)
                // A line each: whoever writes lines writes all of them at once, from here.
                writer.append(UInt8(ascii: "\n"))
            }
            let bytes = writer.finish()
            return Chunk(
                [Event](unsafeUninitializedCapacity: events.count) { target, count in
                    var start = 0
                    for index in 0..<events.count {
                        var event = events[index]
                        event.data = bytes[start..<ends[index]]
                        start = ends[index] + 1
                        target.initializeElement(at: index, to: event)
                        count += 1
                    }
                })
        }
    }
}
