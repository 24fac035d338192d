// feedbus: bytes that many events share without copying.

/// A block of memory that is written once, by the one who makes it, and only read afterwards.
///
/// `@unchecked Sendable`: after `init` nothing writes to the memory and no field changes, so any thread may read it.
public final class ByteBuffer: @unchecked Sendable {
    @usableFromInline package let base: UnsafeMutableRawPointer
    public let count: Int
    /// It was read line by line: no JSON value in it holds a line feed.
    package let isLines: Bool
    private let release: (UnsafeMutableRawPointer) -> Void

    /// Takes over `base`, which holds `count` initialised bytes; `release` frees it when the last reader has gone.
    package init(
        adopting base: UnsafeMutableRawPointer, count: Int, isLines: Bool = false,
        release: @escaping (UnsafeMutableRawPointer) -> Void = { $0.deallocate() }
    ) {
        self.base = base
        self.count = count
        self.isLines = isLines
        self.release = release
    }

    /// Allocates room for `capacity` bytes and lets `fill` write them; `fill` returns how many it wrote.
    /// The allocation is followed by 64 zero bytes, so that vector code (simdjson) may read past the end.
    public convenience init(capacity: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Int) rethrows {
        let base = UnsafeMutableRawPointer.allocate(byteCount: capacity + ByteBuffer.padding, alignment: 16)
        let count: Int
        do {
            count = try fill(UnsafeMutableRawBufferPointer(start: base, count: capacity))
        } catch {
            base.deallocate()
            throw error
        }
        precondition(count >= 0 && count <= capacity, "fill wrote outside the buffer")
        (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: ByteBuffer.padding)
        self.init(adopting: base, count: count)
    }

    /// Readable bytes behind every buffer made by `init(capacity:fill:)` and `ByteWriter`.
    package static let padding = 64

    deinit { release(base) }

    /// No bytes.
    @usableFromInline package static let empty = ByteBuffer(capacity: 0) { _ in 0 }
}

/// A slice of a shared, immutable buffer: raw text as it was read. Copying it copies no bytes.
///
/// Comparison and hashing are by content. At most 4 GiB.
public struct Bytes: Sendable {
    /// Nil for no bytes of no buffer: what most events have in some of their fields costs no counting of references.
    @usableFromInline let storage: ByteBuffer?
    @usableFromInline let start: UInt32
    @usableFromInline let length: UInt32

    public init() {
        storage = nil
        start = 0
        length = 0
    }

    @inlinable public var buffer: ByteBuffer { storage ?? .empty }

    /// Whether a line feed stands behind it in its buffer.
    package var isFollowedByLineFeed: Bool {
        guard let storage else { return false }
        let end = Int(start) + Int(length)
        return end < storage.count && storage.base.load(fromByteOffset: end, as: UInt8.self) == 0x0A
    }

    /// It is known to hold no line feed, as it is a JSON value out of a buffer that was read line by line.
    package var isLine: Bool { storage?.isLines ?? true }

    public init(buffer: ByteBuffer) { self.init(buffer: buffer, range: 0..<buffer.count) }

    @inlinable
    public init(buffer: ByteBuffer, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count, "slice outside the buffer")
        self.storage = buffer
        self.start = UInt32(range.lowerBound)
        self.length = UInt32(range.count)
    }

    /// A copy of the UTF-8 of a string.
    public init(_ string: String) {
        var string = string
        self = string.withUTF8 { Bytes(copying: UnsafeRawBufferPointer($0)) }
    }

    public init(_ bytes: [UInt8]) { self = bytes.withUnsafeBytes { Bytes(copying: $0) } }

    public init(copying bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            self.init()
        } else {
            self.init(
                buffer: ByteBuffer(capacity: bytes.count) { target in
                    target.copyMemory(from: bytes)
                    return bytes.count
                })
        }
    }

    @inlinable public var count: Int { Int(length) }
    @inlinable public var isEmpty: Bool { length == 0 }

    /// Where the slice stands in its buffer.
    @inlinable public var range: Range<Int> { Int(start)..<Int(start) + Int(length) }

    public subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "index outside the bytes")
        return buffer.base.load(fromByteOffset: Int(start) + index, as: UInt8.self)
    }

    /// A slice of this slice; offsets count from its start.
    public subscript(range: Range<Int>) -> Bytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "slice outside the bytes")
        return Bytes(buffer: buffer, range: Int(start) + range.lowerBound..<Int(start) + range.upperBound)
    }

    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: buffer.base + Int(start), count: count))
    }

    /// The text; invalid UTF-8 is shown as U+FFFD.
    public var string: String {
        withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The same bytes in a buffer of their own, where this slice would keep a much larger one alive.
    public func compacted() -> Bytes {
        buffer.count <= count * 2 + 256 ? self : withUnsafeBytes { Bytes(copying: $0) }
    }
}

extension Bytes: Hashable {
    public static func == (left: Bytes, right: Bytes) -> Bool {
        guard left.count == right.count else { return false }
        if left.buffer === right.buffer && left.start == right.start { return true }
        return left.withUnsafeBytes { a in right.withUnsafeBytes { b in a.elementsEqual(b) } }
    }

    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension Bytes: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { string }
}
