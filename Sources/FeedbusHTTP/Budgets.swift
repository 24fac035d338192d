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

    private var blocks: [Key: Block] = [:]
    private var unhinted: [ServiceKey: Int] = [:]

    /// Closes a budget; a later end that is already known stays.
    mutating func close(_ service: ServiceKey, resource: String?, until: Instant, reason: String, now: Instant) {
        let key = Key(service: service, resource: resource)
        if let known = blocks[key], known.until >= until { return }
        // A program for months must not collect what is long over.
        if blocks.count > 1_000 { blocks = blocks.filter { $0.value.until > now } }
        blocks[key] = Block(until: until, reason: reason)
    }

    /// What a request for the resource has to wait for now; nil: nothing.
    func block(_ service: ServiceKey, resource: String, now: Instant) -> Block? {
        if blocks.isEmpty { return nil }
        return [blocks[Key(service: service, resource: nil)], blocks[Key(service: service, resource: resource)]]
            .compactMap(\.self).filter { $0.until > now }.max { $0.until < $1.until }
    }

    /// Nothing was ever closed.
    var areOpen: Bool { blocks.isEmpty }

    /// Limits without a hint that the service has given in a row.
    func unhintedInARow(_ service: ServiceKey) -> Int { unhinted.isEmpty ? 0 : unhinted[service] ?? 0 }

    mutating func countUnhinted(_ service: ServiceKey) { unhinted[service, default: 0] += 1 }

    /// The service answers normally again.
    mutating func succeeded(_ service: ServiceKey) { if !unhinted.isEmpty { unhinted[service] = nil } }
}
