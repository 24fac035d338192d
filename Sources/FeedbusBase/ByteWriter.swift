// feedbus: grows a block of bytes and hands it over as an immutable buffer.

/// Collects bytes and then hands them over without a copy.
public struct ByteWriter: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    public private(set) var count = 0

    public init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = .allocate(byteCount: self.capacity + ByteBuffer.padding, alignment: 16)
    }

    deinit { base.deallocate() }

    public var isEmpty: Bool { count == 0 }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity + ByteBuffer.padding, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
    }

    public mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Lets `fill` write up to `most` bytes behind the others; it returns how many it has written.
    package mutating func append(upTo most: Int, _ fill: (UnsafeMutableRawPointer) -> Int) {
        reserve(most)
        let more = fill(base + count)
        precondition(more >= 0 && more <= most, "fill wrote outside its room")
        count += more
    }

    public mutating func append(_ bytes: Bytes) { bytes.withUnsafeBytes { append($0) } }

    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    public mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Forgets everything from `count` on.
    public mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count, "cannot truncate to a larger size")
        self.count = count
    }

    /// What was written, as shared immutable bytes; the writer starts anew.
    public mutating func finish() -> Bytes {
        guard count > 0 else { return Bytes() }
        (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: ByteBuffer.padding)
        let done = Bytes(buffer: ByteBuffer(adopting: base, count: count))
        count = 0
        capacity = 256
        base = .allocate(byteCount: capacity + ByteBuffer.padding, alignment: 16)
        return done
    }
}
