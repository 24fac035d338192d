// feedbus: memory for bodies, used again and again.

import FeedbusBase
import Synchronization

/// Blocks that bodies were read into and that nobody reads any more. A new block of some ten KB comes from the system page
/// by page, which takes longer than to copy a body into it.
///
/// Blocks may come back on any thread.
final class BodyPool: Sendable {
    /// A block of memory. `@unchecked Sendable`: it is in one hand at a time, the pool's or that of a transfer or buffer.
    struct Block: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        /// Bytes of body that fit; the allocation has `ByteBuffer.padding` more.
        let capacity: Int
    }

    private struct State {
        var free: [Block] = []
        var bytes = 0
    }

    /// Smaller blocks are the allocator's business.
    private static let smallest = 4_096
    /// Of all blocks that are kept.
    private static let mostBytes = 2 << 20
    private static let mostBlocks = 64

    private let state = Mutex(State())

    deinit { for block in state.withLock({ $0.free }) { block.base.deallocate() } }

    /// A block for at least so many bytes.
    func take(_ capacity: Int) -> Block {
        // Not one that is much too large: what reads a body may keep its block for long.
        let kept: Block? =
            capacity < Self.smallest
            ? nil
            : state.withLock { state in
                guard
                    let index = state.free.lastIndex(where: {
                        $0.capacity >= capacity && $0.capacity <= capacity + capacity / 2
                    })
                else { return nil }
                let block = state.free.remove(at: index)
                state.bytes -= block.capacity
                return block
            }
        return kept
            ?? Block(
                base: .allocate(byteCount: capacity + ByteBuffer.padding, alignment: 16), capacity: capacity)
    }

    func giveBack(_ block: Block) {
        let isKept =
            block.capacity >= Self.smallest
            && state.withLock { state in
                guard state.free.count < Self.mostBlocks, state.bytes + block.capacity <= Self.mostBytes else {
                    return false
                }
                state.free.append(block)
                state.bytes += block.capacity
                return true
            }
        if !isKept { block.base.deallocate() }
    }
}
