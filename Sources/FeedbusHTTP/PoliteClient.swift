// feedbus: one request, asked as a good guest asks.

public import FeedbusBase

/// Asks services in the name of one node, by all the rules of politeness; budgets and back-off are shared by all nodes.
///
/// As small as two words, because every node and every request under way has copies.
public struct PoliteClient: Sendable {
    private final class Parts: Sendable {
        let transport: any HTTPTransport
        let ledger: ServiceLedger
        let retry: RetryPolicy
        let clock: any EventClock
        let log: Log
        let dice: Dice
        let announcements: WaitAnnouncements

        init(
            transport: any HTTPTransport, ledger: ServiceLedger, retry: RetryPolicy, clock: any EventClock, log: Log,
            dice: Dice, announcements: WaitAnnouncements
        ) {
            self.transport = transport
            self.ledger = ledger
            self.retry = retry
            self.clock = clock
            self.log = log
            self.dice = dice
            self.announcements = announcements
        }
    }

    private var parts: Parts
    private var revalidateAfter: Int

    private var transport: any HTTPTransport { parts.transport }
    private var ledger: ServiceLedger { parts.ledger }
    private var retry: RetryPolicy { parts.retry }
    private var clock: any EventClock { parts.clock }
    private var log: Log { parts.log }

    /// - Parameters:
    ///   - ledger: one for all nodes of a program.
    ///   - log: in the node's name.
    ///   - seed: the node's.
    package init(
        transport: any HTTPTransport, ledger: ServiceLedger, retry: RetryPolicy, clock: any EventClock, log: Log,
        seed: UInt64, revalidateAfter: Int = 30
    ) {
        parts = Parts(
            transport: transport, ledger: ledger, retry: retry, clock: clock, log: log, dice: Dice(seed: seed),
            announcements: WaitAnnouncements())
        self.revalidateAfter = revalidateAfter
    }

    /// The same client with another `revalidate_after`: 1... answers of 304 in a row before an unconditional request.
    public func with(revalidateAfter: Int) -> PoliteClient {
        var copy = self
        copy.revalidateAfter = max(revalidateAfter, 1)
        return copy
    }

    /// The same client with another retry policy than the node's.
    public func with(retry: RetryPolicy) -> PoliteClient {
        var copy = self
        copy.parts = Parts(
            transport: transport, ledger: ledger, retry: retry, clock: clock, log: log, dice: parts.dice,
            announcements: parts.announcements)
        return copy
    }

    /// An unconditional request brought news that the conditional ones had not shown: warns, and counts it.
    public func reportStuckValidator(_ url: String) {
        ledger.count { $0.stuckValidators += 1 }
        log.warning(
            "stuck validator: an unconditional request brought news that 304 answers had denied: \(Redaction.url(url, secretQuery: []))"
        )
    }

    /// Asks, waits as long as the service wants, asks again where that may help, and decodes the answer.
    ///
    /// Before it is sent, a request waits for the budget of its service and credential; failing endpoints of a service
    /// back off together. 5xx, 408, time-outs, resets, DNS failures and answers that `decode` refuses are tried again
    /// by the node's retry policy, no sooner than `Retry-After` says; a wait for a rate limit uses up no attempt.
    /// Redirects are followed (at most five).
    /// - Parameters:
    ///   - validators: of the last answer. They are withheld after `revalidate_after` answers of 304, or an hour.
    ///   - resource: which of the service's budgets it uses, until an answer of the endpoint names another one
    ///     (`X-RateLimit-Resource`); GitHub counts `core` and `search` apart. Nil: what GitHub has for such a path.
    ///   - extraStatuses: statuses other than 2xx that `decode` wants to see.
    ///   - decode: what it throws makes the answer unusable; its validators are then not kept.
    /// - Throws: `FeedbusError` that names the URL without secrets and the server's own words; `CancellationError`, at
    ///   once, also out of a wait.
    public func fetch<Value: Sendable>(
        _ request: HTTPRequest, validators: Validators? = nil, resource: String? = nil,
        accept extraStatuses: Set<Int> = [], decode: @Sendable (HTTPResponse) throws -> Value
    ) async throws -> Fetched<Value> {
        var value: Value?
        let reply = try await ask(request, validators, resource, extraStatuses) { value = try decode($0) }
        return Fetched(
            outcome: value.map { .fresh($0) } ?? .notModified, response: reply.response, validators: reply.validators,
            minimumWait: reply.minimumWait, isRevalidation: reply.isRevalidation)
    }

    private struct Reply {
        var response: HTTPResponse
        var validators: Validators
        var minimumWait: Duration
        var isRevalidation: Bool
    }

    /// Does the work of `fetch`. Not generic: code for any type of value costs at each step.
    /// - Parameter decode: called with a whole answer, and not with a 304.
    private func ask(
        _ request: HTTPRequest, _ validators: Validators?, _ resource: String?, _ extraStatuses: Set<Int>,
        decode: (HTTPResponse) throws -> Void
    ) async throws -> Reply {
        let isRevalidation =
            validators?.areDueForRevalidation(after: revalidateAfter, now: clock.wallTime) ?? false
        var sent = request
        if !isRevalidation { validators?.apply(to: &sent.headers) }
        var asking = try Asking(sent, resource: resource, accepted: extraStatuses)
        while true {
            try await waitForTurn(asking)
            asking.begin(at: clock.now)
            ledger.count { $0.requests += 1 }
            let answer: Answer
            do {
                answer = Answer(try await exchange(&asking), to: asking, now: clock.wallTime, ledger: ledger)
            } catch let error as FeedbusError where error.isRetriable && !Task.isCancelled {
                ledger.forgetRedirects(at: asking.redirectedFrom)
                try retryOrThrow(error, &asking)
                continue
            } catch {
                try Task.checkCancellation()
                ledger.forgetRedirects(at: asking.redirectedFrom)
                throw error
            }
            // A remembered redirect may be what leads to trouble (a captive portal): the next request starts afresh.
            if answer.isTrouble && answer.verdict != .limited {
                ledger.forgetRedirects(at: asking.redirectedFrom)
            }
            noteBudget(answer, &asking)
            note(answer, &asking)
            switch answer.verdict {
            case .success:
                do {
                    try decode(answer.response)
                } catch {
                    ledger.forgetRedirects(at: asking.redirectedFrom)
                    try retryOrThrow(asking.unusable(answer, error), &asking)
                    continue
                }
                ledger.succeeded(asking.service, endpoint: asking.endpoint, startedAt: asking.startedAt)
                // A status that is no success says nothing about the list that the validators are of.
                let isWhole = (200..<300).contains(answer.response.status)
                return Reply(
                    response: answer.response,
                    validators: isWhole || validators == nil
                        ? Validators(of: answer.response.headers, now: clock.wallTime) : validators!,
                    minimumWait: answer.minimumWait, isRevalidation: isRevalidation)
            case .notModified:
                ledger.count { $0.notModified += 1 }
                ledger.succeeded(asking.service, endpoint: asking.endpoint, startedAt: asking.startedAt)
                let known = validators ?? Validators(etag: nil, lastModified: nil, lastFull: clock.wallTime)
                return Reply(
                    response: answer.response, validators: known.afterNotModified(answer.response.headers),
                    minimumWait: answer.minimumWait,
                    isRevalidation: isRevalidation)
            case .limited:
                ledger.count { $0.limits += 1 }
            case .transient, .uninvited:
                try retryOrThrow(asking.error(answer), &asking)
            case .refused:
                ledger.succeeded(asking.service, endpoint: asking.endpoint, startedAt: asking.startedAt)
                throw asking.error(answer)
            }
        }
    }

    /// Suspends until nothing holds the request back. A long wait is announced, with its reason and its end: once, though
    /// several requests of the node wait.
    private func waitForTurn(_ asking: Asking) async throws {
        // Looked up once: those that back off together go on together, though the first one may fail again meanwhile.
        let backoff = ledger.backoff(asking.service, endpoint: asking.endpoint, now: clock.now)
        while true {
            let now = clock.now
            let budget = ledger.block(asking.service, endpoint: asking.endpoint, resource: asking.resource, now: now)
            if budget == nil && backoff == nil && asking.notBefore == nil { return }
            let waits = [budget, backoff, asking.notBefore].compactMap(\.self).filter { $0.until > now }
            guard let block = waits.max(by: { $0.until < $1.until }) else { return }
            let left = block.until - now
            if left > .seconds(60), parts.announcements.isNews(asking.service, until: block.until, now: now) {
                log.warning(
                    "waits \(readable(left)) for \(asking.origin): \(block.reason); goes on at \((clock.wallTime + left).rfc3339())"
                )
            }
            try await clock.sleep(until: block.until)
        }
    }

    /// Sends the request, and follows where it is sent to.
    private func exchange(_ asking: inout Asking) async throws -> HTTPResponse {
        var request = asking.request
        var url = asking.url
        var sentAt = asking.startedAt
        for _ in 0...Redirects.most {
            let redirect: (status: Int, location: String)
            if let known = ledger.permanentTarget(of: request, at: url) {
                redirect = known
            } else {
                if request.origin == nil { request.origin = url.origin }
                let response = try await transport.send(request)
                guard Redirects.isRedirect(response.status), let location = response.headers["Location"] else {
                    return response
                }
                // The next one has what is left. How long this one had to wait for its turn does not count.
                request.timeout = max(request.timeout - (response.took ?? clock.now - sentAt), .milliseconds(1))
                sentAt = clock.now
                redirect = (response.status, location)
                ledger.remember(request, at: url, status: response.status, location: location)
                log.debug(
                    "\(request.shown): redirected (\(response.status)) to \(Redaction.location(location, of: request))"
                )
            }
            asking.redirectedFrom.append(url)
            (request, url) = try Redirects.next(
                after: request, at: url, status: redirect.status, location: redirect.location)
        }
        throw FeedbusError(.httpRedirect, "\(asking.request.shown): more than \(Redirects.most) redirects")
    }

    /// Takes over what an answer says about the service's budgets.
    private func noteBudget(_ answer: Answer, _ asking: inout Asking) {
        guard !answer.response.recorded else { return }
        if let named = RateLimits.resource(answer.response.headers) {
            ledger.learn(named, of: asking.endpoint, service: asking.service, insteadOf: asking.resource)
            asking.resource = named
        }
        // Read only where there is one: most services say nothing.
        guard answer.response.headers[RateLimits.field] != nil,
            let limits = RateLimits(answer.response.headers, now: clock.wallTime)
        else { return }
        ledger.note(limits, service: asking.service, resource: asking.resource, at: clock.wallTime)
    }

    /// Takes over what an answer says about waiting.
    private func note(_ answer: Answer, _ asking: inout Asking) {
        // A Retry-After beside a success is for the next poll of this source, not for others.
        guard let wait = answer.wait, answer.isTrouble || wait.reason == .quotaSpent else { return }
        let now = clock.now
        let reason = asking.reason(wait)
        ledger.note(
            wait, service: asking.service, resource: asking.resource, reason: reason,
            startedAt: asking.startedAt, now: now)
        if answer.isTrouble { asking.notBefore = Block(until: now + wait.duration, reason: reason) }
        if wait.isCapped {
            log.warning(
                "\(asking.origin) asks for a wait of \(wait.asked.components.seconds) s; waits the maximum of \(wait.duration.text) instead"
            )
        } else if answer.verdict == .limited && wait.duration <= .seconds(60) {
            log.info("\(asking.request.shown): \(answer.statusLine); waits \(readable(wait.duration)): \(reason)")
        }
    }

    /// Counts an attempt; the pause before the next one is then in `asking`.
    private func retryOrThrow(_ error: FeedbusError, _ asking: inout Asking) throws {
        try Task.checkCancellation()
        let now = clock.now
        let unit = parts.dice.unit()
        var pause = Duration.zero
        ledger.failed(asking.service, endpoint: asking.endpoint, startedAt: asking.startedAt, now: now) { rounds in
            pause = retry.pause(afterAttempt: max(rounds, asking.attempt), unit: unit)
            return pause
        }
        guard asking.attempt < retry.attempts else {
            var last = error
            if asking.attempt > 1 { last.message += " (\(asking.attempt) attempts)" }
            last.isRetriable = true
            throw last
        }
        ledger.count { $0.retries += 1 }
        let until = max(now + pause, asking.notBefore?.until ?? now)
        log.info(
            "\(error.message); attempt \(asking.attempt) of \(retry.attempts), tries again in \(readable(until - now))")
        asking.attempt += 1
        asking.notBefore = Block(until: until, reason: asking.notBefore?.reason ?? "it backs off after a failure")
    }

    /// To a tenth of a second below ten, to a second above.
    private func readable(_ duration: Duration) -> String {
        let seconds = duration.seconds
        if seconds < 10 { return "\((seconds * 10).rounded() / 10) s" }
        let whole = Int(seconds.rounded())
        if whole < 120 { return "\(whole) s" }
        return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s"
    }
}
