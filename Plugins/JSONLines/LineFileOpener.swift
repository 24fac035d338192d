// feedbus: opens a file of lines: locked against others, and with its end in order.

import FeedbusPlugin

/// Opens the file that a path leads to, for appending lines.
struct LineFileOpener: Sendable {
    let path: String
    /// The permission bits of a file that is made.
    let mode: UInt32
    let context: PluginContext

    /// - Returns: the file, the size of what it holds, and where that begins which was changed for it, if anything was.
    /// - Throws: `FileError`; `FeedbusError` (`file.locked`, `file.foreign`).
    func open() async throws -> (file: OutputFile, size: Int, repaired: Int?) {
        while true {
            let file = try await OutputFile.open(path, mode: mode, on: context.host)
            do {
                guard try await file.lock() else {
                    throw FeedbusError(
                        "file.locked", "\(path) is locked: it is in use by another program that writes to it",
                        isRetriable: true)
                }
                // It may have been renamed before the lock was there; then the lock is on an old file.
                guard await file.isStillAt(path) else {
                    try? await file.close()
                    continue
                }
                guard file.isRegular else { return (file, 0, nil) }
                let repaired = try await repairEnd(of: file)
                return (file, try await file.size(), repaired)
            } catch {
                try? await file.close()
                throw error
            }
        }
    }

    /// A crash in the middle of a write leaves a part of a line at the end. It was not reported as delivered, so its
    /// event comes again; but the next line must not be glued to it.
    private func repairEnd(of file: OutputFile) async throws -> Int? {
        let size = try await file.size()
        let tail = try await lastLine(of: file, size: size)
        switch TornTail(tail) {
        case .none:
            return nil
        case .whole:
            _ = try await file.write("\n")
            context.log.warning(
                "repaired \(path): its last line had no line break, as if torn off (\(tail.count) bytes kept)")
        case .torn:
            try await file.truncate(to: size - tail.count)
            context.log.warning(
                "repaired \(path): removed the torn last line (\(tail.count) bytes that were no whole record)")
        case .foreign:
            throw FeedbusError(
                "file.foreign",
                "\(path) does not end like a JSON-lines file (its last \(tail.count) bytes are no JSON); is it the right file?"
                    + " End it with a line break to append to it all the same")
        }
        return size - tail.count
    }

    /// What stands behind the last line break.
    private func lastLine(of file: OutputFile, size: Int) async throws -> Bytes {
        var pieces: [Bytes] = []
        var start = size
        while start > 0 {
            let from = max(0, start - (1 << 16))
            let piece = try await file.read(at: from, count: start - from)
            let lineStart = LineText(bytes: piece).lineEnd(atOrBefore: piece.count)
            pieces.append(piece[lineStart..<piece.count])
            if lineStart > 0 || piece.isEmpty { break }
            start = from
        }
        guard pieces.count > 1 else { return pieces.first ?? Bytes() }
        var writer = ByteWriter(capacity: size - start)
        for piece in pieces.reversed() { writer.append(piece) }
        return writer.finish()
    }
}
