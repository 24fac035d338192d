// feedbus: the network of a simulated program, with what goes wrong on it.

import FeedbusBase
import FeedbusHTTP

/// Passes requests on, late, or answers as a network or a service in trouble would.
struct FaultyTransport: HTTPTransport {
    let node: String
    let life: SimulatedLife
    let clock: any EventClock
    let inner: any HTTPTransport

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try life.checkAlive()
        let shown = request.shown
        life.note("ask \(node) \(shown)")
        do {
            let response = try await answer(request, shown)
            try life.checkAlive()
            tell(shown, "\(response.status)")
            return response
        } catch {
            try life.checkAlive()
            let error = error
            tell(shown, (error as? FeedbusError)?.code.name ?? describeError(error))
            throw error
        }
    }

    private func answer(_ request: HTTPRequest, _ shown: String) async throws -> HTTPResponse {
        let delay = min(life.pause(upTo: life.faults.requestDelay), request.timeout)
        try await clock.sleep(for: delay)
        if life.chance(life.faults.requestFails) {
            switch life.world.number(in: 0...2) {
            case 0:
                throw FeedbusError(
                    .httpConnect, "\(shown): no connection (a fault of the simulation)", isRetriable: true)
            case 1:
                throw FeedbusError(.httpReset, "\(shown): reset (a fault of the simulation)", isRetriable: true)
            default:
                try await clock.sleep(for: request.timeout - delay)
                throw FeedbusError(.httpTimeout, "\(shown): no answer (a fault of the simulation)", isRetriable: true)
            }
        }
        if life.chance(life.faults.requestRefused) {
            let (status, headers): (Int, HTTPHeaders) =
                switch life.world.number(in: 0...4) {
                case 0: (500, [:])
                case 1: (502, [:])
                case 2: (503, [:])
                case 3: (503, ["Retry-After": "2"])
                default: (429, ["Retry-After": "3"])
                }
            return HTTPResponse(status: status, headers: headers, url: request.url)
        }
        return try await inner.send(request)
    }

    private func tell(_ request: String, _ answer: String) {
        life.note("answer \(node) \(answer) to \(request)")
        life.world.asked(
            SimulationResult.Request(
                node: node, request: request, answer: answer,
                time: .nanoseconds(life.clock.now.nanoseconds), life: life.number))
    }
}
