// feedbus: what became of a run, in numbers and in words.

import FeedbusBase

/// The end of a run.
package struct GraphReport: Sendable {
    package struct Node: Sendable {
        package var name: String
        package var role: PlannedNode.Role
        package var delivered: Int
        package var dropped: Int
        package var refused: Int
        /// What it set aside in this run and the store still has.
        package var deadLettered: Int
        /// Dead letters that the policy of a full store dropped.
        package var lettersDropped: Int
        /// Events that no route took and nobody read.
        package var unmatched: Int
        package var undelivered: Int
        /// Events that the logs of durable subjects have for it at the next start.
        package var kept: Int
        package var failure: String?
    }

    package var nodes: [Node]
    package var elapsed: Duration

    /// 0 after a clean run; 1 when a node failed for good or events were left undelivered. Drops by policy do not count.
    package var exitCode: Int32 {
        nodes.contains { $0.failure != nil || $0.undelivered > 0 } ? 1 : 0
    }

    /// Writes the summary to the log.
    package func log(to log: Log) {
        for node in nodes where node.undelivered > 0 {
            log.named(node.name).error(
                "\(counted(node.undelivered, "event")) left undelivered; a source with a cursor gives them again at the next start"
            )
        }
        for node in nodes where node.unmatched > 0 {
            log.named(node.name).info(
                "\(counted(node.unmatched, "event")) took no route and went no further (read them as \"\(node.name).unmatched\")"
            )
        }
        log.info(summary)
        let failed = nodes.filter { $0.failure != nil }
        if !failed.isEmpty {
            log.error(
                "failed: " + failed.map { "\($0.name) (\($0.failure!))" }.joined(separator: "; "))
        }
    }

    /// The run in one line. `kept` stands there only where a durable subject keeps something.
    package var summary: String {
        let sinks = nodes.filter { if case .sink = $0.role { true } else { false } }
        let sources = nodes.filter { if case .source = $0.role { true } else { false } }
        let emitted = sources.reduce(0) { $0 + $1.delivered }
        let parts = sinks.map { "\($0.name) \($0.delivered)" }.joined(separator: ", ")
        func sum(_ count: (Node) -> Int) -> Int { nodes.reduce(0) { $0 + count($1) } }
        let kept = sum(\.kept)
        return
            "ended after \(elapsed.summaryText): \(counted(emitted, "event")) emitted; delivered: \(parts); dead letters"
            + " \(sum(\.deadLettered)), undelivered \(sum(\.undelivered)), dropped \(sum(\.dropped) + sum(\.lettersDropped))"
            + (kept > 0 ? ", kept \(kept)" : "")
    }
}

extension Duration {
    /// `4.2 s`, `3 min 12 s`, `5 h 3 min`.
    var summaryText: String {
        let seconds = self.seconds
        if seconds < 60 { return "\((seconds * 10).rounded() / 10) s" }
        let whole = Int(seconds)
        if whole < 3_600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3_600) h \(whole / 60 % 60) min"
    }
}
