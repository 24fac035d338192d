// feedbus: hours of polling of a service that does whatever services do, in any order.

import FeedbusBase
import FeedbusLoop
import FeedbusTestKit
import Synchronization
import Testing

@testable import FeedbusHTTP

/// A service whose answers are drawn from a seed. It looks at every request with the eyes of its operator: none before the
/// time that the last answer asked for, and none without the validators that it gave.
private final class HostileService: HTTPTransport {
    private struct State {
        var random: SplitMix64
        var wrongs: [String] = []
        var kinds: [String: Int] = [:]
        var requests: [Instant] = []
        var open = 0
        /// Nobody may come earlier, and why.
        var notBefore = Instant(nanoseconds: 0)
        var reason = ""
        /// What the next request has to carry.
        var etag: String?
        var modified: String?
        var notModified = 0
        var lastFull = Instant(nanoseconds: .min)
        var unhinted = 0
    }

    private let clock: VirtualClock
    /// The service's clock against ours.
    private let skew: Duration
    private let state: Mutex<State>

    init(_ clock: VirtualClock, seed: UInt64, skew: Duration) {
        self.clock = clock
        self.skew = skew
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    var wrongs: [String] { state.withLock(\.wrongs) }
    var kinds: [String: Int] { state.withLock(\.kinds) }
    var count: Int { state.withLock(\.requests.count) }

    private enum Reply {
        case answer(HTTPResponse)
        case failure(FeedbusError.Code, after: Duration)
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (reply, takes) = state.withLock { state in
            state.requests.append(clock.now)
            look(at: request, &state)
            state.open += 1
            if state.open > 1 { state.wrongs.append("two requests at a time") }
            return (draw(request, &state), Duration.milliseconds(Int64.random(in: 0...900, using: &state.random)))
        }
        defer { state.withLock { $0.open -= 1 } }
        switch reply {
        case .failure(let code, let after):
            try await clock.sleep(for: after)
            throw FeedbusError(code, "GET \(request.url): \(code)", isRetriable: true)
        case .answer(let response):
            try await clock.sleep(for: takes)
            // What it asked for counts from the answer.
            state.withLock { if $0.notBefore > clock.now + (.zero - takes) { $0.notBefore = $0.notBefore + takes } }
            return response
        }
    }

    private func look(at request: HTTPRequest, _ state: inout State) {
        let now = clock.now
        if now < state.notBefore {
            state.wrongs.append("came \((state.notBefore - now).seconds) s too early: \(state.reason)")
        }
        let sent = (request.headers["If-None-Match"], request.headers["If-Modified-Since"])
        let wanted = (state.etag, state.etag == nil ? state.modified : nil)
        let mayBeBare = state.notModified >= 30 || now - state.lastFull >= .seconds(3_599)
        if sent != wanted && !(sent == (nil, nil) && mayBeBare) {
            state.wrongs.append("validators \(sent), wanted \(wanted), after \(state.notModified) of 304")
        }
    }

    private func draw(_ request: HTTPRequest, _ state: inout State) -> Reply {
        let isConditional = request.headers["If-None-Match"] != nil || request.headers["If-Modified-Since"] != nil
        let kind = Int.random(in: 0..<24, using: &state.random)
        var headers: HTTPHeaders = ["Date": httpDate(clock.wallTime + skew)]
        let seconds = Int64([1, 7, 61, 500, 3_700].randomElement(using: &state.random)!)
        func reply(_ status: Int, _ name: String, _ body: String = "[]") -> Reply {
            state.kinds[name, default: 0] += 1
            return .answer(HTTPResponse(status: status, headers: headers, body: Bytes(body), url: request.url))
        }
        func wait(_ asked: Int64, _ reason: String) {
            let until = clock.now + .seconds(min(asked, 3_600))
            if until > state.notBefore { (state.notBefore, state.reason) = (until, reason) }
        }
        func poll() {
            guard Bool.random(using: &state.random) else { return }
            headers.append("X-Poll-Interval", "\(seconds)")
            wait(seconds, "X-Poll-Interval: \(seconds)")
        }
        switch kind {
        case 0..<9 where isConditional:
            state.notModified += 1
            if Int.random(in: 0..<4, using: &state.random) == 0 {
                // The same one in its other form, or another one.
                let next = state.etag.map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 } ?? "\"late\""
                if state.etag == nil { state.etag = next }
                headers.append("etag", next)
            }
            poll()
            state.unhinted = 0
            return reply(304, "304", "")
        case 0..<12:
            state.notModified = 0
            state.lastFull = clock.now
            state.etag = nil
            state.modified = nil
            switch Int.random(in: 0..<4, using: &state.random) {
            case 0: break
            case 1:
                state.modified = httpDate(clock.wallTime + skew)
                headers.append("Last-Modified", state.modified!)
            default:
                let strength = Bool.random(using: &state.random) ? "W/" : ""
                state.etag = "\(strength)\"\(Int.random(in: 0..<1_000, using: &state.random))\""
                state.modified = "Sun, 01 Mar 2026 00:00:00 GMT"
                headers.append("ETag", state.etag!)
                headers.append("Last-Modified", state.modified!)
            }
            poll()
            state.unhinted = 0
            return reply(200, "200")
        case 12:
            headers.append("ETag", "\"of a page that is no list\"")
            state.unhinted = 0
            return reply(200, "200 garbage", "<html>")
        case 13, 14:
            let status = [429, 403, 503].randomElement(using: &state.random)!
            let isDate = Bool.random(using: &state.random)
            headers.append("Retry-After", isDate ? httpDate(clock.wallTime + skew + .seconds(seconds)) : "\(seconds)")
            wait(seconds, "Retry-After of a \(status)")
            return reply(status, "Retry-After", "{\"message\":\"slow down\"}")
        case 15:
            headers.append("X-RateLimit-Remaining", "0")
            headers.append("X-RateLimit-Reset", "\((clock.wallTime + skew).seconds + seconds)")
            wait(seconds, "the quota is spent")
            return reply(403, "403 spent", "{\"message\":\"API rate limit exceeded\"}")
        case 16:
            wait(60 << Int64(min(state.unhinted, 5)), "a limit without a hint, \(state.unhinted) before it")
            state.unhinted += 1
            return reply(429, "429 bare", "")
        case 17:
            state.unhinted = 0
            wait(300, "the slow interval after a no")
            return reply([401, 404, 410, 422].randomElement(using: &state.random)!, "no")
        case 18: return reply([500, 502, 503, 504].randomElement(using: &state.random)!, "5xx", "oops")
        case 19:
            state.kinds["hang", default: 0] += 1
            return .failure(.httpTimeout, after: request.timeout)
        case 20:
            state.kinds["reset", default: 0] += 1
            return .failure(.httpReset, after: .milliseconds(300))
        case 21 where !isConditional: return reply(304, "304 uninvited", "")
        case 22:
            // Zero, garbage and the past say nothing: the node's own pauses follow.
            let word = ["0", "soon", "-5", httpDate(clock.wallTime + skew + .seconds(-90))].randomElement(
                using: &state.random)!
            headers.append("Retry-After", word)
            return reply(503, "Retry-After without sense")
        default:
            state.kinds["dns", default: 0] += 1
            return .failure(.httpDNS, after: .milliseconds(10))
        }
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
private func httpDate(_ time: WallTime) -> String {
    let text = time.rfc3339()  // 1994-11-06T08:49:37Z
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split { !$0.isNumber }
    return "Sun, \(parts[2]) \(months[Int(parts[1])! - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
}

@Suite struct HostileHoursTests {
    /// Eight hours each, by clocks that are right, minutes, hours and years wrong.
    @Test(arguments: 0..<24 as Range<UInt64>) func noOperatorWouldMind(_ seed: UInt64) throws {
        let skews: [Duration] = [
            .zero, .seconds(-7), .seconds(400), .seconds(-7_200), .seconds(86_400 * 400), .seconds(-86_400 * 4_000),
        ]
        try Simulation.run { simulation in
            let service = HostileService(simulation.clock, seed: seed, skew: skews[Int(seed) % skews.count])
            let lines = LogLines()
            let client = PoliteClient(
                transport: service, ledger: ServiceLedger(), retry: RetryPolicy(attempts: 3), clock: simulation.clock,
                log: lines.log(), seed: seed)
            let every = Duration.seconds(Int64([20, 60, 300][Int(seed) % 3]))
            let starts = Mutex<[Instant]>([])
            let polling = SimulatedHost(simulation.loop).task {
                let validators = Mutex<Validators?>(nil)
                let poller = Poller(
                    every: every, once: false, immediate: false, clock: simulation.clock, log: lines.log(), seed: seed)
                try await poller.run {
                    starts.withLock { $0.append(simulation.clock.now) }
                    let known = validators.withLock { $0 }
                    let got = try await client.fetch(HTTPRequest(feed), validators: known) { response in
                        guard response.body == "[]" else { throw FeedbusError(.httpDecode, "no list") }
                        return response.body.count
                    }
                    validators.withLock { $0 = got.validators }
                    return PollResult(minimumWait: got.minimumWait)
                }
            }
            try await simulation.clock.sleep(for: .seconds(8 * 3_600))
            polling.cancel()
            _ = await polling.result
            #expect(service.wrongs.isEmpty, "\(service.wrongs.prefix(5)) of \(service.wrongs.count)")
            let times = starts.withLock { $0 }
            for (one, next) in zip(times, times.dropFirst()) { #expect(next - one >= every) }
            #expect(service.kinds.count >= 6)
            // It goes on to the end, and every try is counted.
            #expect(simulation.clock.now - times.last! < .seconds(2 * 3_600 + 400) && service.count > 20)
            #expect(
                service.count <= times.count * 3 + (service.kinds["Retry-After"] ?? 0)
                    + (service.kinds["403 spent"] ?? 0) + (service.kinds["429 bare"] ?? 0))
        }
    }
}
