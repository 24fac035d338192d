// feedbus: the sink that appends events to a file, a line each.

import FeedbusPlugin

/// Appends events to a file, one JSON text a line.
///
/// What stands in the file is whole lines at any moment that a reader may look: a batch goes in with one write, a batch
/// that the disk had room for only in part is taken back to its last whole line, and a line that a crash has torn is
/// repaired when the file is opened. While the file cannot be written (a full disk) the sink waits: nothing is lost,
/// split or written twice.
public actor JSONLines: Sink {
    public static let name = "JSONLines"
    public static let summary = "appends events to a file, one JSON text a line"

    public nonisolated let context: PluginContext
    private let options: JSONLinesOptions
    private let path: String
    private let oldFiles: OldFiles
    private let keeper: OldFileKeeper?
    private var file: OutputFile?
    private var rotation: RotationStateMachine?
    private var outage = OutageStateMachine()
    private var lastLook: Instant?
    private var syncing: Task<Void, any Error>?

    /// How often it is looked whether the path still names the file. Between two looks lines go into a file that was
    /// renamed, where nothing is lost; only a file that was deleted takes them with it.
    private static let lookInterval = Duration.milliseconds(50)

    public static func check(_ options: JSONLinesOptions, _ checking: OptionCheck) {
        checking.claim(file: options.path, at: "path")
        if options.path.hasSuffix("/") {
            checking.problem(
                "\"path\" must name a file, found the folder \"\(options.path)\"", at: "path", code: "out-of-range")
        }
        guard let rotate = options.rotate else { return }
        if rotate.size == nil && rotate.every == nil {
            checking.problem("\"rotate\" needs a \"size\" or a time (\"every\")", at: "rotate", code: "missing-option")
        }
        if rotate.gzip && checking.findProgram("gzip") == nil {
            checking.problem(
                "the program gzip is needed to compress old files, and is not there", at: "rotate", code: "no-program")
        }
    }

    public init(options: JSONLinesOptions, context: PluginContext) {
        self.context = context
        self.options = options
        path = context.resolve(options.path)
        oldFiles = OldFiles(path: path)
        rotation = options.rotate.map { RotationStateMachine(options: $0) }
        keeper = options.rotate.map {
            OldFileKeeper(files: OldFiles(path: context.resolve(options.path)), options: $0, context: context)
        }
    }

    // MARK: - Opening

    public func open() async throws {
        guard file == nil else { return }
        do {
            file = try await openedFile()
        } catch let error as FileError {
            throw FeedbusError("file.open", error.textWithName, isRetriable: true, cause: error)
        }
        await keeper?.look()
    }

    /// The file at the path, locked, with its end in order.
    private func openedFile() async throws -> OutputFile {
        while true {
            let file = try await OutputFile.open(path, mode: options.mode, on: context.host)
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
                try await repairEnd(of: file)
                try await noteSize(of: file)
            } catch {
                try? await file.close()
                throw error
            }
            lastLook = context.clock.now
            return file
        }
    }

    private func noteSize(of file: OutputFile) async throws {
        guard rotation != nil else { return }
        let size = try await file.size()
        let oldFiles = oldFiles
        let lastWrite = try await context.host.offload { oldFiles.lastWrite() }
        rotation?.opened(size: size, lastWrite: lastWrite ?? context.clock.wallTime)
    }

    /// A crash in the middle of a write leaves a part of a line at the end. It was not reported as delivered, so its
    /// event comes again; but the next line must not be glued to it.
    private func repairEnd(of file: OutputFile) async throws {
        let size = try await file.size()
        let tail = try await lastLine(of: file, size: size)
        switch TornTail(tail) {
        case .none:
            return
        case .whole:
            var count = 0
            while count == 0 { count = try await file.write("\n") }
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

    // MARK: - Writing

    public func write(_ events: Chunk<Event>) async throws {
        // The bytes of the text that are in the file.
        var done = 0
        if options.format == .data && rotation == nil {
            let runs = LineText.runs(events)
            done = try await writeAtOnce(runs)
            if done == runs.count { return try await afterWrite() }
        }
        let text = LineText(events, format: options.format)
        if done > 0, let file {
            // Only a part was taken: from here on all is as after a failure.
            let lineStart = text.lineEnd(atOrBefore: done)
            await takeBack(text.bytes[lineStart..<done], from: file)
            done = lineStart
        }
        while done < text.bytes.count {
            do {
                try await append(text, &done)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                try await waitOut(error)
            }
        }
        try await afterWrite()
    }

    /// Writes lines from where they stand.
    /// - Returns: how many bytes were taken; 0 where the file could not be written, after the first pause.
    private func writeAtOnce(_ runs: ByteRuns) async throws -> Int {
        do {
            let count = try await currentFile().write(runs)
            sayRecovered()
            return count
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            try await waitOut(error)
            return 0
        }
    }

    private func sayRecovered() {
        guard let duration = outage.succeeded(at: context.clock.now) else { return }
        context.log.warning("recovered: writing to \(path) goes on after \(duration.text); nothing was lost")
    }

    /// Writes from `done` on. When it throws, `done` stands at the beginning of a line: what the file had of a part of a
    /// line is taken back.
    private func append(_ text: LineText, _ done: inout Int) async throws {
        while done < text.bytes.count {
            let file = try await currentFile()
            var end = text.bytes.count
            switch rotation?.next(text, from: done, now: context.clock.wallTime) {
            case .rotate:
                try await rotate()
                continue
            case .write(let limit): end = limit
            case nil: break
            }
            do {
                while done < end {
                    let count = try await file.write(text.bytes[done..<end])
                    done += count
                    rotation?.wrote(count, now: context.clock.wallTime)
                }
            } catch {
                let lineStart = text.lineEnd(atOrBefore: done)
                await takeBack(text.bytes[lineStart..<done], from: file)
                done = lineStart
                throw error
            }
            sayRecovered()
        }
    }

    /// Removes the beginning of a line that could not be written to its end. Where that fails too, the file is closed:
    /// it is repaired when it is opened again.
    private func takeBack(_ part: Bytes, from file: OutputFile) async {
        guard !part.isEmpty else { return }
        do {
            let size = try await file.size()
            let start = size - part.count
            // Not what somebody else has written behind it.
            guard start >= 0, try await file.read(at: start, count: part.count) == part else {
                return await closeFile()
            }
            try await file.truncate(to: start)
            rotation?.wrote(-part.count, now: context.clock.wallTime)
        } catch {
            await closeFile()
        }
    }

    /// Says once that the file cannot be written, and waits a little longer each time.
    private func waitOut(_ error: any Error) async throws {
        let (pause, isFirst) = outage.failed(at: context.clock.now)
        let reason = (error as? FileError)?.textWithName ?? describeError(error)
        if isFirst {
            context.log.error("\(reason); waiting until it can be written, nothing is lost")
        } else {
            context.log.debug("\(reason); trying again in \(pause.text)")
        }
        try await context.clock.sleep(for: pause)
        // The file may have been renamed or deleted to make room.
        lastLook = nil
    }

    /// The file that the path names.
    private func currentFile() async throws -> OutputFile {
        if let file {
            let now = context.clock.now
            if let lastLook, now - lastLook < JSONLines.lookInterval { return file }
            if await file.isStillAt(path) {
                lastLook = now
                return file
            }
            context.log.info("\(path) was renamed or deleted: going on in a new file")
            await closeFile()
        }
        let opened = try await openedFile()
        file = opened
        return opened
    }

    private func rotate() async throws {
        let oldFiles = oldFiles
        let now = context.clock.wallTime
        let target = try await context.host.offload { try oldFiles.setAside(at: now) }
        context.log.info("set aside as \(target)")
        await closeFile()
        file = try await openedFile()
        await keeper?.look()
    }

    // MARK: - To the disk

    private func afterWrite() async throws {
        switch options.fsync {
        case .none: break
        case .batch:
            // A failed fsync may have dropped what it was to save: the batch is written anew, as it may not be there.
            do { try await file?.synchronize() } catch {
                throw FeedbusError("file.sync", error.textWithName, isRetriable: true, cause: error)
            }
        case .after(let duration):
            guard syncing == nil, let file else { break }
            syncing = context.task { [context, path] in
                try await context.clock.sleep(for: duration)
                do throws(FileError) {
                    try await file.synchronize()
                } catch {
                    context.log.error("\(error.textWithName): lines written to \(path) may not survive a power cut")
                }
                await self.synced()
            }
        }
    }

    private func synced() { syncing = nil }

    private func closeFile() async {
        guard let file else { return }
        self.file = nil
        if let syncing {
            // Its descriptor must not go while it works.
            syncing.cancel()
            _ = await syncing.result
            self.syncing = nil
        }
        do {
            if options.fsync != .none { try await file.synchronize() }
            try await file.close()
        } catch {
            context.log.error("\(error.textWithName)")
        }
    }

    public func reopen() async throws {
        await closeFile()
        try await open()
    }

    public func close() async {
        await closeFile()
    }

    /// Returns when the old files are compressed, and the oldest are deleted.
    func settleOldFiles() async {
        await keeper?.settled()
    }
}
