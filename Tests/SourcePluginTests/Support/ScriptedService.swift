// feedbus: a service in memory that answers as it is told and remembers what it was asked.

import FeedbusPlugin
import FeedbusTestKit
import Synchronization

/// Answers by address. An address may have several answers; they come in turn and the last one stays.
final class ScriptedService: HTTPTransport {
    typealias Answer = @Sendable (HTTPRequest, _ turn: Int) throws -> HTTPResponse

    private struct State {
        var answers: [String: [Answer]] = [:]
        var turns: [String: Int] = [:]
        var requests: [HTTPRequest] = []
        var openNow = 0
        var openMost = 0
    }

    private let state = Mutex(State())
    private let clock: VirtualClock
    /// How long every answer takes.
    private let latency: Duration

    init(_ clock: VirtualClock, latency: Duration = .zero) {
        self.clock = clock
        self.latency = latency
    }

    /// Answers an address with these, in turn.
    func on(_ url: String, _ answers: Answer...) {
        state.withLock { $0.answers[url] = answers }
    }

    func on(_ url: String, _ bodies: String..., headers: HTTPHeaders = [:]) {
        let answers = bodies.map { body -> Answer in { request, _ in reply(body, headers: headers, to: request) } }
        state.withLock { $0.answers[url] = answers }
    }

    var requests: [HTTPRequest] { state.withLock(\.requests) }
    var urls: [String] { requests.map(\.url) }
    /// The most requests that were under way at one time.
    var openMost: Int { state.withLock(\.openMost) }

    func forget() { state.withLock { $0.requests = [] } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = state.withLock { state -> (answer: Answer, turn: Int)? in
            state.requests.append(request)
            state.openNow += 1
            state.openMost = max(state.openMost, state.openNow)
            guard let answers = state.answers[request.url] else { return nil }
            let turn = state.turns[request.url, default: 0]
            state.turns[request.url] = turn + 1
            return (answers[min(turn, answers.count - 1)], turn)
        }
        defer { state.withLock { $0.openNow -= 1 } }
        try await clock.sleep(for: latency)
        guard let answer else { return reply("{\"message\":\"Not Found\"}", status: 404, to: request) }
        return try answer.answer(request, answer.turn)
    }
}

/// An answer of JSON text.
func reply(_ body: String, status: Int = 200, headers: HTTPHeaders = [:], to request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: Bytes(body), url: request.url)
}

/// An answer of JSON text with an ETag made of it: 304 where the request has that ETag.
func tagged(_ body: String, headers: HTTPHeaders = [:]) -> ScriptedService.Answer {
    { request, _ in
        var headers = headers
        headers["ETag"] = "W/\"\(body.utf8.reduce(into: UInt32(17)) { $0 = $0 &* 31 &+ UInt32($1) })\""
        if let sent = request.headers["If-None-Match"], sent == headers["ETag"] {
            return reply("", status: 304, headers: headers, to: request)
        }
        return reply(body, headers: headers, to: request)
    }
}

/// An answer with nothing but a status.
func failing(_ status: Int, _ message: String = "out of order") -> ScriptedService.Answer {
    { request, _ in reply("{\"message\":\"\(message)\"}", status: status, to: request) }
}
