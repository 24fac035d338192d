// feedbus: a part of a flow that is itself a flow: a window, a group.

public import FeedbusBase

/// The reading end of an edge, as a flow. When nobody holds it any more, or its collection has ended, the edge is closed:
/// then the operator that fills it drops what would have gone there.
final class FlowPart<Element: Sendable>: Sendable {
    private let edge: Edge<Element>
    private let ledger: PartLedger

    init(_ edge: Edge<Element>, in ledger: PartLedger) {
        self.edge = edge
        self.ledger = ledger
        ledger.open(edge)
    }

    deinit { close() }

    /// To be collected once.
    var flow: Flow<Element> {
        Flow { emit in
            self.ledger.collect(self.edge)
            defer { self.close() }
            do { try await self.edge.drain(into: emit) } catch {
                // Cancelled with the whole, of which the operator has heard first.
                if (error as? FeedbusError)?.code == .partEnded { try Task.checkCancellation() }
                throw error
            }
        }
    }

    private func close() {
        edge.close()
        ledger.close(edge)
    }
}

extension FeedbusError.Code {
    /// `flow.part-ended`: of a window or a group, because the flow that it is a part of is no longer collected.
    public static let partEnded: FeedbusError.Code = "flow.part-ended"
}

/// How a part ends when its operator ends with `error`: to whoever collects the part alone, nobody has cancelled anything.
func partEnd(for error: any Error) -> any Error {
    guard error is CancellationError, Task.isCancelled else { return error }
    return partEnded
}

/// What a part ends with that nobody fills any more.
var partEnded: FeedbusError {
    FeedbusError(
        .partEnded,
        "the flow that this is a part of is no longer collected, so nothing more comes: collect the part while it is")
}

extension Edge {
    /// Sends, unless the reader has gone.
    /// - Returns: false when it has.
    func sendIfOpen(_ chunk: Chunk<Element>) async throws -> Bool {
        do { try await send(chunk) } catch is EdgeClosed { return false }
        return true
    }
}
