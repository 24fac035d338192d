// feedbus: tells when a file changes.

internal import CLibuv
internal import FeedbusBase

/// A watch on what a path leads to when it is made: writes, and that it is renamed or deleted. Only a hint: a file system
/// may not tell, so whoever waits also looks from time to time.
package final class FileWatch: Sendable {
    private let loop: EventLoop
    private let handle: WatchHandle

    /// - Parameter changed: called on the loop, until the watch is closed or let go.
    /// - Returns: nil where the host is no loop, or the system cannot watch the path.
    package static func make(
        _ path: String, on host: any LoopHost, changed: @escaping @Sendable () -> Void
    ) async -> FileWatch? {
        guard let loop = host as? EventLoop else { return nil }
        return try? await loop.wait { (waiter: LoopWaiter<FileWatch?>) in
            let handle = WatchHandle(core: loop.core, path: path, changed: changed)
            waiter.resume(returning: handle.map { FileWatch(loop: loop, handle: $0) })
        }
    }

    private init(loop: EventLoop, handle: WatchHandle) {
        self.loop = loop
        self.handle = handle
    }

    deinit {
        let (loop, handle) = (loop, handle)
        loop.perform { handle.close() }
    }
}

/// `@unchecked Sendable`: used by the loop's thread only: it is made and called back there, and closed by `perform`.
private final class WatchHandle: LoopResource, @unchecked Sendable {
    private let core: LoopCore
    private var raw: UnsafeMutablePointer<uv_fs_event_t>?
    private let changed: @Sendable () -> Void

    init?(core: LoopCore, path: String, changed: @escaping @Sendable () -> Void) {
        guard core.isOpen else { return nil }
        self.core = core
        self.changed = changed
        let raw = newHandle(uv_fs_event_t.self)
        guard uv_fs_event_init(core.uv, raw) == 0 else {
            raw.deallocate()
            return nil
        }
        setOwner(raw, self)
        guard uv_fs_event_start(raw, onFileChange, path, 0) == 0 else {
            closeHandle(raw)
            return nil
        }
        self.raw = raw
        core.register(self)
    }

    func report() {
        guard raw != nil else { return }
        core.watch("watch of a file") { changed() }
    }

    func close() {
        guard let raw else { return }
        self.raw = nil
        core.unregister(self)
        closeHandle(raw)
    }
}

private func onFileChange(
    _ handle: UnsafeMutablePointer<uv_fs_event_t>?, _ name: UnsafePointer<CChar>?, _ events: Int32, _ status: Int32
) {
    owner(handle!.pointee.data, as: WatchHandle.self).report()
}
