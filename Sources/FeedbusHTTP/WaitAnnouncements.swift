// feedbus: which long waits a node has told of.

import FeedbusBase
import Synchronization

/// Lets each long wait be announced once, though several requests of a node wait for one service. Any thread.
final class WaitAnnouncements: Sendable {
    private let ends = Mutex<[ServiceKey: Instant]>([:])

    /// An end that moves on by less is no news: answers to requests that were under way together come one by one.
    private static let grain = Duration.seconds(60)

    /// True where nothing was announced yet that ends about then; it counts as announced from now on.
    func isNews(_ service: ServiceKey, until end: Instant, now: Instant) -> Bool {
        ends.withLock { ends in
            if let known = ends[service], known > now, end - known < Self.grain { return false }
            // Bounded: templated URLs may lead to any number of services.
            if ends.count > 100 { ends = ends.filter { $0.value > now } }
            ends[service] = end
            return true
        }
    }
}
