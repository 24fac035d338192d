// feedbus: the graph of a replay: its own sources in front of the nodes that get the events.

import FeedbusBase
import FeedbusPlugin
import FeedbusStore
import Synchronization

/// Makes the plan of a replay out of a config's.
struct ReplayPlan {
    let plan: Plan
    let store: StateStore
    let log: Log

    /// - Returns: nil where there is nothing to send.
    /// - Throws: `FeedbusError` with the code `replay.nothing` where the log has nothing at that place.
    func make(_ request: ReplayRequest) async throws -> Plan? {
        switch request.content {
        case .subject(let subject, let start):
            guard let first = try await store.find(start.inLog, in: subject), let target = request.target else {
                throw FeedbusError("replay.nothing", "the log of \(subject) \(start.missing)")
            }
            let last = try await lastNumber(of: subject, from: first)
            return try graph([target: subjectReader(subject, first...last)])
        case .deadLetters(let node):
            return try await deadLetters(of: node, to: request.target)
        }
    }

    // MARK: - What is read

    private func lastNumber(of subject: String, from first: Int64) async throws -> Int64 {
        try await store.nextNumber(of: subject).map { max($0 - 1, first) } ?? first
    }

    private func subjectReader(
        _ subject: String, _ range: ClosedRange<Int64>
    ) -> @Sendable () async throws -> ReplaySource.Part? {
        let shared = Shared(at: range.lowerBound)
        return { [store] in
            let at = shared.state.withLock { $0.at }
            guard at <= range.upperBound, let part = try await store.events(of: subject, from: at),
                part.first <= range.upperBound
            else { return nil }
            return shared.state.withLock { state in
                let events = state.codec.decode(part.events)
                    .prefix(Int(range.upperBound - part.first + 1))
                state.at = part.first + Int64(events.count)
                return (Array(events), [])
            }
        }
    }

    private func deadLetters(of node: String?, to target: String?) async throws -> Plan? {
        var last: Int64 = 0
        var counts: [String: Int] = [:]
        var raw = 0
        while true {
            let letters = try await store.deadLetters(after: last, node: node)
            guard let final = letters.last else { break }
            last = final.number
            for letter in letters {
                if case .event = letter.body { counts[letter.node, default: 0] += 1 } else { raw += 1 }
            }
        }
        if raw > 0 {
            log.warning(
                "\(counted(raw, "dead letter")) without an event (a text that is none) stay where they are; \"feedbus state export\" shows them"
            )
        }
        var readers: [String: @Sendable () async throws -> ReplaySource.Part?] = [:]
        for (owner, count) in counts.sorted(by: { $0.key < $1.key }) {
            guard let receiver = target ?? (canReceive(owner) ? owner : nil) else {
                log.warning(
                    "\(counted(count, "dead letter")) of \(owner), which takes no events in this config, stay where they are; say --to"
                )
                continue
            }
            // With a target all of them go there, in their order.
            readers[receiver] = letterReader(node: target == nil ? owner : node, through: last)
        }
        return readers.isEmpty ? nil : try graph(readers)
    }

    private func canReceive(_ name: String) -> Bool {
        plan.nodes.contains { node in
            guard node.name == name else { return false }
            switch node.role {
            case .sink, .stage, .routing: return true
            // An event does not say which of a join's inputs it was.
            case .source, .subject, .join: return false
            }
        }
    }

    private func letterReader(node: String?, through last: Int64) -> @Sendable () async throws -> ReplaySource.Part? {
        let shared = Shared(at: 0)
        return { [store] in
            while true {
                let at = shared.state.withLock { $0.at }
                let letters = try await store.deadLetters(after: at, through: last, node: node)
                guard let final = letters.last else { return nil }
                let part: ReplaySource.Part = shared.state.withLock { state in
                    state.at = final.number
                    var part: ReplaySource.Part = ([], [])
                    for letter in letters {
                        guard case .event(let event) = letter.body else { continue }
                        part.events.append(state.codec.decode(event))
                        part.letters.append(letter.number)
                    }
                    return part
                }
                if !part.events.isEmpty { return part }
            }
        }
    }

    private final class Shared: Sendable {
        let state: Mutex<(at: Int64, codec: EventCodec)>
        init(at: Int64) { state = Mutex((at, EventCodec())) }
    }

    // MARK: - The graph

    /// The receivers with a source in front of each, and all that comes behind them.
    /// - Throws: `replay.join` where the way leads through a join, whose other inputs are silent.
    private func graph(_ readers: [String: @Sendable () async throws -> ReplaySource.Part?]) throws -> Plan {
        var included = Set(readers.keys)
        var nodes: [PlannedNode] = []
        // Nodes stand behind all that they read.
        for node in plan.nodes
        where included.contains(node.name) || node.from.contains(where: { included.contains(base($0)) }) {
            if case .join = node.role {
                throw FeedbusError(
                    "replay.join",
                    "the way leads through the join \(node.name), whose other inputs would be silent; say --to with a sink"
                )
            }
            included.insert(node.name)
            var node = node
            node.from.removeAll { !included.contains(base($0)) }
            if let next = readers[node.name] {
                // No node of a config has such a name.
                let source = "replay>\(node.name)"
                nodes.append(
                    PlannedNode(
                        name: source, plugin: ReplaySource.name,
                        role: .source { ReplaySource(context: $0, next: next) }))
                node.from.append(source)
            }
            nodes.append(node)
        }
        return Plan(settings: plan.settings, nodes: nodes)
    }

    /// The node of a route, `switch.big`; names have no dot.
    private func base(_ name: String) -> String { String(name.prefix { $0 != "." }) }
}
