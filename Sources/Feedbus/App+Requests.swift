// feedbus: requests and polls as flows.

internal import FeedbusBase
public import FeedbusFlow
public import FeedbusHTTP

extension App {
    /// One request and its decoded answer, then completion. Each collection asks anew.
    ///
    /// ```
    /// fetch(request)    ----(1|)
    /// ```
    /// A failure is the flow's error at once, so that `retry`, `catch` and `replaceError` decide what becomes of it; only the
    /// waits that the service asks for (a rate limit, `Retry-After`) are waited here. RxSwift: a `Single`; Kotlin:
    /// `flow { emit(…) }`. Back-pressure: a direct call.
    /// - Parameters:
    ///   - resource: which of the service's budgets it uses; see `PoliteClient.fetch`.
    ///   - decode: what it throws fails the flow.
    public func fetch<Value: Sendable>(
        _ request: HTTPRequest, resource: String? = nil, decode: @escaping @Sendable (HTTPResponse) throws -> Value
    ) -> Flow<Value> {
        Flow { emit in
            let http = http.with(retry: RetryPolicy(attempts: 1))
            let fetched = try await http.fetch(request, resource: resource, decode: decode)
            if let value = fetched.value { try await emit(Chunk(one: value)) }
        }
    }

    /// The answers of a service that is asked again and again: those that bring something. The first request comes at once.
    ///
    /// ```
    /// answers    200-----304-----200--…
    /// poll       1---------------2----…
    /// ```
    /// Requests carry the validators of the last answer (`ETag`, `Last-Modified`), so that nothing new costs a 304. From
    /// time to time they are withheld, lest they be stuck: what follows must take an answer that it had before (`distinct`).
    /// It asks no sooner than the service wants (`X-Poll-Interval`, `Retry-After`). A request that fails for good, by the
    /// client's retry policy, is logged and the next one comes later; the flow goes on. With `once` it completes after one
    /// answer, and fails if that fails. Back-pressure: the next request waits for the consumer.
    /// - Parameters:
    ///   - every: from the start of one request to the start of the next.
    ///   - validators: of an answer that is known, for example from the last run.
    ///   - resource: which of the service's budgets it uses; see `PoliteClient.fetch`.
    ///   - decode: what it throws makes the answer unusable; it is asked for again.
    public func poll<Value: Sendable>(
        _ request: HTTPRequest, every: Duration, since validators: Validators? = nil, resource: String? = nil,
        decode: @escaping @Sendable (HTTPResponse) throws -> Value
    ) -> Flow<Fetched<Value>> {
        Flow { emit in
            var known = validators
            var failure: (any Error)?
            let poller = Poller(every: every, once: once, immediate: true, clock: clock, log: log, seed: seed)
            try await poller.run {
                let fetched = try await http.fetch(request, validators: known, resource: resource, decode: decode)
                known = fetched.validators
                guard case .fresh = fetched.outcome else { return PollResult(minimumWait: fetched.minimumWait) }
                do {
                    try await emit(Chunk(one: fetched))
                } catch {
                    // What comes back from downstream is no failed poll.
                    failure = error
                    return nil
                }
                return PollResult(minimumWait: fetched.minimumWait)
            }
            if let failure { throw failure }
        }
    }
}
