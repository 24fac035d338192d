// feedbus: files that are read or written as a whole.

public import FeedbusBase

/// Reads a file of at most `limit` bytes.
public func readWholeFile(_ path: String, limit: Int, on host: any LoopHost) async throws(FileError) -> Bytes {
    fatalError()
}

/// Replaces a file: readers see the old content or the new one, never a part, also after a power cut.
public func writeWholeFileAtomically(_ path: String, _ bytes: Bytes, mode: UInt32 = 0o644, on host: any LoopHost)
    async throws(FileError)
{ fatalError() }
