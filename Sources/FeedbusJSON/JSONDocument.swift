// feedbus: a parsed text: the text and the places in it.

import CSimdJSON
import FeedbusBase

/// A checked text with its tape; shared by all values in it.
///
/// `@unchecked Sendable`: the tape is written before `init` and only read from then on, and freed by `deinit` alone.
final class JSONDocument: @unchecked Sendable {
    let text: Bytes
    /// The text's first byte; `text` keeps it in memory.
    private let base: UnsafeRawPointer
    /// See `csimdjson_entry`.
    let tape: UnsafePointer<csimdjson_entry>
    /// No blanks stand between the tokens.
    let isCompact: Bool
    /// Some string of the text has an escape.
    let hasEscapes: Bool

    /// Takes over the result's tape.
    init(text: Bytes, tape result: csimdjson_result) {
        self.text = text
        base = UnsafeRawPointer(text.buffer.base) + text.range.lowerBound
        tape = UnsafePointer(result.tape)
        isCompact = result.is_compact
        hasEscapes = result.has_escapes
    }

    deinit { csimdjson_free(UnsafeMutablePointer(mutating: tape)) }

    /// The first byte of the value or key at an entry.
    func firstByte(_ index: UInt32) -> UInt8 {
        base.load(fromByteOffset: Int(tape[Int(index)].start), as: UInt8.self)
    }

    func isContainer(_ index: UInt32) -> Bool {
        // "[" and "{" differ in this bit alone, and no other token begins with either.
        firstByte(index) | 0x20 == UInt8(ascii: "{")
    }

    /// The entry behind the value at an entry.
    func following(_ index: UInt32) -> UInt32 {
        isContainer(index) ? tape[Int(index)].link : index + 1
    }

    /// The bytes of the value or key at an entry, as offsets in `text`.
    func range(_ index: UInt32) -> Range<Int> {
        let entry = tape[Int(index)]
        let end = isContainer(index) ? tape[Int(entry.link) - 1].start + 1 : entry.link
        return Int(entry.start)..<Int(end)
    }

    /// The number of elements or members of the container at an entry.
    func count(_ index: UInt32) -> Int {
        Int(tape[Int(tape[Int(index)].link) - 1].link)
    }

    /// Where a further part of the container at an entry belongs: behind its last part, before the blanks that may follow.
    func endOfContent(_ index: UInt32) -> Int {
        guard count(index) > 0 else { return Int(tape[Int(index)].start) + 1 }
        // The entry before the closing one is a scalar or the bracket that ends a container.
        let last = tape[Int(tape[Int(index)].link) - 2]
        let byte = text[Int(last.start)]
        return byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") ? Int(last.start) + 1 : Int(last.link)
    }

    /// The content of the string or key at an entry, between the quotes, not decoded.
    func content(_ index: UInt32) -> Bytes {
        let entry = tape[Int(index)]
        return text[Int(entry.start) + 1..<Int(entry.link) - 1]
    }

    /// Whether the key at an entry, decoded, is `wanted`.
    func isKey(_ index: UInt32, _ wanted: UnsafeRawBufferPointer) -> Bool {
        let entry = tape[Int(index)]
        let count = Int(entry.link - entry.start) - 2
        let raw = UnsafeRawBufferPointer(start: base + Int(entry.start) + 1, count: count)
        // An escape is longer than what it stands for.
        if !hasEscapes || count <= wanted.count {
            return count == wanted.count && csimdjson_equal(raw.baseAddress, wanted.baseAddress, count)
                && !(hasEscapes && JSONText.hasEscape(raw))
        }
        return JSONText.hasEscape(raw) && JSONText.decode(raw).withUnsafeBytes { $0.elementsEqual(wanted) }
    }
}
