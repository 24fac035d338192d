// feedbus: a part of a flow that is itself a flow: a window, a group.

/// The reading end of an edge, as a flow. When nobody holds it any more, or its collection has ended, the edge is closed:
/// then the operator that fills it drops what would have gone there.
final class FlowPart<Element: Sendable>: Sendable {
    private let edge: Edge<Element>

    init(_ edge: Edge<Element>) { self.edge = edge }

    deinit { edge.close() }

    /// To be collected once.
    var flow: Flow<Element> {
        Flow { emit in
            defer { self.edge.close() }
            try await self.edge.drain(into: emit)
        }
    }
}

extension Edge {
    /// Sends, unless the reader has gone.
    /// - Returns: false when it has.
    func sendIfOpen(_ chunk: Chunk<Element>) async throws -> Bool {
        do { try await send(chunk) } catch is EdgeClosed { return false }
        return true
    }
}
