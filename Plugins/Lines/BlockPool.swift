// feedbus: memory that lines are read into, used again and again.

import FeedbusPlugin
import Synchronization

/// Blocks of one size, aligned for `read(2)` and for vector code: into memory that is not, a read costs several times as
/// much. A block comes back when the last event in it has gone; so the same warm pages are read into all the time.
final class BlockPool: Sendable {
    /// Free room in front of the aligned place: the beginning of a line that the last block cut off is moved there.
    static let headroom = 64 << 10
    /// Bytes read at once.
    static let size = 1 << 20
    /// Blocks that wait for their next use.
    private static let kept = 6

    private struct Free: @unchecked Sendable {
        // The pool owns the blocks; nobody else has their addresses.
        var blocks: [UnsafeMutableRawPointer] = []
    }

    private let free = Mutex(Free())

    deinit {
        for block in free.withLock({ $0.blocks }) { block.deallocate() }
    }

    /// Memory of `headroom + size` bytes, and `ByteBuffer.padding` more.
    func take() -> UnsafeMutableRawPointer {
        free.withLock { $0.blocks.popLast() } ?? BlockPool.allocate(BlockPool.headroom + BlockPool.size)
    }

    /// A block as the buffer that events share; it returns here when they are gone.
    func buffer(_ block: UnsafeMutableRawPointer, count: Int) -> ByteBuffer {
        ByteBuffer(adopting: block, count: count, isLines: true) { [self] block in giveBack(block) }
    }

    func giveBack(_ block: UnsafeMutableRawPointer) {
        nonisolated(unsafe) let block = block
        let isKept = free.withLock { free in
            guard free.blocks.count < BlockPool.kept else { return false }
            free.blocks.append(block)
            return true
        }
        if !isKept { block.deallocate() }
    }

    static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        .allocate(byteCount: count + ByteBuffer.padding, alignment: 64)
    }
}
