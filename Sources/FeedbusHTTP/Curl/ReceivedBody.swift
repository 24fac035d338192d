// feedbus: a body while it comes in.

import FeedbusBase

/// Collects a body in one block, which is then handed on without a copy.
struct ReceivedBody: ~Copyable {
    private let pool: BodyPool
    private var block: BodyPool.Block?
    private(set) var count = 0

    /// What is allocated first where the length is not known.
    private static let first = 16_384

    init(pool: BodyPool) { self.pool = pool }

    deinit { if let block { pool.giveBack(block) } }

    /// Makes room for a body whose length is known, before anything has come.
    mutating func expect(_ length: Int) {
        if block == nil, length > 0 { block = pool.take(length) }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(count + bytes.count)
        (block!.base + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    private mutating func reserve(_ needed: Int) {
        guard let block else {
            self.block = pool.take(max(needed, Self.first))
            return
        }
        guard needed > block.capacity else { return }
        let larger = pool.take(max(block.capacity * 2, needed))
        larger.base.copyMemory(from: block.base, byteCount: count)
        pool.giveBack(block)
        self.block = larger
    }

    /// What has come, as shared immutable bytes.
    mutating func finish() -> Bytes {
        guard let block, count > 0 else { return Bytes() }
        // What reads it may keep it for long: not with much behind it that was never filled.
        if count * 2 < block.capacity {
            return Bytes(copying: UnsafeRawBufferPointer(start: block.base, count: count))
        }
        self.block = nil
        (block.base + count).initializeMemory(as: UInt8.self, repeating: 0, count: ByteBuffer.padding)
        let pool = pool
        return Bytes(
            buffer: ByteBuffer(adopting: block.base, count: count) { _ in pool.giveBack(block) })
    }
}
