// feedbus: watches a file descriptor that belongs to another library.

internal import CLibuv
internal import FeedbusBase

/// What a descriptor is ready for. A set; not `OptionSet`, whose generic code is not specialised in other modules, and a
/// request asks some ten times.
package struct PollEvents: Sendable, Hashable {
    @usableFromInline package var rawValue: Int32

    @inlinable
    package init(rawValue: Int32 = 0) { self.rawValue = rawValue }

    @inlinable package static var readable: PollEvents { PollEvents(rawValue: 1) }
    @inlinable package static var writable: PollEvents { PollEvents(rawValue: 2) }
    /// The peer has closed its side.
    @inlinable package static var disconnected: PollEvents { PollEvents(rawValue: 4) }
    /// Reported only: the descriptor is in an error state. The poll has stopped.
    @inlinable package static var failed: PollEvents { PollEvents(rawValue: 1 << 16) }

    @inlinable
    package func contains(_ other: PollEvents) -> Bool { rawValue & other.rawValue == other.rawValue }

    @inlinable
    package mutating func insert(_ other: PollEvents) { rawValue |= other.rawValue }
}

/// A watch on a socket or pipe. Use it on its loop only.
package final class LoopPoll: Sendable {
    private let loop: EventLoop
    private let handle: PollHandle

    fileprivate init(loop: EventLoop, handle: PollHandle) {
        self.loop = loop
        self.handle = handle
    }

    deinit {
        let (loop, handle) = (loop, handle)
        loop.perform { handle.close() }
    }

    /// Calls back for these events from now on, as long as they last (level-triggered). Replaces an earlier start.
    package func start(_ events: PollEvents) {
        loop.preconditionOnLoop()
        handle.start(events)
    }

    package func stop() {
        loop.preconditionOnLoop()
        handle.stop()
    }

    /// Ends the watch. The descriptor may be closed right afterwards.
    package func close() {
        loop.preconditionOnLoop()
        handle.close()
    }
}

/// `@unchecked Sendable`: used by the loop's thread only; `LoopPoll` checks it, or comes from `perform`.
private final class PollHandle: LoopResource, @unchecked Sendable {
    private let core: LoopCore
    private var raw: UnsafeMutablePointer<uv_poll_t>?
    let fd: Int32
    let ready: @Sendable (PollEvents) -> Void

    init(core: LoopCore, fd: Int32, ready: @escaping @Sendable (PollEvents) -> Void) throws {
        self.core = core
        self.fd = fd
        self.ready = ready
        guard core.isOpen else { throw EventLoop.closedError }
        let raw = newHandle(uv_poll_t.self)
        let status = uv_poll_init(core.uv, raw, fd)
        guard status == 0 else {
            // libuv has not taken it.
            raw.deallocate()
            throw FeedbusError(.loopPoll, "cannot watch descriptor \(fd): \(uvText(status))")
        }
        self.raw = raw
        setOwner(raw, self)
        core.register(self)
    }

    func start(_ events: PollEvents) {
        guard let raw else { return }
        let status = uv_poll_start(raw, events.rawValue, onPoll)
        precondition(status == 0, "cannot watch descriptor \(fd): \(uvText(status))")
    }

    func stop() { if let raw { uv_poll_stop(raw) } }

    func close() {
        guard let raw else { return }
        self.raw = nil
        core.unregister(self)
        uv_poll_stop(raw)
        closeHandle(raw)
    }

    func report(_ events: PollEvents) {
        // A callback that libuv had collected before `close()`.
        guard raw != nil else { return }
        core.watch("poll of descriptor \(fd)") { ready(events) }
    }
}

private func onPoll(_ handle: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    let poll = owner(handle!.pointee.data, as: PollHandle.self)
    poll.report(status < 0 ? .failed : PollEvents(rawValue: events))
}

extension EventLoop {
    /// Watches a descriptor, which becomes non-blocking. On the loop only; it does not watch before `start(_:)`.
    /// - Throws: `FeedbusError` with the code `loop.poll` when this descriptor cannot be watched (a plain file, or one
    ///   that is watched already), `loop.closed` when the loop is ending.
    package func makePoll(fd: Int32, _ ready: @escaping @Sendable (PollEvents) -> Void) throws -> LoopPoll {
        LoopPoll(loop: self, handle: try PollHandle(core: core, fd: fd, ready: ready))
    }
}
