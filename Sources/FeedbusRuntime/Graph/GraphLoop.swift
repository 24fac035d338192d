// feedbus: one of the loops of a graph, as its nodes see it.

import FeedbusBase
import FeedbusLoop

/// A loop that hosts nodes, with its time.
package struct GraphLoop: Sendable {
    package var host: any LoopHost
    package var clock: any EventClock

    package init(host: any LoopHost, clock: any EventClock) {
        self.host = host
        self.clock = clock
    }
}
