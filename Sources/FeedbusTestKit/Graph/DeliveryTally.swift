// feedbus: keeps the books of one life of a simulated program: what was sent to whom, and who got it.

import FeedbusBase
import FeedbusPlugin
import FeedbusRuntime
import Synchronization

/// Checks, while the graph runs, that every consumer gets what its producers sent: nothing twice, nothing out of order,
/// nothing that was not sent; and that no cursor is saved before all that it stands for has arrived. At the end it
/// checks that nothing is missing that was not counted.
final class DeliveryTally: Sendable {
    private struct Source {
        /// What each emission was to save.
        var cursors: [[(key: String, value: Bytes?)]] = []
        /// The emission whose cursors were saved last.
        var saved = 0
    }

    /// What a node reads: a buffer. A join has several.
    private struct Consumer {
        var isSink: Bool
        var matcher: StreamMatcher
        /// It came to its own end: nothing more is owed to it.
        var isOver = false
    }

    private struct EventKey: Hashable {
        var node: Bytes
        var id: Bytes
    }

    private struct State {
        var sent: [[SentEvent]]
        var sources: [Int: Source] = [:]
        var consumers: [String: [Consumer]] = [:]
        /// What workers have finished before its turn, by producer and ticket.
        var early: [Int: [Int: [SentEvent]]] = [:]
        /// By producer: the next ticket, and the next one whose turn it is.
        var tickets: [Int: (given: Int, next: Int)] = [:]
        /// In which emission an event was last.
        var emissions: [EventKey: EmissionNumber] = [:]
        var violation: String?
    }

    /// The numbers of sources and stages.
    private let producers: [String: Int]
    private let nodes: [PlannedNode]
    private let state: Mutex<State>

    init(plan: Plan) {
        nodes = plan.nodes
        var producers: [String: Int] = [:]
        var state = State(sent: [])
        for node in plan.nodes {
            let outputs: [String]
            switch node.role {
            case .source:
                state.sources[producers.count] = Source()
                outputs = [node.name]
            case .stage, .join: outputs = [node.name]
            case .routing(let routes, _): outputs = Self.outputs(of: node.name, routes: routes)
            case .sink, .subject: outputs = []
            }
            for output in outputs {
                producers[output] = producers.count
                state.sent.append([])
            }
        }
        for node in plan.nodes {
            var inputs = [node.from]
            var isSink = false
            switch node.role {
            case .source, .subject: continue
            case .sink: isSink = true
            case .join: inputs = node.from.map { [$0] }
            case .stage, .routing: break
            }
            let isExact = node.buffer.whenFull == .block || node.buffer.whenFull == .fail
            state.consumers[node.name] = inputs.map { from in
                let streams = Self.producers(of: from, in: plan.nodes).map { producers[$0]! }
                return Consumer(isSink: isSink, matcher: StreamMatcher(producers: streams, isExact: isExact))
            }
        }
        self.producers = producers
        self.state = Mutex(state)
    }

    /// The sources and stages, or their routes, behind the names in a `from`: through subjects; one as often as it is read.
    static func producers(of from: [String], in nodes: [PlannedNode]) -> [String] {
        from.flatMap { name -> [String] in
            // A route is no node.
            guard let upstream = nodes.first(where: { $0.name == name }) else { return [name] }
            if case .subject = upstream.role { return producers(of: upstream.from, in: nodes) }
            return [name]
        }
    }

    /// The ways out of a routing stage, as other nodes name them.
    static func outputs(of node: String, routes: [String]) -> [String] {
        (routes + [PlannedNode.unmatched]).map { "\(node).\($0)" }
    }

    /// The first promise that was broken.
    var violation: String? { state.withLock(\.violation) }

    // MARK: - While it runs

    /// A source emits.
    func emitted(_ node: String, _ events: [Event], _ cursors: [CursorUpdate]) {
        let producer = producers[node]!
        state.withLock { state in
            let emission = EmissionNumber(source: producer, number: state.sources[producer]!.cursors.count)
            state.sources[producer]!.cursors.append(cursors.map { ($0.key, $0.value) })
            for event in events {
                state.emissions[Self.key(event)] = emission
                state.sent[producer].append(
                    SentEvent(fingerprint: Self.fingerprint(event), origin: emission, id: event.id.string))
            }
        }
    }

    /// The number of a chunk that a stage takes in, for `passed`.
    func ticket(_ node: String) -> Int {
        let producer = producers[node]!
        return state.withLock { state in
            state.tickets[producer, default: (0, 0)].given += 1
            return state.tickets[producer]!.given - 1
        }
    }

    /// A stage hands events on.
    /// - Parameter ticket: where several chunks may be under way: what came of this one goes on after what came of those
    ///   before it.
    func passed(_ output: String, _ events: some Sequence<Event>, ticket: Int? = nil) {
        let producer = producers[output]!
        state.withLock { state in
            let sent = events.map { event in
                SentEvent(
                    fingerprint: Self.fingerprint(event), origin: state.emissions[Self.key(event)],
                    id: event.id.string)
            }
            guard let ticket else {
                state.sent[producer] += sent
                return
            }
            state.early[producer, default: [:]][ticket] = sent
            var next = state.tickets[producer]!.next
            // After its own end, nothing more comes out of a stage.
            let isOver = state.consumers[output]!.contains { $0.isOver }
            while !isOver, let turn = state.early[producer]!.removeValue(forKey: next) {
                state.sent[producer] += turn
                next += 1
            }
            state.tickets[producer]!.next = next
        }
    }

    /// A stage has taken events in, or a sink has written them.
    func took(_ node: String, input: Int = 0, _ events: some Sequence<Event>) {
        state.withLock { state in
            var consumer = state.consumers[node]![input]
            defer { state.consumers[node]![input] = consumer }
            for event in events where state.violation == nil {
                if consumer.isOver {
                    state.violation = "\(node) got event \(event.id) after it had come to its end"
                    return
                }
                let fingerprint = Self.fingerprint(event)
                guard !consumer.matcher.take(fingerprint, from: state.sent) else { continue }
                let copies = consumer.matcher.producers.map { producer in
                    state.sent[producer].count { $0.fingerprint == fingerprint }
                }.reduce(0, +)
                state.violation =
                    copies == 0
                    ? "\(node) got event \(event.id), which nobody sent to it"
                    : "\(node) got event \(event.id) twice or out of order (it was sent \(copies) times)"
            }
        }
    }

    /// A sink or stage has come to its own end.
    func isOver(_ node: String) {
        state.withLock { state in
            for input in state.consumers[node]!.indices { state.consumers[node]![input].isOver = true }
        }
    }

    /// Cursors of a source are being saved.
    func saved(_ node: String, _ updates: [CursorUpdate]) {
        let producer = producers[node]!
        state.withLock { state in
            guard state.violation == nil else { return }
            var source = state.sources[producer]!
            var newest = source.saved
            for update in updates {
                let emission = source.cursors.indices.dropFirst(source.saved).first { emission in
                    source.cursors[emission].contains { $0.key == update.key && $0.value == update.value }
                }
                guard let emission else {
                    state.violation =
                        "\(node) saved the cursor \(update.key) = \(update.value?.string ?? "nil"), which is older than the one saved before or was never emitted"
                    return
                }
                newest = max(newest, emission)
            }
            source.saved = newest
            state.sources[producer] = source
            for (name, consumer) in inOrder(state.consumers) where !consumer.isOver {
                let early = consumer.matcher.firstWaiting(in: state.sent) { event in
                    event.origin.map { $0.source == producer && $0.number <= newest } ?? false
                }
                guard let early else { continue }
                state.violation =
                    "\(node) saved the cursor of emission \(newest) before \(name) had event \(early.id)"
                return
            }
        }
    }

    // MARK: - At the end

    /// Checks the end of a life that was not killed.
    /// - Parameters:
    ///   - hasGivenUp: the shutdown grace was over before everything had arrived.
    ///   - wasStopped: it was told to stop: what then still waits in a join for a partner is not acknowledged, and comes
    ///     again at the next start.
    func check(
        _ report: GraphReport, hasGivenUp: Bool, wasStopped: Bool, stored: (_ node: String, _ key: String) -> Bytes?
    ) {
        state.withLock { state in
            guard state.violation == nil else { return }
            for node in report.nodes {
                guard let inputs = state.consumers[node.name], !inputs[0].isOver else { continue }
                let missing = inputs.reduce(0) { $0 + $1.matcher.missing(of: state.sent) }
                let counted = node.dropped + node.undelivered
                if hasGivenUp || node.failure != nil {
                    guard missing > 0, report.exitCode == 0 else { continue }
                    state.violation = "\(missing) events did not reach \(node.name), and the exit code is 0"
                } else if inputs[0].isSink ? missing != counted : missing > counted {
                    state.violation =
                        "\(missing) events did not reach \(node.name), but \(node.dropped) were counted as dropped and \(node.undelivered) as undelivered"
                }
            }
            guard state.violation == nil, report.exitCode == 0, !hasGivenUp else { return }
            for node in nodes {
                guard let producer = producers[node.name], let source = state.sources[producer] else { continue }
                if wasStopped && feedsJoin(node.name) { continue }
                var last: [String: Bytes?] = [:]
                for emission in source.cursors {
                    for cursor in emission { last[cursor.key] = .some(cursor.value) }
                }
                for (key, value) in last.sorted(by: { $0.key < $1.key }) where stored(node.name, key) != value {
                    state.violation =
                        "all is delivered, but the last cursor \(key) of \(node.name) is not saved: \(stored(node.name, key)?.string ?? "nil") instead of \(value?.string ?? "nil")"
                    return
                }
            }
        }
    }

    /// True where the node's events come to a join, directly or through others.
    private func feedsJoin(_ name: String) -> Bool {
        nodes.contains { reader in
            guard reader.from.contains(where: { $0 == name || $0.hasPrefix(name + ".") }) else { return false }
            if case .join = reader.role { return true }
            return feedsJoin(reader.name)
        }
    }

    private func inOrder(_ consumers: [String: [Consumer]]) -> [(String, Consumer)] {
        nodes.flatMap { node in (consumers[node.name] ?? []).map { (node.name, $0) } }
    }

    private static func key(_ event: Event) -> EventKey {
        EventKey(node: event.origin.node.compacted(), id: event.id.compacted())
    }

    private static func fingerprint(_ event: Event) -> Int {
        var hasher = Hasher()
        for part in [event.origin.source, event.origin.type, event.origin.node, event.id, event.subject, event.time] {
            hasher.combine(part)
        }
        hasher.combine(event.data)
        hasher.combine(event.attributes)
        return hasher.finalize()
    }
}
