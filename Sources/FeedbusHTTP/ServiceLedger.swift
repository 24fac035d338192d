// feedbus: what all nodes know together about the services that they use.

import FeedbusBase
import Synchronization

/// Budgets, back-off and permanent redirects of every service, shared by all nodes of a program. Any thread.
package final class ServiceLedger: Sendable {
    /// What happened so far, in numbers.
    package struct Counts: Sendable, Hashable {
        package var requests = 0
        package var notModified = 0
        package var retries = 0
        package var limits = 0
        package var stuckValidators = 0
    }

    private struct Endpoint: Hashable {
        var service: ServiceKey
        var url: String
    }

    private struct State {
        var budgets = Budgets()
        var known = KnownBudgets()
        /// The budgets of endpoints as their answers named them, where the request did not tell.
        var resources: [Endpoint: String] = [:]
        var backoffs: [ServiceKey: Backoff] = [:]
        var redirects = Redirects.Memory()
        var counts = Counts()
    }

    private let state = Mutex(State())

    package init() {}

    package var counts: Counts { state.withLock { $0.counts } }

    func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }

    /// The last word of every service about its budgets, by service, credential and resource.
    package var budgets: [ServiceBudget] { state.withLock { $0.known.all } }

    /// Changes whenever a budget does.
    package var budgetsVersion: Int { state.withLock { $0.known.version } }

    func note(_ limits: RateLimits, service: ServiceKey, resource: String, at now: WallTime) {
        state.withLock { $0.known.note(limits, service: service, resource: resource, at: now) }
    }

    /// What a request has to wait for now; nil: its budget is open.
    /// - Parameter resource: which budget it is, unless an answer of the endpoint has named it.
    func block(
        _ service: ServiceKey, endpoint: @autoclosure () -> String, resource: String, now: Instant
    ) -> Block? {
        state.withLock { state in
            if state.budgets.areOpen { return nil }
            let learned = state.resources.isEmpty ? nil : state.resources[Endpoint(service: service, url: endpoint())]
            return state.budgets.block(service, resource: learned ?? resource, now: now)
        }
    }

    /// An answer of the endpoint has named the budget that it uses.
    /// - Parameter expected: what the request was taken for. Only what differs from it has to be kept.
    func learn(
        _ resource: String, of endpoint: @autoclosure () -> String, service: ServiceKey, insteadOf expected: String
    ) {
        state.withLock { state in
            if resource == expected && state.resources.isEmpty { return }
            let key = Endpoint(service: service, url: endpoint())
            guard resource != expected || state.resources[key] != nil else { return }
            // Bounded: templated URLs may have any number of endpoints. What is forgotten is learned again.
            if state.resources.count >= 1_000 && state.resources[key] == nil { state.resources = [:] }
            state.resources[key] = resource
        }
    }

    /// When an endpoint may be asked that was failing; nil: at once.
    func backoff(
        _ service: ServiceKey, endpoint: @autoclosure () -> String, now: @autoclosure () -> Instant
    ) -> Block? {
        state.withLock { $0.backoffs.isEmpty ? nil : $0.backoffs[service]?.wait(endpoint(), now: now()) }
            .map { Block(until: $0, reason: "its failing endpoints back off") }
    }

    func unhintedInARow(_ service: ServiceKey, startedAt: Instant) -> Int {
        state.withLock { $0.budgets.unhintedInARow(service, startedAt: startedAt) }
    }

    /// Notes the wait that an answer asked for.
    func note(
        _ wait: AskedWait, service: ServiceKey, resource: String, reason: String, startedAt: Instant, now: Instant
    ) {
        state.withLock { state in
            if wait.reason == .limitWithoutHint {
                state.budgets.countUnhinted(service, startedAt: startedAt, until: now + wait.duration)
            }
            state.budgets.close(
                service, resource: wait.reason == .quotaSpent ? resource : nil, until: now + wait.duration,
                reason: reason, now: now)
        }
    }

    func failed(
        _ service: ServiceKey, endpoint: String, startedAt: Instant, now: Instant, pause: (_ rounds: Int) -> Duration
    ) {
        state.withLock { state in
            if state.backoffs.count > 1_000 { state.backoffs = state.backoffs.filter { !$0.value.isIdle } }
            state.backoffs[service, default: Backoff()]
                .failed(endpoint, startedAt: startedAt, now: now, pause: pause)
        }
    }

    /// The service answered, if only with a refusal.
    func succeeded(_ service: ServiceKey, endpoint: @autoclosure () -> String, startedAt: Instant) {
        state.withLock { state in
            state.budgets.succeeded(service, startedAt: startedAt)
            if !state.backoffs.isEmpty { state.backoffs[service]?.succeeded(endpoint()) }
        }
    }

    func permanentTarget(of request: HTTPRequest, at url: HTTPURL) -> (status: Int, location: String)? {
        state.withLock { $0.redirects.target(of: request, at: url) }
    }

    func remember(_ request: HTTPRequest, at url: HTTPURL, status: Int, location: String) {
        state.withLock { $0.redirects.remember(request, at: url, status: status, location: location) }
    }

    func forgetRedirects(at urls: [HTTPURL]) {
        if !urls.isEmpty { state.withLock { $0.redirects.forget(urls) } }
    }
}
