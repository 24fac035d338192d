// feedbus: the checks of a config that look at more than one node.

import FeedbusBase
import FeedbusFlow
import FeedbusJSON
import FeedbusStore

/// Looks up what each node reads; finds cycles, nodes that nobody reads, and two nodes that write one file.
struct GraphCheck {
    private let nodes: [ConfigNode]
    private let index: [String: Int]
    private(set) var problems: [ConfigProblem] = []
    /// The nodes, each after all that it reads; incomplete where there is a cycle.
    private(set) var order: [Int] = []
    /// For each node what it reads, and where it says so.
    private var reads: [[(node: Int, at: PositionedValue)]]
    /// Nodes that somebody reads, or seems to mean.
    private var isRead: [Bool]
    /// For each node the routes of it that somebody reads, or seems to mean.
    private var readRoutes: [Set<String>]
    /// False where something unknown is read: it could be any node.
    private var readsAreKnown = true

    /// - Parameter isReliable: false where the text is broken in a way that may have swallowed nodes.
    init(_ nodes: [ConfigNode], isReliable: Bool) {
        self.nodes = nodes
        index = Dictionary(nodes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        reads = Array(repeating: [], count: nodes.count)
        isRead = Array(repeating: false, count: nodes.count)
        readRoutes = Array(repeating: [], count: nodes.count)
        findRepeatedNames()
        for reader in nodes.indices { resolve(reader) }
        findOrder()
        if isReliable && readsAreKnown { findUnread() }
        findSharedFiles()
        findStalls()
        findIdleResumes()
    }

    /// A node that is to begin with a replay, where nothing that it reads could give one.
    private mutating func findIdleResumes() {
        for (reader, node) in nodes.enumerated() {
            guard node.planned?.resume == .replay, let place = node.value["resume"], !reads[reader].isEmpty else {
                continue
            }
            let feeders = reads[reader].map { nodes[$0.node] }
            if feeders.contains(where: { $0.planned == nil || $0.planned?.retention?.replay ?? 0 > 0 }) { continue }
            let subject = feeders.first { $0.section == .subjects }
            let fix = subject.map { "give \($0.path) \"store\": \"disk\" and a \"replay\"" } ?? "read such a subject"
            problems.append(
                place.problem(
                    "\(node.path) has nothing to begin with: \"replay\" comes from a subject with \"store\": \"disk\" and a"
                        + " \"replay\" above 0; \(fix), or take \"resume\" out", code: "nothing-to-replay"))
        }
    }

    private mutating func findRepeatedNames() {
        for (at, node) in nodes.enumerated() {
            guard let first = index[node.name], first != at else { continue }
            problems.append(
                ConfigProblem(
                    "the name \"\(node.name)\" is already that of \(nodes[first].path) (line \(nodes[first].keyPosition.line))",
                    at: node.keyPosition, code: "name-taken", path: node.value.path))
            isRead[at] = true
        }
    }

    private mutating func resolve(_ reader: Int) {
        let node = nodes[reader]
        if !node.fromIsKnown { readsAreKnown = false }
        var seen: Set<String> = []
        for element in node.from {
            guard let name = element.string else {
                problems.append(
                    element.problem("\"from\" must hold names of nodes, found \(element.kindName)", code: "wrong-type"))
                readsAreKnown = false
                continue
            }
            guard seen.insert(name).inserted else {
                problems.append(
                    element.problem("\(node.path) reads \"\(name)\" twice", code: "repeated-node"))
                continue
            }
            let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let feeder = index[parts[0]] else {
                reportUnknown(name, element, reader)
                continue
            }
            if nodes[feeder].section == .sinks {
                problems.append(
                    element.problem(
                        "\(node.path) cannot read \(nodes[feeder].path): nothing comes out of a sink",
                        code: "reads-sink"))
                continue
            }
            isRead[feeder] = true
            if resolve(route: parts.dropFirst().first, of: feeder, element, reader) {
                reads[reader].append((feeder, element))
            }
        }
    }

    /// Looks a route up, or finds that a node has none.
    /// - Parameter route: nil where a node is named without one.
    private mutating func resolve(
        route: String?, of feeder: Int, _ element: PositionedValue, _ reader: Int
    ) -> Bool {
        let node = nodes[feeder]
        guard node.isRouting else {
            // A node whose plugin is not known may have routes or not.
            guard let route, node.planned != nil else { return true }
            problems.append(
                element.problem(
                    "\(node.path) has no routes, and so no \"\(route)\"", code: "no-routes", suggestion: node.name))
            return false
        }
        guard let routes = node.routes else {
            readsAreKnown = false
            return route != nil
        }
        let names = (routes + [PlannedNode.unmatched]).map { "\"\(node.name).\($0)\"" }.joined(separator: ", ")
        guard let route else {
            problems.append(
                element.problem(
                    "\(node.path) is read by its routes: \(nodes[reader].path) must name one of \(names)",
                    code: "route-needed"))
            readRoutes[feeder].formUnion(routes)
            return false
        }
        if routes.contains(route) || route == PlannedNode.unmatched {
            readRoutes[feeder].insert(route)
            return true
        }
        let nearest = nearestName(to: route, in: routes + [PlannedNode.unmatched])
        problems.append(
            element.problem(
                "\(node.path) has no route \"\(route)\"; it has \(names)", code: "unknown-route",
                suggestion: nearest.map { "\(node.name).\($0)" }))
        // Which one was meant is not known where nothing is near.
        if let nearest { readRoutes[feeder].insert(nearest) } else { readRoutes[feeder].formUnion(routes) }
        return false
    }

    private mutating func reportUnknown(_ name: String, _ element: PositionedValue, _ reader: Int) {
        let candidates = nodes.indices.filter { nodes[$0].section != .sinks && $0 != reader }.flatMap { at in
            guard let routes = nodes[at].routes else { return [nodes[at].name] }
            return (routes + [PlannedNode.unmatched]).map { "\(nodes[at].name).\($0)" }
        }
        let nearest = nearestName(to: name, in: candidates)
        problems.append(
            element.problem(
                "unknown node \"\(name)\" in the \"from\" of \(nodes[reader].path)", code: "unknown-node",
                suggestion: nearest))
        let meant = nearest?.split(separator: ".", maxSplits: 1).map(String.init) ?? []
        guard let node = meant.first.flatMap({ index[$0] }) else {
            readsAreKnown = false
            return
        }
        isRead[node] = true
        readRoutes[node].formUnion(meant.dropFirst())
    }

    /// Kahn's algorithm. Where it stops early there is a cycle: it is reported, cut where it closes, and the rest goes on.
    private mutating func findOrder() {
        var waitsFor = reads.map { Set($0.map(\.node)) }
        var readers: [[Int]] = Array(repeating: [], count: nodes.count)
        for (reader, feeders) in waitsFor.enumerated() {
            for feeder in feeders.sorted() { readers[feeder].append(reader) }
        }
        var isPlaced = Array(repeating: false, count: nodes.count)
        var ready = nodes.indices.filter { waitsFor[$0].isEmpty }
        while true {
            var next = 0
            while next < ready.count {
                let node = ready[next]
                next += 1
                isPlaced[node] = true
                order.append(node)
                for reader in readers[node] where waitsFor[reader].remove(node) != nil && waitsFor[reader].isEmpty {
                    ready.append(reader)
                }
            }
            guard let stuck = isPlaced.firstIndex(of: false) else { return }
            let cycle = findCycle(from: stuck, waitsFor)
            report(cycle: cycle)
            waitsFor[cycle[0]].remove(cycle[cycle.count - 1])
            ready = waitsFor[cycle[0]].isEmpty ? [cycle[0]] : []
        }
    }

    /// A cycle upstream of a node that waits, in the direction of the events, beginning with the first in the file.
    private func findCycle(from start: Int, _ waitsFor: [Set<Int>]) -> [Int] {
        var trail: [Int] = []
        var place: [Int: Int] = [:]
        var at = start
        while place[at] == nil {
            place[at] = trail.count
            trail.append(at)
            at = waitsFor[at].min()!  // a node that waits waits for another that does
        }
        let cycle = Array(trail[place[at]!...].reversed())
        let first = cycle.firstIndex(of: cycle.min()!)!
        return Array(cycle[first...] + cycle[..<first])
    }

    private mutating func report(cycle: [Int]) {
        let closing = reads[cycle[0]].first { $0.node == cycle[cycle.count - 1] }!.at
        let names = (cycle + [cycle[0]]).map { nodes[$0].name }.joined(separator: " -> ")
        problems.append(closing.problem("cycle: \(names); events would go round for ever", code: "cycle"))
    }

    private mutating func findUnread() {
        for (at, node) in nodes.enumerated() where node.section != .sinks && !isRead[at] {
            problems.append(
                ConfigProblem(
                    "nobody reads \(node.path): name it in the \"from\" of another node, or take it out",
                    at: node.keyPosition, code: "unread", path: node.value.path))
        }
        for (at, node) in nodes.enumerated() where isRead[at] {
            for route in node.routes ?? [] where !readRoutes[at].contains(route) {
                // Where the route stands in the options, whatever the option is called.
                let place = node.value["with"]?.members?.lazy.compactMap { option in
                    option.value.members?.first { $0.key == route }
                }.first
                problems.append(
                    ConfigProblem(
                        "nobody reads the route \"\(route)\" of \(node.path): name \"\(node.name).\(route)\" in the \"from\""
                            + " of another node, or take the route out",
                        at: place?.keyPosition ?? node.keyPosition, code: "unread-route",
                        path: place?.value.path ?? node.value.path))
            }
        }
    }

    private mutating func findSharedFiles() {
        var writers: [String: Int] = [:]
        for (at, node) in nodes.enumerated() {
            for (path, place) in node.claimedFiles {
                if let other = writers[path], other != at {
                    problems.append(
                        place.problem(
                            "\(node.path) writes the same file as \(nodes[other].path): \(path)", code: "same-file"))
                } else {
                    writers[path] = at
                }
            }
        }
    }

    /// A node that takes its inputs in turn, where two of them come from one node: what comes for the later one fills its
    /// buffer, that holds up the node that both come from, and so the earlier one never ends.
    private mutating func findStalls() {
        guard nodes.contains(where: \.readsInTurn) else { return }
        /// For each node those that wait when its readers do: itself, and what fills its buffer. Nobody does where events
        /// are kept in a log; only itself, where a full buffer drops.
        var holdsUp: [Set<Int>] = Array(repeating: [], count: nodes.count)
        for at in order {
            let node = nodes[at]
            if node.planned?.retention != nil { continue }
            holdsUp[at] = [at]
            if let planned = node.planned, planned.buffer.whenFull != .block { continue }
            for (feeder, _) in reads[at] { holdsUp[at].formUnion(holdsUp[feeder]) }
            guard node.readsInTurn else { continue }
            var earlier: [(node: Int, holdsUp: Set<Int>)] = []
            for (feeder, place) in reads[at] {
                let mine = holdsUp[feeder]
                let before = earlier.first { !$0.holdsUp.isDisjoint(with: mine) }
                earlier.append((feeder, mine))
                // The nearest one that both come from.
                guard let before, let shared = order.last(where: { mine.contains($0) && before.holdsUp.contains($0) })
                else { continue }
                problems.append(
                    ConfigProblem(
                        "\(node.path) takes \"\(nodes[feeder].name)\" when \"\(nodes[before.node].name)\" has ended, and both"
                            + " come from \"\(nodes[shared].name)\": when the buffer in front of \(node.path) is full, neither"
                            + " goes on. Read them from different sources, or let the buffer drop", at: place.position,
                        code: "may-stall", path: place.path, severity: .warning))
            }
        }
    }
}
