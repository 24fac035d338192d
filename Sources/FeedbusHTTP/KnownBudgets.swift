// feedbus: the budgets of all services, as they were last told.

import FeedbusBase

/// What services have said about their budgets. Bounded: services that nobody asks any more are forgotten, oldest first.
struct KnownBudgets: Sendable {
    private struct Key: Hashable {
        var service: ServiceKey
        var resource: String
    }

    private static let most = 1_000

    private var budgets: [Key: ServiceBudget] = [:]
    /// The credentials of each service, in the order in which they came.
    private var credentials: [String: [Secret]] = [:]
    /// Changes whenever a budget does.
    private(set) var version = 0

    /// In the order of their names.
    var all: [ServiceBudget] {
        budgets.values.sorted { ($0.service, $0.credential, $0.resource) < ($1.service, $1.credential, $1.resource) }
    }

    mutating func note(_ limits: RateLimits, service: ServiceKey, resource: String, at now: WallTime) {
        let key = Key(service: service, resource: resource)
        if budgets[key] == nil, budgets.count >= Self.most,
            let oldest = budgets.min(by: { $0.value.seenAt < $1.value.seenAt })
        {
            budgets[oldest.key] = nil
        }
        version += 1
        budgets[key] = ServiceBudget(
            service: service.origin, credential: name(of: service), resource: resource, limit: limits.limit,
            remaining: limits.remaining, resetsAt: limits.resetsAt, seenAt: now)
    }

    private mutating func name(of service: ServiceKey) -> String {
        guard let credential = service.credential else { return "none" }
        var known = credentials[service.origin] ?? []
        let index = known.firstIndex(of: credential) ?? known.count
        if index == known.count && index < Self.most { known.append(credential) }
        credentials[service.origin] = known
        return index == 0 ? "token" : "token \(index + 1)"
    }
}
