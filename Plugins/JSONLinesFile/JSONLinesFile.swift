// feedbus: the lines of a file or of standard input, as a source.

import FeedbusLoop
import FeedbusPlugin
import Glibc
import Lines

/// Reads JSON lines, an event a line.
///
/// A line that is a CloudEvents object is that event; any other JSON value is the `data` of one, byte for byte. A line that
/// is neither is refused: counted and named in the log, and its neighbours are not touched. Of a file the place behind
/// what was delivered is remembered, so that the next start goes on there.
public actor JSONLinesFile: Source {
    public static let name = "JSONLinesFile"
    public static let summary = "reads JSON lines from a file, a named pipe or standard input"

    public nonisolated let context: PluginContext
    private let options: JSONLinesFileOptions
    private let path: String
    private let isStandardInput: Bool
    private var refused: RefusedLines
    /// Since the cursor was last given along.
    private var lastCursor: Instant?
    private var unsaved: LineCursor?
    private var hasSaidHeld = false
    private var chunks = 0
    private var events = 0
    private var mostTogether = 0

    /// How often the place is remembered while lines stream by. What a crash loses of it is read, and emitted, again.
    private static let cursorInterval = Duration.milliseconds(100)

    public static func check(_ options: JSONLinesFileOptions, _ checking: OptionCheck) {
        if options.path.hasSuffix("/") {
            checking.problem(
                "\"path\" must name a file, found the folder \"\(options.path)\"", at: "path", code: "out-of-range")
        }
    }

    /// The line itself, for lines that are no CloudEvents objects.
    public static func headline(of event: Event) -> String? {
        guard event.origin.type == "dev.feedbus.line" else { return nil }
        return event.data.count > 200 ? "\(event.data[0..<200].string)…" : event.data.string
    }

    public init(options: JSONLinesFileOptions, context: PluginContext) {
        self.context = context
        self.options = options
        isStandardInput = options.path == JSONLinesFileOptions.standardInput
        path = isStandardInput ? "standard input" : context.resolve(options.path)
        refused = RefusedLines(context, file: path)
    }

    public func run(_ output: Output) async throws {
        do {
            try await read(output)
        } catch let error as FileError {
            try await saveCursor(output)
            throw FeedbusError("file.read", error.description, isRetriable: true, cause: error)
        } catch {
            // What was emitted before the stop is not to be read again.
            try? await saveCursor(output)
            throw error
        }
        try await saveCursor(output)
        refused.finish()
        context.log.debug(
            "read \(path) to its end: \(events) events in \(chunks) chunks, at most \(mostTogether) together")
    }

    // MARK: - Files

    /// A file that is being read.
    private struct Reading {
        let reader: LineBlockReader
        let generation: Int
        /// The path leads to another file by now: this one has been renamed.
        var isRenamed = false
        var input: InputFile { reader.input }
    }

    private func read(_ output: Output) async throws {
        let follows = options.follow && !context.mode.once && !isStandardInput
        var reading = try await begin(follows: follows)
        while true {
            try await pump(reading, output)
            if reading.isRenamed && !follows {
                try await finish(reading, output)
                reading = makeReading(
                    try await open(endless: false), at: LinePlace(), generation: reading.generation + 1)
                continue
            }
            guard follows, reading.input.kind == .regular else { return try await finish(reading, output) }
            switch try await waitForMore(reading, output) {
            case .startOver:
                let lost = reading.reader.unfinished
                context.log.info(
                    "\(path) was cut off: reading it from its beginning"
                        + (lost > 0 ? " (\(lost) bytes of a line without an end are gone)" : ""))
                reading = makeReading(reading.input, at: LinePlace(), generation: reading.generation + 1)
                let input = reading.input
                try await context.host.offload { try input.seek(to: 0) }
            case .goOn:
                try await finish(reading, output)
                context.log.info("\(path) is a new file: going on in it")
                reading = makeReading(
                    try await open(endless: true), at: LinePlace(), generation: reading.generation + 1)
            case .wait: break
            }
        }
    }

    private func open(endless: Bool) async throws -> InputFile {
        isStandardInput
            ? try await InputFile.standardInput(on: context.host)
            : try await InputFile.open(path, endless: endless, on: context.host)
    }

    /// Opens the file where the last run left it. Waits for one that is to be followed and is not there yet.
    private func begin(follows: Bool) async throws -> Reading {
        var input: InputFile
        var hasSaid = false
        while true {
            do {
                input = try await open(endless: follows)
                break
            } catch let error as FileError where follows && error.errno == ENOENT {
                if !hasSaid { context.log.warning("\(path) is not there yet: waiting for it") }
                hasSaid = true
                try await context.clock.sleep(for: .seconds(1))
            }
        }
        guard !isStandardInput, input.kind == .regular, let saved = try await context.cursor(),
            let cursor = LineCursor(saved)
        else { return makeReading(input, at: LinePlace(), generation: 0) }
        var file = input
        let isSame = try await context.host.offload { [file] in try JSONLinesFile.stands(cursor, in: file) }
        if !isSame {
            guard options.follow, let former = try await former(cursor) else {
                context.log.info("\(path) is not the file that was read before: reading it from its beginning")
                return makeReading(input, at: LinePlace(), generation: cursor.generation + 1)
            }
            file = former
        }
        let place = try await context.host.offload { [file] in try JSONLinesFile.place(of: cursor, in: file) }
        var reading = makeReading(file, at: place, generation: cursor.generation)
        reading.isRenamed = !isSame
        try await context.host.offload { [reader = reading.reader] in try reader.goToPlace() }
        return reading
    }

    /// The file that was read before, where it has only been renamed: rotated while nobody read it.
    private func former(_ cursor: LineCursor) async throws -> InputFile? {
        let found = try await context.host.offload { [path] in
            FileIdentity.sibling(of: path, inode: cursor.inode)
        }
        guard let found else {
            context.log.warning(
                "the file that was read before is no longer beside \(path): what it had after byte"
                    + " \(cursor.place.offset), if anything, is not read")
            return nil
        }
        let input = try await InputFile.open(found, on: context.host)
        guard try await context.host.offload({ try JSONLinesFile.stands(cursor, in: input) }) else { return nil }
        context.log.info("\(found) is the file that was read before: reading what is left of it first")
        return input
    }

    /// Whether a file can be the one in which the cursor was taken: not only a number may be the same.
    private static func stands(_ cursor: LineCursor, in file: InputFile) throws -> Bool {
        guard cursor.inode == file.identity.inode else { return false }
        // The place in a packed file counts its unpacked bytes.
        if try file.byte(at: 0) == 0x1F, try file.byte(at: 1) == 0x8B { return true }
        let offset = cursor.place.offset
        guard offset > 0 else { return true }
        guard let last = try file.byte(at: offset - 1) else { return false }
        if last == UInt8(ascii: "\n") { return true }
        // The last line had no end; it may have got it since.
        let next = try file.byte(at: offset)
        return next == nil || next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r")
    }

    /// Behind the end that the last line has got since.
    private static func place(of cursor: LineCursor, in file: InputFile) throws -> LinePlace {
        var place = cursor.place
        guard place.offset > 0, try file.byte(at: place.offset - 1) != UInt8(ascii: "\n"),
            try file.byte(at: 0) != 0x1F
        else { return place }
        if try file.byte(at: place.offset) == UInt8(ascii: "\r") { place.offset += 1 }
        if try file.byte(at: place.offset) == UInt8(ascii: "\n") {
            place.offset += 1
            place.lines += 1
        }
        return place
    }

    private func makeReading(_ input: InputFile, at place: LinePlace, generation: Int) -> Reading {
        let source = isStandardInput ? "stdin:" : "file:\(options.path)"
        let settings = LineBlockReader.Settings(
            id: options.id, type: options.type, node: context.node, source: source, maxLine: options.maxLine)
        return Reading(
            reader: LineBlockReader(input, settings: settings, at: place, generation: generation),
            generation: generation)
    }

    // MARK: - Lines

    /// Emits all that is there. While blocks are on their way, the next ones are read and checked.
    private func pump(_ reading: Reading, _ output: Output) async throws {
        let (ahead, task) = ReadAhead.start(reading.reader, context)
        do {
            while true {
                let block = try await ahead.next()
                try await deliver(block, of: reading, output)
                if block.state == .atEnd { break }
            }
        } catch {
            ahead.stop()
            task.cancel()
            // It must have let go of the reader.
            _ = await task.result
            throw error
        }
        _ = await task.result
    }

    private func deliver(_ block: LineBlock, of reading: Reading, _ output: Output) async throws {
        // A copy meanwhile: nobody else delivers.
        var refused = self.refused
        let mayMoveOn = await refused.refuse(block.refused)
        self.refused = refused
        let hasPlace = reading.input.kind == .regular && !isStandardInput
        if hasPlace, !mayMoveOn, !hasSaidHeld {
            hasSaidHeld = true
            context.log.warning(
                "the place in \(path) stays before the lines that the store of dead letters does not take: what comes after"
                    + " them is delivered now, and again at the next start")
        }
        var cursors: [CursorUpdate] = []
        if hasPlace, mayMoveOn {
            let cursor = LineCursor(
                inode: reading.input.identity.inode, place: block.end, generation: reading.generation)
            let now = context.clock.now
            if let lastCursor, now - lastCursor < JSONLinesFile.cursorInterval {
                unsaved = cursor
            } else {
                lastCursor = now
                unsaved = nil
                cursors = [CursorUpdate("cursor", cursor.text)]
            }
        }
        let count = block.count
        guard count > 0 || !cursors.isEmpty else { return }
        if count > 0 {
            chunks += 1
            events += count
            mostTogether = max(mostTogether, count)
        }
        switch block.takeContent() {
        case .packed(let events): try await output.emit(packed: events, saving: cursors)
        case .events(let events): try await output.emit(events, saving: cursors)
        }
    }

    /// The last line may lack its line feed.
    private func finish(_ reading: Reading, _ output: Output) async throws {
        let reader = reading.reader
        try await deliver(try await context.host.offload { try reader.finish() }, of: reading, output)
    }

    private func saveCursor(_ output: Output) async throws {
        guard let cursor = unsaved else { return }
        unsaved = nil
        try await output.emit([], saving: [CursorUpdate("cursor", cursor.text)])
    }

    // MARK: - Following

    /// At the end of the file: suspends until there is more of it, or something else to read.
    private func waitForMore(_ reading: Reading, _ output: Output) async throws -> FollowStateMachine.Step {
        let wake = Wake()
        // A writer's every write rings; the path leads to this file, or the look below will see that it does not.
        let watch = await FileWatch.make(path, on: context.host) { wake.ring() }
        defer { withExtendedLifetime(watch) {} }
        var machine = FollowStateMachine()
        var place = reading.reader.position.offset + reading.reader.unfinished
        var hasRead = false
        while true {
            let (reader, path) = (reading.reader, path)
            let read = place
            let (size, named) = try await context.host.offload {
                (reader.isPacked ? nil : try reader.input.size(), FileIdentity.of(path))
            }
            if let size, size > read {
                try await pump(reading, output)
                place = reading.reader.position.offset + reading.reader.unfinished
                hasRead = true
                continue
            }
            let step = machine.atEnd(
                of: reading.input.identity, size: size, read: read, named: named, hasRead: hasRead)
            if step != .wait { return step }
            hasRead = false
            try await saveCursorIfDue(output)
            try await wake.wait(upTo: machine.pause, context)
        }
    }

    /// While nothing comes, nothing must be left to save.
    private func saveCursorIfDue(_ output: Output) async throws {
        guard let lastCursor, context.clock.now - lastCursor >= JSONLinesFile.cursorInterval else { return }
        if unsaved != nil { self.lastCursor = context.clock.now }
        try await saveCursor(output)
    }
}
