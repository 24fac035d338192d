// feedbus: a stage that treats each chunk on its own.

public import FeedbusFlow

/// A stage whose answer to a chunk is ready when `process` returns, and that keeps no event of it back: a filter, a map,
/// a memory of ids.
///
/// It is the cheapest kind of stage, and the safest: nothing is copied or allocated for it, and when it throws, the
/// events of the one chunk that it had in hand are reported as not delivered, and no others. An event that alone cannot
/// be treated is no reason to throw: give it to `context.refuse`, and go on with its neighbours.
///
/// A stage that waits, or keeps events for later (a debounce, a window), is a `Stage`.
public protocol ChunkStage: Stage {
    /// True where several instances may share the work (`"workers"` of the node): the answer for a chunk depends on that
    /// chunk alone. The default is false.
    static var allowsWorkers: Bool { get }

    /// What goes on in place of a chunk. Return the very chunk where all of it goes on as it is, a slice of it
    /// (`prefix`, `dropFirst`) where that says it, and an empty one where nothing does. An event that stands for one that
    /// came in is a copy of it: a copy carries the receipt. What is left out counts as delivered.
    /// - Parameter events: never empty.
    /// - Throws: `StageFinished` when the stage has come to a normal end by itself. Any other error fails the stage: it is
    ///   started again, as a new instance, and given up when that does not help.
    func process(_ events: Chunk<Event>) async throws -> Chunk<Event>
}

extension ChunkStage {
    public static var allowsWorkers: Bool { false }

    /// The stage as a flow, for whoever composes flows; feedbus itself calls `process`.
    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        Flow { emit in
            do {
                try await input.collect { chunk in
                    var end: StageFinished?
                    var events: Chunk<Event>
                    do { events = try await self.process(chunk) } catch let finished as StageFinished {
                        events = finished.last
                        end = finished
                    }
                    if !events.isEmpty { try await emit(events) }
                    if let end { throw end }
                }
            } catch is StageFinished {}
        }
    }
}
