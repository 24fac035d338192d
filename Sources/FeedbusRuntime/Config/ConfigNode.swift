// feedbus: a node of a config while it is checked.

import FeedbusJSON

/// A node as far as its own text says: what the checks of the whole graph need to know.
struct ConfigNode {
    var section: NodeSection
    var name: String
    var keyPosition: SourcePosition
    var value: PositionedValue
    /// The elements of its `from`.
    var from: [PositionedValue] = []
    /// False where the `from` itself is wrong, so that it cannot be known what the node reads.
    var fromIsKnown = true
    /// True for a stage that is read by its routes, and not by its own name.
    var isRouting = false
    /// True for a stage that takes what it reads one node after the other.
    var readsInTurn = false
    /// Its routes; nil where they are not known.
    var routes: [String]?
    /// Absolute paths of the files that it writes.
    var claimedFiles: [(path: String, at: PositionedValue)] = []
    /// Nil where anything is wrong with it.
    var planned: PlannedNode?

    /// `sinks.log`
    var path: String { "\(section.rawValue).\(name)" }
}
