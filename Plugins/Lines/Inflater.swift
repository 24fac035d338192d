// feedbus: unpacks gzip.

import CZlib
import FeedbusPlugin

/// Unpacks a stream of gzip members, one behind the other.
final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
    /// What of `input` has not been unpacked.
    private var waiting = 0..<0
    /// Between two members.
    private var isBetween = false
    /// Bytes behind the last member that are none.
    private(set) var hasGarbage = false

    /// - Parameter beginning: packed bytes that were read already.
    init(beginning: UnsafeRawBufferPointer) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard feedbus_inflate_init(stream) == Z_OK else { preconditionFailure("no memory to unpack gzip") }
        // Larger than one read: the rest is kept in front of all that is read later.
        early = Bytes(copying: beginning)
    }

    private var early: Bytes

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    /// What is wrong with the packed data.
    struct Damage: Error { var words: String }

    /// Unpacks into `target`.
    /// - Parameter read: reads packed bytes as `InputFile.read` does.
    /// - Returns: bytes written; 0 at the end, nil where nothing more is there yet.
    func fill(
        _ target: UnsafeMutableRawBufferPointer, _ read: (UnsafeMutableRawBufferPointer) throws -> Int?
    ) throws -> Int? {
        var done = 0
        while done < target.count {
            if waiting.isEmpty {
                guard let count = try more(read) else { return done > 0 ? done : nil }
                if count == 0 {
                    if isBetween || done > 0 { return done }
                    throw Damage(words: "the gzip data ends in the middle")
                }
                waiting = 0..<count
            }
            if hasGarbage {
                waiting = 0..<0
                continue
            }
            if isBetween {
                // Zeros may fill up a tape or a block; anything else begins with the magic number.
                while !waiting.isEmpty, input[waiting.lowerBound] == 0 {
                    waiting = waiting.lowerBound + 1..<waiting.upperBound
                }
                guard !waiting.isEmpty else { continue }
                guard input[waiting.lowerBound] == 0x1F else {
                    hasGarbage = true
                    continue
                }
                inflateReset(stream)
                isBetween = false
            }
            done += try inflate(into: UnsafeMutableRawBufferPointer(rebasing: target[done...]))
        }
        return done
    }

    private func inflate(into target: UnsafeMutableRawBufferPointer) throws -> Int {
        stream.pointee.next_in = input.baseAddress!.assumingMemoryBound(to: UInt8.self) + waiting.lowerBound
        stream.pointee.avail_in = UInt32(waiting.count)
        stream.pointee.next_out = target.baseAddress!.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: target.count)
        let status = CZlib.inflate(stream, Z_NO_FLUSH)
        waiting = waiting.upperBound - Int(stream.pointee.avail_in)..<waiting.upperBound
        switch status {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: isBetween = true
        default:
            throw Damage(
                words: "the gzip data is damaged" + (stream.pointee.msg.map { ": " + String(cString: $0) } ?? ""))
        }
        return Int(UInt32(clamping: target.count) - stream.pointee.avail_out)
    }

    private func more(_ read: (UnsafeMutableRawBufferPointer) throws -> Int?) throws -> Int? {
        guard !early.isEmpty else { return try read(input) }
        let count = min(early.count, input.count)
        early[0..<count].withUnsafeBytes { input.copyMemory(from: $0) }
        early = early[count..<early.count]
        return count
    }
}
