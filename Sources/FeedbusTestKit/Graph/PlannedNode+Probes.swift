// feedbus: puts a probe around every plugin of a plan.

import FeedbusPlugin
import FeedbusRuntime

extension PlannedNode {
    /// The node with its plugin inside a probe that keeps the books and brings the faults.
    /// - Parameter isReal: false leaves a sink's own code out: the probe takes its place.
    func probed(_ life: SimulatedLife, isReal: Bool) -> PlannedNode {
        var node = self
        let name = name
        switch role {
        case .subject: break
        case .source(let make):
            node.role = .source { ProbedSource(inner: try make($0), node: name, life: life, context: $0) }
        case .stage(let make):
            node.role = .stage { context in
                let inner = try make(context)
                if let inner = inner as? any ChunkStage {
                    return ProbedChunkStage(inner: inner, node: name, life: life, context: context)
                }
                return ProbedStage(inner: inner, node: name, life: life, context: context)
            }
        case .join(let make):
            node.role = .join { ProbedJoinStage(inner: try make($0), node: name, life: life, context: $0) }
        case .routing(let routes, let make):
            node.role = .routing(routes: routes) {
                ProbedRoutingStage(inner: try make($0), node: name, routes: routes, life: life, context: $0)
            }
        case .sink(let make):
            node.role = .sink {
                ProbedSink(inner: isReal ? try make($0) : nil, node: name, life: life, context: $0)
            }
        }
        return node
    }
}

/// Probes have no options: a plan makes them, and no config.
struct NoOptions: PluginOptions {
    static let options: [Option<NoOptions>] = []
}

extension FeedbusError {
    static let probeInConfig = FeedbusError("test.probe", "probes are made by a simulation, not by a config")

    /// What a plugin is made to throw.
    static func fault(_ what: String, isRetriable: Bool = true) -> FeedbusError {
        FeedbusError("test.fault", "\(what) (a fault of the simulation)", isRetriable: isRetriable)
    }
}
