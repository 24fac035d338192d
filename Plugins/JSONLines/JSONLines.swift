// feedbus: the sink that appends events to a file, a line each.

import FeedbusPlugin

/// Appends events to a file, one JSON text a line.
///
/// What stands in the file is whole lines at any moment that a reader may look: a batch goes in with one write, for which
/// room was made before; what a failing disk has taken of a line is taken back; and a line that a crash has torn is
/// repaired when the file is opened. While the file cannot be written (a full disk) the sink waits: nothing is lost,
/// split or written twice.
public actor JSONLines: Sink {
    public static let name = "JSONLines"
    public static let summary = "appends events to a file, one JSON text a line"

    public nonisolated let context: PluginContext
    let options: JSONLinesOptions
    let path: String
    private let opener: LineFileOpener
    private let oldFiles: OldFiles
    private let keeper: OldFileKeeper?
    var file: OutputFile?
    /// Of the file that is open; nil where it is not rotated.
    var rotation: RotationStateMachine?
    private var outage = OutageStateMachine()
    private var lastLook: Instant?
    /// The beginning of a line that could not be written to its end, and not be taken back so far.
    private var torn: Bytes?

    /// The size of what is known to be on the disk, or was there when the file was opened.
    var syncedEnd = 0
    /// Something was written since the last sync.
    var isDirty = false
    /// The last sync failed: what it was to bring to the disk must be written once more.
    var mustRewrite = false
    var syncing: Task<Void, any Error>?
    /// Sets the file aside when its time is over and nobody writes.
    var ticking: Task<Void, any Error>?
    /// A batch is being written, or the file exchanged.
    var isBusy = false
    private var waiter: CheckedContinuation<Void, Never>?

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
        if ["/dev/", "/proc/"].contains(where: { options.path.hasPrefix($0) }) {
            checking.problem(
                "\"rotate\" is for files that can be renamed, and \(options.path) cannot", at: "rotate",
                code: "out-of-range")
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
        opener = LineFileOpener(path: path, mode: options.mode, context: context)
        let oldFiles = OldFiles(path: path, in: context.host.files)
        self.oldFiles = oldFiles
        keeper = options.rotate.map {
            OldFileKeeper(files: oldFiles, options: $0, isSafe: options.fsync != .none, context: context)
        }
    }

    // MARK: - Opening

    /// Waits where the machine is short of something (a full disk).
    /// - Throws: `FeedbusError` (`file.open`, `file.locked`, `file.foreign`) for what somebody has to put right.
    public func open() async throws {
        await takeTurn()
        defer { passTurn() }
        while file == nil {
            do { try await openFile() } catch let error as FileError {
                guard error.isShortage else {
                    throw FeedbusError("file.open", error.textWithName, isRetriable: !error.isMistake, cause: error)
                }
                try await waitOut(error)
            }
        }
        sayRecovered()
        await keeper?.look()
    }

    private func openFile() async throws {
        let (file, size, repaired) = try await opener.open()
        self.file = file
        syncedEnd = repaired ?? size
        isDirty = repaired != nil
        mustRewrite = false
        lastLook = context.clock.now
        guard let rotate = options.rotate else { return }
        guard file.isRegular else { return context.log.warning("\(path) is no regular file: it is not rotated") }
        let oldFiles = oldFiles
        let lastWrite = size > 0 ? try await context.host.offload { oldFiles.lastWrite() } : nil
        rotation = RotationStateMachine(options: rotate)
        rotation?.opened(size: size, lastWrite: lastWrite ?? context.clock.wallTime)
        startTicking()
    }

    // MARK: - Writing

    /// How far a batch has come, as offsets into its text.
    struct Progress {
        /// What is in a file.
        var done = 0
        /// Where that begins for which a sync is still to come; all of it is in the file that is open.
        var secured = 0
    }

    public func write(_ events: Chunk<Event>) async throws {
        await takeTurn()
        defer { passTurn() }
        var progress = Progress()
        if options.format == .data && options.rotate == nil {
            let runs = LineText.runs(events)
            progress.done = try await writeAtOnce(runs)
            if progress.done == runs.count {
                try await secure(LineText(events, format: .data), &progress)
                if progress.done == runs.count { return startSyncing() }
            }
        }
        let text = LineText(events, format: options.format)
        // Where only a part was taken, all is from here on as after a failure.
        if progress.done > 0, file?.isRegular != false { progress.done = noteTorn(text, progress.done) }
        repeat {
            while progress.done < text.bytes.count {
                do {
                    try await append(text, &progress)
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    try await waitOut(error)
                }
            }
            try await secure(text, &progress)
        } while progress.done < text.bytes.count
        startSyncing()
        startTicking()
    }

    /// Writes lines from where they stand.
    /// - Returns: how many bytes were taken; 0 where the file could not be written, after the first pause.
    private func writeAtOnce(_ runs: ByteRuns) async throws -> Int {
        do {
            if await !isAtPath() { try await leaveFile() }
            let count = try await currentFile().write(runs)
            isDirty = true
            if options.fsync != .batch { sayRecovered() }
            return count
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            try await waitOut(error)
            return 0
        }
    }

    /// Writes from `progress.done` on. When it throws, that stands at the beginning of a line, and what the file has of
    /// the line is taken back, or will be (`torn`).
    private func append(_ text: LineText, _ progress: inout Progress) async throws {
        while progress.done < text.bytes.count {
            if await !isAtPath() {
                // What the batch has put there is not to be forgotten with the file.
                try await secure(text, &progress)
                try await leaveFile()
            }
            let file = try await currentFile()
            var end = text.bytes.count
            switch rotation?.next(text, from: progress.done, now: context.clock.wallTime) {
            case .rotate:
                try await secure(text, &progress)
                try await rotate()
                continue
            case .write(let limit): end = limit
            case nil: break
            }
            do throws(FileError) {
                while progress.done < end {
                    do throws(FileError) {
                        let count = try await file.write(text.bytes[progress.done..<end])
                        isDirty = true
                        progress.done += count
                        rotation?.wrote(count, now: context.clock.wallTime)
                    } catch {
                        // As many lines as there is room for.
                        let half = text.lineEnd(atOrBefore: progress.done + (end - progress.done) / 2)
                        guard error.isFull, half > progress.done else { throw error }
                        end = half
                    }
                }
            } catch {
                progress.done = noteTorn(text, progress.done)
                try? await takeBack()
                throw error
            }
            if options.fsync != .batch { sayRecovered() }
        }
    }

    /// - Returns: the beginning of the line in which `done` stands. What a pipe has got of it cannot be taken back: its next
    ///   reader gets the line anew.
    private func noteTorn(_ text: LineText, _ done: Int) -> Int {
        let lineStart = text.lineEnd(atOrBefore: done)
        if lineStart < done, file?.isRegular == true { torn = text.bytes[lineStart..<done] }
        return lineStart
    }

    /// Removes the beginning of a line that could not be written to its end.
    func takeBack() async throws(FileError) {
        guard let part = torn, let file else { return }
        let size = try await file.size()
        let start = size - part.count
        guard start >= 0, try await file.read(at: start, count: part.count) == part else {
            // Somebody else has written behind it. The end is put in order when the file is opened again.
            torn = nil
            await closeFile()
            return
        }
        try await file.truncate(to: start)
        torn = nil
        // It may have been synced.
        syncedEnd = min(syncedEnd, start)
        rotation?.wrote(-part.count, now: context.clock.wallTime)
    }

    // MARK: - Trouble

    /// Says once that the file cannot be written, and waits a little longer each time.
    func waitOut(_ error: any Error) async throws {
        try await context.clock.sleep(for: say(error))
        // The file may have been renamed or deleted to make room.
        lastLook = nil
    }

    /// - Returns: how long to wait.
    func say(_ error: any Error) -> Duration {
        let reason = (error as? FileError)?.textWithName ?? describeError(error)
        let (pause, isNews) = outage.failed(at: context.clock.now, because: reason)
        if isNews {
            context.log.error("\(reason); waiting until it can be written, nothing is lost")
        } else {
            context.log.debug("\(reason); trying again in \(pause.text)")
        }
        return pause
    }

    func sayRecovered() {
        guard let duration = outage.succeeded(at: context.clock.now) else { return }
        context.log.warning("recovered: writing to \(path) goes on after \(duration.text); nothing was lost")
    }

    // MARK: - The file

    /// The file, its last line whole.
    private func currentFile() async throws -> OutputFile {
        try await takeBack()
        while true {
            if let file { return file }
            try await openFile()
        }
    }

    /// Whether the path names the file that is open; true where none is.
    private func isAtPath() async -> Bool {
        guard let file else { return true }
        let now = context.clock.now
        if let lastLook, now - lastLook < JSONLines.lookInterval { return true }
        guard await file.isStillAt(path) else { return false }
        lastLook = now
        return true
    }

    /// Before a file at the path is opened that is another one.
    private func leaveFile() async throws(FileError) {
        try await putInOrder()
        context.log.info("\(path) was renamed or deleted: going on in a new file")
        await closeFile()
    }

    func rotate() async throws {
        try await putInOrder()
        let oldFiles = oldFiles
        let now = context.clock.wallTime
        let target = try await context.host.offload { try oldFiles.setAside(at: now) }
        context.log.info("set aside as \(target)")
        await closeFile()
        try await openFile()
        if await file?.isStillAt(target) == true {
            context.log.warning("\(path) still leads to the file that was set aside: it is not rotated any more")
            rotation = nil
        }
        await keeper?.look()
    }

    /// Closes the file, whatever is with it: see first that its last line is whole and on the disk.
    private func closeFile() async {
        guard let file else { return }
        self.file = nil
        torn = nil
        rotation = nil
        await endSyncing()
        do throws(FileError) { try await file.close() } catch { context.log.error("\(error.textWithName)") }
    }

    /// SIGHUP. Where the file's end cannot be put in order now, or the path is in trouble, the next write sees to it.
    public func reopen() async throws {
        await takeTurn()
        defer { passTurn() }
        lastLook = nil
        do {
            try await putInOrder()
            await closeFile()
            try await openFile()
        } catch let error as FileError {
            _ = say(error)
        }
        await keeper?.look()
    }

    /// - Throws: `FeedbusError` (`file.end`) where the end of the file could not be put in order, or not be synced as it
    ///   was to be. It is closed all the same.
    public func close() async throws {
        ticking?.cancel()
        await takeTurn()
        defer { passTurn() }
        await endSyncing()
        do throws(FileError) { try await putInOrder() } catch {
            // One call may fail for once.
            do throws(FileError) { try await putInOrder() } catch {
                let lacks = torn == nil ? "the last lines may not survive a power cut" : "it ends in a part of a line"
                await closeFile()
                throw FeedbusError("file.end", "\(error.textWithName): \(lacks)", cause: error)
            }
        }
        await closeFile()
    }

    private func putInOrder() async throws(FileError) {
        try await takeBack()
        if let file { try await bringToDisk(file) }
    }

    /// Returns when the old files are compressed, and the oldest are deleted.
    func settleOldFiles() async {
        await keeper?.settled()
    }

    // MARK: - Turns

    /// Writes, reopenings and the end come one after the other by themselves; the one who looks at the time does not.
    private func takeTurn() async {
        if isBusy { await withCheckedContinuation { waiter = $0 } }
        isBusy = true
    }

    func passTurn() {
        isBusy = false
        waiter?.resume()
        waiter = nil
    }
}
