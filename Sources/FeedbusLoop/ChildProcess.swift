// feedbus: a running program and its three pipes.

public import FeedbusBase

/// A child process.
public final class ChildProcess: Sendable {
    public var pid: Int32 { fatalError() }
    public func readOutput() async throws -> Bytes? { fatalError() }
    public func readErrors() async throws -> Bytes? { fatalError() }
    public func write(_ bytes: Bytes) async throws { fatalError() }
    public func closeInput() { fatalError() }
    public func wait() async -> ChildExit { fatalError() }
    public func kill(_ signal: Int32) { fatalError() }
    init() {}
}
