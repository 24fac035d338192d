// feedbus: a real service for tests, in a process of its own.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop
import Testing

/// `Tests/Support/http-service.py`, started once for all tests; it ends with this process.
final class LocalService: Sendable {
    let port: Int
    /// Keeps the pipes open that keep the service alive.
    private let process: ChildProcess
    private let thread: LoopThread

    var url: String { "http://127.0.0.1:\(port)" }
    /// The same service under another host name.
    var otherURL: String { "http://localhost:\(port)" }

    private init(port: Int, process: ChildProcess, thread: LoopThread) {
        self.port = port
        self.process = process
        self.thread = thread
    }

    static let shared = Task { try await start() }

    /// One that nobody else asks.
    private static func start() async throws -> LocalService {
        let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Support"
        let loop = try EventLoop.make(name: "service")
        let thread = try LoopThread(running: loop)
        return try await loop.task {
            let process = try await loop.spawn(
                ChildCommand(["python3", "\(folder)/http-service.py"], stderr: false))
            var line = ""
            while !line.contains("\n") {
                guard let piece = try await process.readOutput() else { break }
                line += piece.string
            }
            let port = try #require(Int(line.dropLast()))
            return LocalService(port: port, process: process, thread: thread)
        }.value
    }

    /// Runs `body` on a loop of its own, with a transport there. At its end everything must close.
    /// - Parameter isOwn: on a service that nobody else asks.
    static func withTransport(
        isOwn: Bool = false,
        _ body: @escaping @Sendable (CurlTransport, LocalService, EventLoop) async throws -> Void
    ) async throws {
        let service = try await isOwn ? start() : shared.value
        let loop = try EventLoop.make(name: "test")
        let thread = try LoopThread(running: loop)
        let result = await loop.task {
            let transport = CurlTransport(loop: loop, userAgent: "feedbus/test")
            defer { transport.close() }
            try await body(transport, service, loop)
        }.result
        loop.stop()
        await thread.join()
        try result.get()
    }
}
