// feedbus: reads from a pipe, while somebody waits.

internal import CLibuv
internal import FeedbusBase

/// Our end of a child's output. Only the loop's thread uses it.
final class PipeReader: LoopResource {
    private let core: LoopCore
    private var raw: UnsafeMutablePointer<uv_pipe_t>?
    private var waiters: [LoopWaiter<Bytes?>] = []
    private var isReading = false
    private var failure: FeedbusError?

    /// Takes over the descriptor.
    init(core: LoopCore, fd: Int32) {
        self.core = core
        let raw = openPipe(core, fd)
        self.raw = raw
        setOwner(raw, self)
        core.register(self)
    }

    func read(_ waiter: LoopWaiter<Bytes?>) {
        guard let raw else {
            return waiter.resume(with: failure.map { .failure($0) } ?? .success(nil))
        }
        waiters.append(waiter)
        waiter.onCancel { [weak self] in self?.rest() }
        if !isReading {
            isReading = true
            uv_read_start(stream(raw), onAllocate, onRead)
        }
    }

    /// Stops reading when nobody waits.
    private func rest() {
        waiters.removeAll { $0.isDone }
        if waiters.isEmpty, isReading, let raw {
            isReading = false
            uv_read_stop(stream(raw))
        }
    }

    fileprivate func buffer() -> uv_buf_t {
        uv_buf_init(core.scratch.baseAddress!.assumingMemoryBound(to: CChar.self), UInt32(core.scratch.count))
    }

    fileprivate func received(_ count: Int) {
        if count == 0 { return }  // libuv's EAGAIN
        if count > 0 {
            let bytes = Bytes(copying: UnsafeRawBufferPointer(rebasing: core.scratch[..<count]))
            // Reading stops when the last waiter was cancelled, so there is one.
            waiters.removeFirst().resume(returning: bytes)
            return rest()
        }
        if count != Int(UV_EOF.rawValue) {
            failure = FeedbusError(.execRead, "cannot read from the child: \(uvText(Int32(count)))")
        }
        close()
    }

    func close() {
        guard let raw else { return }
        self.raw = nil
        isReading = false
        core.unregister(self)
        closeHandle(raw)
        let result: Result<Bytes?, any Error> = failure.map { .failure($0) } ?? .success(nil)
        for waiter in waiters { waiter.resume(with: result) }
        waiters = []
    }
}

private func onAllocate(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _ size: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    buffer!.pointee = owner(handle!.pointee.data, as: PipeReader.self).buffer()
}

private func onRead(
    _ stream: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?
) {
    owner(stream!.pointee.data, as: PipeReader.self).received(count)
}

func stream(_ pipe: UnsafeMutablePointer<uv_pipe_t>) -> UnsafeMutablePointer<uv_stream_t> {
    UnsafeMutableRawPointer(pipe).assumingMemoryBound(to: uv_stream_t.self)
}

/// Makes a handle for a pipe's non-blocking descriptor, which becomes the handle's.
func openPipe(_ core: LoopCore, _ fd: Int32) -> UnsafeMutablePointer<uv_pipe_t> {
    let raw = newHandle(uv_pipe_t.self)
    uv_pipe_init(core.uv, raw, 0)
    let status = uv_pipe_open(raw, fd)
    precondition(status == 0, "cannot use a pipe that was just made: \(uvText(status))")
    return raw
}
