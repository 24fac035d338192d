// feedbus: what goes back to the source when every sink has its events, or has failed them.

import Synchronization

/// What became of an event. The worst one of all copies counts; the order is from best to worst.
public enum Outcome: Int, Sendable, Comparable {
    /// Every sink has it where the user was promised, or a stage left it out on purpose.
    case delivered
    /// An overflow policy dropped a copy.
    case dropped
    /// A sink refused a copy for good, or a stage failed on it; it was set aside and counted.
    case deadLettered
    /// A copy was still under way when the program had to stop.
    case undelivered

    public static func < (left: Outcome, right: Outcome) -> Bool { left.rawValue < right.rawValue }

    /// True where the source may go on: nothing more will come of it.
    public var isSettled: Bool { self != .undelivered }
}

/// Shared by all copies of the events of one emission. When the last copy has gone, wherever it was, the receipt
/// settles with the worst outcome that was reported: so no copy can be forgotten, and a copy that a stage left out
/// counts as delivered.
package final class Receipt: Sendable {
    private enum Origin: Sendable {
        case emission
        /// Takes another's place while an event is inside a stage.
        case standIn(Receipt)
        /// Of an event that was made of several.
        case joined([Receipt])
    }

    private let worst = Atomic<Int>(Outcome.delivered.rawValue)
    private let origin: Origin
    /// A durable log keeps the events: what is left undelivered waits there for the next start.
    package let isKept: Bool
    private let settle: (@Sendable (Outcome) -> Void)?
    /// How often an event with this stand-in has left the stage.
    private let handedOn = Atomic<Int>(0)
    private let settleStandIn: (@Sendable (Outcome, _ handedOn: Int) -> Void)?

    /// - Parameter settle: called once, on any thread, with the worst outcome.
    package init(isKept: Bool = false, settle: @escaping @Sendable (Outcome) -> Void) {
        self.origin = .emission
        self.isKept = isKept
        self.settle = settle
        self.settleStandIn = nil
    }

    /// - Parameter settle: tells `parent` too; the parent is held until then. `handedOn` is how often `markHandedOn` was
    ///   called.
    package init(standingFor parent: Receipt, settle: @escaping @Sendable (Outcome, _ handedOn: Int) -> Void) {
        self.origin = .standIn(parent)
        self.isKept = parent.isKept
        self.settle = nil
        self.settleStandIn = settle
    }

    private init(joined parents: [Receipt]) {
        self.origin = .joined(parents)
        self.isKept = parents.allSatisfy(\.isKept)
        self.settle = nil
        self.settleStandIn = nil
    }

    /// One receipt for all of these: what becomes of it becomes of each, and none settles before it.
    package static func joining(_ receipts: [Receipt]) -> Receipt? {
        guard let first = receipts.first else { return nil }
        return receipts.allSatisfy { $0 === first } ? first : Receipt(joined: receipts)
    }

    /// The receipt for the other side of the stage: without stand-ins.
    package var real: Receipt {
        switch origin {
        case .emission: self
        case .standIn(let parent): parent
        case .joined(let parents): Receipt.joining(parents.map(\.real)) ?? self
        }
    }

    /// An event with this receipt leaves the stage.
    package func markHandedOn() {
        switch origin {
        case .emission: break
        case .standIn: _ = handedOn.wrappingAdd(1, ordering: .relaxed)
        case .joined(let parents): for parent in parents { parent.markHandedOn() }
        }
    }

    package func report(_ outcome: Outcome) {
        var seen = worst.load(ordering: .relaxed)
        while outcome.rawValue > seen {
            let (exchanged, original) = worst.compareExchange(
                expected: seen, desired: outcome.rawValue, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }

    deinit {
        let outcome = Outcome(rawValue: worst.load(ordering: .relaxed)) ?? .undelivered
        settle?(outcome)
        settleStandIn?(outcome, handedOn.load(ordering: .relaxed))
        if case .joined(let parents) = origin, outcome != .delivered {
            for parent in parents { parent.report(outcome) }
        }
    }
}
