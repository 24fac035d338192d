// feedbus: what the graph does for the plugin of one node.

import FeedbusBase
import FeedbusPlugin
import Synchronization

/// The plugin's way to counters, dead letters and cursors. What only refusals need is made with the first one: nearly all
/// nodes never have any, and there may be thousands.
final class NodeServices: PluginServices {
    private struct Lazy {
        var notice: RefusalNotice?
        var letters: DeadLetterBox?
    }

    let node: String
    let counters = NodeCounters()
    private let graph: Surroundings
    private let lazy = Mutex(Lazy())

    /// What the services of all nodes of a graph have in common.
    final class Surroundings: Sendable {
        let log: Log
        let clock: any EventClock
        let loadCursor: @Sendable (_ node: String, _ key: String) async throws -> Bytes?
        /// Nil: nothing can be set aside.
        let makeLetters: (@Sendable (_ node: String, NodeCounters) -> DeadLetterBox)?

        init(
            log: Log, clock: any EventClock,
            loadCursor: @escaping @Sendable (_ node: String, _ key: String) async throws -> Bytes?,
            makeLetters: (@Sendable (_ node: String, NodeCounters) -> DeadLetterBox)?
        ) {
            self.log = log
            self.clock = clock
            self.loadCursor = loadCursor
            self.makeLetters = makeLetters
        }
    }

    init(node: String, graph: Surroundings) {
        self.node = node
        self.graph = graph
    }

    /// Nil where none were needed so far.
    var madeLetters: DeadLetterBox? { lazy.withLock(\.letters) }

    /// Made when they are first asked for; nil where there is no store for them.
    var letters: DeadLetterBox? {
        lazy.withLock { lazy in
            if lazy.letters == nil { lazy.letters = graph.makeLetters?(node, counters) }
            return lazy.letters
        }
    }

    func dropped(_ count: Int) { counters.dropped.add(count) }

    func refused(_ event: Event, reason: String) {
        if let letters {
            // The stage has let it go; from here on the store answers for it.
            var event = event
            event.receipt?.markHandedOn()
            event.receipt = event.receipt?.real
            letters.add(event, reason: reason)
        } else {
            event.receipt?.report(.deadLettered)
        }
        let notice = lazy.withLock { lazy in
            if let notice = lazy.notice { return notice }
            let notice = RefusalNotice(log: graph.log.named(node), clock: graph.clock, counters: counters)
            lazy.notice = notice
            return notice
        }
        notice.refused(event, reason)
    }

    func refusedText(_ text: Bytes, reason: String) {
        if let letters { letters.add(raw: text, reason: reason) } else { dropped(1) }
    }

    func textsAreSettled() async -> Bool { await letters?.textsAreSettled() ?? true }

    func loadCursor(_ key: String) async throws -> Bytes? { try await graph.loadCursor(node, key) }

    /// Says at the end what was refused in all.
    func finish() { lazy.withLock(\.notice)?.finish() }
}
