// feedbus: until when services have asked not to be asked.

import FeedbusBase

/// A wait of a service, and why.
struct Block: Sendable, Hashable {
    var until: Instant
    /// For people: `the quota of core is spent`.
    var reason: String
}

/// The budgets of all services. While one source waits for a budget, all sources that use it wait.
///
/// A spent quota closes one resource (GitHub counts `core` and `search` apart); every other wait closes the whole
/// service for that credential.
struct Budgets: Sendable {
    private struct Key: Hashable {
        var service: ServiceKey
        /// Nil: all of the service.
        var resource: String?
    }

    /// Limits without a hint that a service gives in a row. Requests that were under way together are one round.
    private struct Unhinted {
        var rounds: Int
        /// Nobody who was told of the last round asks before.
        var until: Instant
    }

    private var blocks: [Key: Block] = [:]
    private var unhinted: [ServiceKey: Unhinted] = [:]

    /// Closes a budget; a later end that is already known stays.
    mutating func close(_ service: ServiceKey, resource: String?, until: Instant, reason: String, now: Instant) {
        let key = Key(service: service, resource: resource)
        if let known = blocks[key], known.until >= until { return }
        // A program for months must not collect what is long over.
        if blocks.count > 1_000 { blocks = blocks.filter { $0.value.until > now } }
        blocks[key] = Block(until: until, reason: reason)
    }

    /// Nothing was ever closed.
    var areOpen: Bool { blocks.isEmpty }

    /// What a request for the resource has to wait for now; nil: nothing.
    func block(_ service: ServiceKey, resource: String, now: Instant) -> Block? {
        if blocks.isEmpty { return nil }
        return [blocks[Key(service: service, resource: nil)], blocks[Key(service: service, resource: resource)]]
            .compactMap(\.self).filter { $0.until > now }.max { $0.until < $1.until }
    }

    /// Limits without a hint that the service has given in a row before the answer to a request that was sent then.
    func unhintedInARow(_ service: ServiceKey, startedAt: Instant) -> Int {
        guard !unhinted.isEmpty, let known = unhinted[service] else { return 0 }
        return startedAt >= known.until ? known.rounds : known.rounds - 1
    }

    mutating func countUnhinted(_ service: ServiceKey, startedAt: Instant, until: Instant) {
        let before = unhintedInARow(service, startedAt: startedAt)
        unhinted[service] = Unhinted(rounds: before + 1, until: max(until, unhinted[service]?.until ?? until))
    }

    /// The service answers normally again. An answer to a request that was under way when a limit came does not say so.
    mutating func succeeded(_ service: ServiceKey, startedAt: Instant) {
        guard !unhinted.isEmpty, let known = unhinted[service], startedAt >= known.until else { return }
        unhinted[service] = nil
    }
}
