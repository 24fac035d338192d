// feedbus: reads lines in large blocks and makes events of them without copying.

import FeedbusLoop
import FeedbusPlugin
import Glibc

/// Reads a file or stream of JSON lines, on the pool.
///
/// A block is read into aligned memory, all its whole lines are checked in one go, and the events are slices of it. The
/// beginning of a line that the block cuts off is moved in front of the next one.
///
/// `@unchecked Sendable`: its owner calls one method at a time.
package final class LineBlockReader: @unchecked Sendable {
    package struct Settings: Sendable {
        /// Where the id of a line that is no CloudEvents object stands; nil: it is made of place and content.
        package var id: JSONPointer?
        package var type: String
        package var node: String
        package var source: String
        /// The longest line in bytes, without its end.
        package var maxLine: Int

        package init(id: JSONPointer?, type: String, node: String, source: String, maxLine: Int) {
            self.id = id
            self.type = type
            self.node = node
            self.source = source
            self.maxLine = maxLine
        }
    }

    /// The most events of a block.
    package static let mostEvents = 1_024

    package let input: InputFile
    let settings: Settings
    private let pool: BlockPool
    var reader: LineReader
    let scanner = JSONLineScanner()
    /// Finds the id in a line.
    let finder: JSONFinder?
    /// Added to the place of a line in its made-up id: the same place in the next file of this name is another one.
    let idBase: Int
    private var inflater: Inflater?
    private var hasBegun = false

    /// The lines that were scanned and not yet handed out.
    private var lines: Lines?
    /// The beginning of a line whose end has not been read.
    private var carry = Bytes()
    /// Bytes of a line that is too long to be kept; nil outside of one.
    private var skipped: Int?
    /// Lines that were too long, for the next block.
    private var pendingRefusals: [RefusedLine] = []
    /// Where `carry`, or the line that is skipped, begins.
    private var place: LinePlace

    /// Scanned lines in a buffer, from `next` on.
    struct Lines {
        let buffer: ByteBuffer
        /// The text that was scanned, and where it stands in the input.
        let text: Range<Int>
        let offset: Int
        /// Line feeds of the input before it.
        let before: Int
        var next = 0
    }

    /// - Parameters:
    ///   - place: where to begin; the input stands there (a packed one at its beginning).
    ///   - generation: how many files of this name came before.
    package init(_ input: InputFile, settings: Settings, at place: LinePlace = LinePlace(), generation: Int = 0) {
        self.input = input
        self.settings = settings
        self.place = place
        pool = BlockPool()
        finder = settings.id.map { JSONFinder([$0]) }
        idBase = generation << 48
        reader = LineReader(
            id: settings.id, type: settings.type, node: settings.node, source: settings.source, keepsText: true)
    }

    /// Whether the input is gzip. Known after the first read.
    package var isPacked: Bool { inflater != nil }
    /// Behind the last whole line.
    package var position: LinePlace { place }
    /// There are events that need no reading.
    package var hasLines: Bool { lines != nil }
    /// Bytes of a line without an end.
    package var unfinished: Int { skipped ?? carry.count }

    // MARK: - Reading

    /// Goes to the place that it was made with, in an input that stands at its beginning.
    /// - Throws: `FileError`; `FeedbusError` with the code `gzip.damaged`.
    package func goToPlace() throws {
        let wanted = place.offset
        guard wanted > 0 else { return }
        guard try input.byte(at: 0) == 0x1F, try input.byte(at: 1) == 0x8B else { return try input.seek(to: wanted) }
        // Packed data has no places: what was read before is unpacked again.
        let inflater = Inflater(beginning: UnsafeRawBufferPointer(start: nil, count: 0))
        let target = UnsafeMutableRawBufferPointer.allocate(byteCount: BlockPool.size, alignment: 64)
        defer { target.deallocate() }
        var left = wanted
        do {
            while left > 0 {
                let piece = UnsafeMutableRawBufferPointer(rebasing: target[..<min(left, target.count)])
                guard let count = try inflater.fill(piece, { try input.read(into: $0) }), count > 0 else { break }
                left -= count
            }
        } catch let damage as Inflater.Damage {
            throw FeedbusError("gzip.damaged", "\(input.path): \(damage.words)")
        }
        self.inflater = inflater
        hasBegun = true
    }

    /// The next events; what is there at once.
    /// - Throws: `FileError`; `FeedbusError` with the code `gzip.damaged`.
    package func next() throws -> LineBlock {
        while lines == nil {
            let state = try fill()
            if state != .more { return LineBlock(refused: takeRefusals(), end: place, state: state) }
        }
        return try makeBlock()
    }

    /// Makes a line of what has no line feed. The input has ended.
    package func finish() throws -> LineBlock {
        if let length = skipped {
            skipped = nil
            pendingRefusals.append(tooLong(length))
            place.offset += length
        }
        guard !carry.isEmpty else { return LineBlock(refused: takeRefusals(), end: place, state: .atEnd) }
        let text = carry
        carry = Bytes()
        try scan(text.buffer, text.range)
        let block = try makeBlock()
        block.state = .atEnd
        return block
    }

    /// Reads once, up to a block; what it finds is then in `lines`, or the state says why nothing is.
    private func fill() throws -> LineBlock.State {
        let tail = carry.range
        let headroom = max(BlockPool.headroom, (tail.count + 63) / 64 * 64)
        let isPooled = headroom == BlockPool.headroom
        // A long line doubles the block until it fits, or is too long.
        let room = isPooled ? BlockPool.size : max(BlockPool.size, min(tail.count, settings.maxLine + 64 - tail.count))
        let block = isPooled ? pool.take() : BlockPool.allocate(headroom + room)
        let start = headroom - tail.count
        carry.withUnsafeBytes { old in
            if let base = old.baseAddress, !old.isEmpty { (block + start).copyMemory(from: base, byteCount: old.count) }
        }
        let count: Int?
        do {
            count = try read(UnsafeMutableRawBufferPointer(start: block + headroom, count: room))
        } catch {
            if isPooled { pool.giveBack(block) } else { block.deallocate() }
            throw error
        }
        guard let count, count > 0 else {
            if isPooled { pool.giveBack(block) } else { block.deallocate() }
            return count == nil ? .waiting : .atEnd
        }
        let end = headroom + count
        (block + end).initializeMemory(as: UInt8.self, repeating: 0, count: ByteBuffer.padding)
        let buffer =
            isPooled
            ? pool.buffer(block, count: end)
            : ByteBuffer(adopting: block, count: end, isLines: true)
        try take(buffer, start..<end, fresh: headroom)
        return .more
    }

    private func read(_ target: UnsafeMutableRawBufferPointer) throws -> Int? {
        do {
            if let inflater { return try inflater.fill(target) { try input.read(into: $0) } }
            let count = try input.read(into: target)
            guard !hasBegun, let count, count > 0 else { return count }
            hasBegun = true
            // A stream may begin with a single byte; nobody packs into such pieces.
            guard place.offset == 0, count >= 2, target[0] == 0x1F, target[1] == 0x8B else { return count }
            let inflater = Inflater(beginning: UnsafeRawBufferPointer(rebasing: target[..<count]))
            self.inflater = inflater
            return try inflater.fill(target) { try input.read(into: $0) }
        } catch let damage as Inflater.Damage {
            throw FeedbusError("gzip.damaged", "\(input.path): \(damage.words) (behind \(place.offset) bytes unpacked)")
        }
    }

    /// Divides what is in a buffer into whole lines and the rest.
    private func take(_ buffer: ByteBuffer, _ range: Range<Int>, fresh: Int) throws {
        var start = range.lowerBound
        carry = Bytes()
        if let length = skipped {
            guard let feed = LineBlockReader.firstLineFeed(buffer, start..<range.upperBound) else {
                skipped = length + range.count
                return
            }
            skipped = nil
            start = feed + 1
            pendingRefusals.append(tooLong(length + feed - range.lowerBound))
            place.offset += length + start - range.lowerBound
            place.lines += 1
        }
        guard let last = LineBlockReader.lastLineFeed(buffer, max(start, fresh)..<range.upperBound) else {
            if range.upperBound - start > settings.maxLine + 1 {
                skipped = range.upperBound - start
            } else {
                carry = Bytes(buffer: buffer, range: start..<range.upperBound)
            }
            return
        }
        carry = Bytes(buffer: buffer, range: last + 1..<range.upperBound)
        try scan(buffer, start..<last + 1)
    }

    private func takeRefusals() -> [RefusedLine] {
        defer { if !pendingRefusals.isEmpty { pendingRefusals = [] } }
        return pendingRefusals
    }

    private func tooLong(_ length: Int) -> RefusedLine {
        RefusedLine(
            number: place.lines + 1, offset: place.offset,
            reason: "is too long: \(length) bytes, max_line is \(ByteSize.text(settings.maxLine))")
    }

    private func scan(_ buffer: ByteBuffer, _ range: Range<Int>) throws {
        var range = range
        // Some programs begin their output with a byte order mark.
        if place.offset == 0, range.count >= 3, Bytes(buffer: buffer, range: range)[0..<3] == LineBlockReader.mark {
            range = range.lowerBound + 3..<range.upperBound
            place.offset = 3
        }
        do {
            try scanner.scan(UnsafeRawBufferPointer(start: buffer.base + range.lowerBound, count: range.count))
        } catch {
            throw FeedbusError("file.read", "\(input.path): \(error.message)", isRetriable: true)
        }
        lines = Lines(buffer: buffer, text: range, offset: place.offset, before: place.lines)
    }

    private static let mark: Bytes = "\u{FEFF}"

    private static func firstLineFeed(_ buffer: ByteBuffer, _ range: Range<Int>) -> Int? {
        guard let found = memchr(buffer.base + range.lowerBound, 0x0A, range.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(buffer.base)
    }

    private static func lastLineFeed(_ buffer: ByteBuffer, _ range: Range<Int>) -> Int? {
        var end = range.upperBound
        while end > range.lowerBound {
            if buffer.base.load(fromByteOffset: end - 1, as: UInt8.self) == 0x0A { return end - 1 }
            end -= 1
        }
        return nil
    }

    // MARK: - Events

    /// The next scanned lines as a block.
    private func makeBlock() throws -> LineBlock {
        guard var lines else { return LineBlock(end: place) }
        let block = LineBlock(refused: takeRefusals(), end: place)
        let first = lines.next
        let end = min(first + LineBlockReader.mostEvents, scanner.count)
        let (buffer, start) = (lines.buffer, lines.text.lowerBound)
        block.content = content(of: first..<end, lines, block)
        lines.next = end
        if end == scanner.count {
            place = LinePlace(offset: lines.offset + lines.text.count, lines: lines.before + scanner.lineFeeds)
            self.lines = nil
        } else {
            let last = scanner[end - 1]
            let upTo = LineBlockReader.lineEnd(buffer, from: start + last.range.upperBound)
            place = LinePlace(offset: lines.offset + upTo - start, lines: lines.before + last.number + 1)
            self.lines = lines
        }
        block.end = place
        return block
    }

    /// Behind the line feed that ends the line at `start`; there is one, as it is not the last line of the text.
    private static func lineEnd(_ buffer: ByteBuffer, from start: Int) -> Int {
        firstLineFeed(buffer, start..<buffer.count).map { $0 + 1 } ?? buffer.count
    }
}
