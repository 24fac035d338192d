// feedbus: who answers the requests of a simulated run.

public import FeedbusBase
public import FeedbusHTTP

/// The network of a simulated run. Each life of the program gets a transport of its own.
public struct SimulatedServices: Sendable {
    let transport: @Sendable () -> any HTTPTransport
    /// Answers are recorded: the program runs as with `--offline`.
    let isRecorded: Bool

    /// Answers come from a HAR 1.2 recording, from its beginning in each life of the program.
    /// - Throws: `FeedbusError` (`http.recording`) for what is no HAR file.
    public static func recording(_ har: Bytes, name: String = "recording.har") throws -> SimulatedServices {
        let recording = try RecordedTransport(har: har, name: name)
        return SimulatedServices(transport: { recording.rewound() }, isRecorded: true)
    }

    /// Answers come from a function, which may throw what a transport may (`FeedbusError.Code.httpReset` …). It sees the
    /// requests of all lives of the program; what it remembers must begin anew with each run.
    public static func scripted(
        _ answer: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse
    ) -> SimulatedServices {
        SimulatedServices(transport: { Script(answer: answer) }, isRecorded: false)
    }

    /// Answers come from a transport of your own, made anew for each life of the program.
    public static func transport(_ make: @escaping @Sendable () -> any HTTPTransport) -> SimulatedServices {
        SimulatedServices(transport: make, isRecorded: false)
    }

    /// Nobody can be reached.
    public static let none = scripted { request in
        throw FeedbusError(.httpConnect, "there is no network in this simulation: \(request.url)", isRetriable: true)
    }
}

private struct Script: HTTPTransport {
    let answer: @Sendable (HTTPRequest) throws -> HTTPResponse

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { try answer(request) }
}
