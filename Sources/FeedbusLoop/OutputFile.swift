// feedbus: a file that is only appended to.

public import FeedbusBase

/// An append-only file. Every call that may block runs on the pool of the loop that it was opened on.
public final class OutputFile: Sendable {
    public static func open(_ path: String, mode: UInt32 = 0o644, on host: any LoopHost) async throws(FileError)
        -> OutputFile
    { fatalError() }
    public static func standardOutput(on host: any LoopHost) -> OutputFile { fatalError() }
    public func lock() async throws(FileError) -> Bool { fatalError() }
    public func write(_ bytes: Bytes) async throws(FileError) -> Int { fatalError() }
    public func synchronize() async throws(FileError) { fatalError() }
    public func truncate(to size: Int) async throws(FileError) { fatalError() }
    public func size() async throws(FileError) -> Int { fatalError() }
    public func read(at offset: Int, count: Int) async throws(FileError) -> Bytes { fatalError() }
    public func close() async throws(FileError) { fatalError() }
    public func isStillAt(_ path: String) async -> Bool { fatalError() }
    public var isTerminal: Bool { fatalError() }
    init() {}
}
