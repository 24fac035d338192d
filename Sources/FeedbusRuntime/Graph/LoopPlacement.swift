// feedbus: which loop hosts which node of a graph.

/// Places the nodes of a plan on its loops.
///
/// The first loop hosts the sources, as the HTTP client, the state and the signals are there, and the durable subjects,
/// which work on the state. Stages and sinks are dealt out over the other loops, a chain at a time: a node that reads a
/// stage runs where that stage runs, so that chunks cross from loop to loop where chains begin and where they fork.
/// Nothing depends on chance: the same config is always placed in the same way.
struct LoopPlacement {
    private var places: [String: Int] = [:]

    /// - Parameter loops: 1...
    init(_ nodes: [PlannedNode], loops: Int) {
        guard loops > 1 else { return }
        var next = 1
        /// Stages that a node has followed already.
        var followed: Set<String> = []
        for node in nodes {
            switch node.role {
            case .source, .subject: continue
            case .stage, .join, .routing, .sink: break
            }
            let stages = node.from.map(Self.stage).filter { places[$0] != nil }
            if let stage = stages.first(where: { !followed.contains($0) }) {
                places[node.name] = places[stage]
                followed.insert(stage)
            } else {
                places[node.name] = next
                next = next % (loops - 1) + 1
            }
        }
    }

    /// The number of a node's loop, from 0 on.
    subscript(node: String) -> Int { places[node] ?? 0 }

    /// The node of a route: `stage.route`.
    private static func stage(_ name: String) -> String {
        name.firstIndex(of: ".").map { String(name[..<$0]) } ?? name
    }
}
