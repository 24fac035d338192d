// feedbus: where a source puts its events.

public import FeedbusBase
import FeedbusFlow

/// What a source must remember once the events that it emitted with it are safe.
public struct CursorUpdate: Sendable {
    /// Names the piece within the node: a source that polls three repositories has three.
    public var key: String
    /// Any bytes, JSON by habit; nil forgets the piece.
    public var value: Bytes?

    public init(_ key: String = "cursor", _ value: Bytes?) {
        self.key = key
        self.value = value
    }
}

/// A source's way out. Emissions settle in order: a cursor is saved when its events and all earlier ones are settled.
public struct Output: Sendable {
    package let send: @Sendable (consuming [Event], [CursorUpdate]) async throws -> Void
    private let sendPacked: (@Sendable (PackedEvents, [CursorUpdate]) async throws -> Void)?

    /// - Parameter packed: takes packed events; without it `send` gets them one by one.
    package init(
        send: @escaping @Sendable (consuming [Event], [CursorUpdate]) async throws -> Void,
        packed: (@Sendable (PackedEvents, [CursorUpdate]) async throws -> Void)? = nil
    ) {
        self.send = send
        self.sendPacked = packed
    }

    /// Hands the events on, in order, and suspends while consumers are behind. Stopping the source does not interrupt
    /// it; only the end of the shutdown grace does.
    /// - Parameters:
    ///   - events: may be empty, to save a cursor alone. An array that nobody else holds is not copied.
    ///   - cursors: saved together, in one transaction, when the events are settled and not before.
    /// - Throws: `CancellationError` when the program gave up waiting for the consumers.
    public func emit(_ events: consuming [Event], saving cursors: [CursorUpdate] = []) async throws {
        try await send(events, cursors)
    }

    /// Hands packed events on, as `emit` does.
    package func emit(packed events: PackedEvents, saving cursors: [CursorUpdate]) async throws {
        if let sendPacked {
            try await sendPacked(events, cursors)
        } else {
            try await send(Chunk(events).array, cursors)
        }
    }
}
