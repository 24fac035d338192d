// feedbus: makes the buffers and ways out of a graph, and ties them together.

import FeedbusFlow
import FeedbusPlugin
import FeedbusStore

extension Graph {
    /// Makes the buffers and ways out; every consumer is attached before any source starts.
    func wire() async -> [String: NodeOutput] {
        var outputs: [String: NodeOutput] = [:]
        for node in plan.nodes {
            if case .subject(let replay, let scope) = node.role, node.retention == nil || services.store == nil {
                let output = NodeOutput(replay: replay, scope: scope, producers: node.from.count)
                outputs[node.name] = output
                for upstream in node.from {
                    if let durable = durables[upstream] {
                        await read(
                            durable, as: node, deliver: { try await output.send($0) }, finish: { output.finish() })
                    } else {
                        outputs[upstream]!.add(output)
                    }
                }
                continue
            }
            if case .routing(let routes, _) = node.role {
                for route in routes { outputs["\(node.name).\(route)"] = NodeOutput() }
                // Nobody need read the rest; where nobody does, it is only counted.
                let rest = "\(node.name).\(PlannedNode.unmatched)"
                if isRead(rest) { outputs[rest] = NodeOutput() }
            } else {
                outputs[node.name] = NodeOutput()
            }
            guard !node.from.isEmpty else { continue }
            if case .join = node.role {
                edges[node.name] = node.from.map { .init(node: $0, edge: makeEdge(for: node, producers: 1)) }
            } else {
                let edge = makeEdge(for: node, producers: node.from.count)
                edges[node.name] = [.init(node: node.from[0], edge: edge)]
            }
            let inputs = edges[node.name]!
            for (index, upstream) in node.from.enumerated() {
                let edge = inputs[inputs.count == 1 ? 0 : index].edge
                let isStrict = node.buffer.whenFull == .fail
                let strict = StrictBuffer(edge: edge, onLate: undelivered(node.name))
                if let durable = durables[upstream] {
                    await read(
                        durable, as: node,
                        deliver: { chunk in
                            if isStrict {
                                try await strict.send(chunk)
                            } else {
                                try await edge.send(chunk, shielded: true)
                            }
                        }, finish: { edge.finish() })
                } else if isStrict {
                    outputs[upstream]!.add(strict)
                } else {
                    // Throws for a closed edge only; this one is new.
                    try? await outputs[upstream]!.add(edge)
                }
            }
            if let retention = node.retention, let store = services.store {
                durables[node.name] = makeDurable(node, retention, inputs[0].edge, store)
                // Its buffer blocks; what its log drops it says itself.
                dropNotices[node.name] = nil
            }
        }
        return outputs
    }

    private func makeDurable(
        _ node: PlannedNode, _ retention: Retention, _ edge: Edge<Event>, _ store: StateStore
    ) -> DurableSubject {
        DurableSubject(
            node: node, retention: retention, edge: edge, store: store, log: services.log.named(node.name),
            clock: graceClock, host: services.host, counters: nodes[node.name]!.counters,
            isStopping: { [graceClock] in graceClock.isStopping })
    }

    /// Makes a node a reader of a durable subject.
    private func read(
        _ subject: DurableSubject, as reader: PlannedNode,
        deliver: @escaping @Sendable (Chunk<Event>) async throws -> Void, finish: @escaping @Sendable () -> Void
    ) async {
        places.append(
            await subject.add(
                reader.name, resume: reader.resume, log: services.log.named(reader.name), deliver: deliver,
                finish: finish))
    }

    /// Events that took no route and that nobody read.
    func unmatched(of node: PlannedNode) -> Int {
        let count = nodes[node.name]!.counters.unmatched.get()
        // Looked up only where there are any: it is a search through all nodes.
        return count == 0 || isRead("\(node.name).\(PlannedNode.unmatched)") ? 0 : count
    }

    private func isRead(_ name: String) -> Bool { plan.nodes.contains { $0.from.contains(name) } }

    private func makeEdge(for node: PlannedNode, producers: Int) -> Edge<Event> {
        let counters = nodes[node.name]!.counters
        let notice =
            dropNotices[node.name]
            ?? DropNotice(
                policy: node.buffer.whenFull, log: services.log.named(node.name), clock: services.clock,
                counters: counters)
        dropNotices[node.name] = notice
        let policy = node.buffer.whenFull
        let undelivered = undelivered(node.name)
        return Edge<Event>(
            capacity: node.buffer.events, policy: policy, producers: producers,
            weightLimit: node.buffer.bytes, weigh: { $0.weight },
            onDrop: { chunk in
                if policy == .fail {
                    // The consumer sees the failure at its own end of the edge; what did not fit is not delivered.
                    undelivered(chunk)
                } else {
                    chunk.report(.dropped)
                    notice.dropped(chunk.count)
                }
            })
    }

    /// What a buffer of the policy `fail` did not take: set aside, or still in the log of a durable subject.
    private func undelivered(_ node: String) -> @Sendable (Chunk<Event>) -> Void {
        { [counters = nodes[node]!.counters, letters = nodes[node]!.letters] chunk in
            for event in chunk {
                if let letters, event.receipt?.isKept != true {
                    letters.add(event, reason: "the buffer was full (when_full: fail)")
                } else {
                    counters.undelivered.add(Chunk(one: event).leave())
                }
            }
        }
    }
}
