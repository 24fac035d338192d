// feedbus: writes to a pipe.

internal import CLibuv
internal import FeedbusBase

/// Our end of a child's input. Only the loop's thread uses it.
final class PipeWriter: LoopResource {
    static let closedError = FeedbusError(.execClosed, "the child does not read its input any more")

    private let core: LoopCore
    private var raw: UnsafeMutablePointer<uv_pipe_t>?
    private var pending = 0
    /// No more writes: close when those that are under way have ended.
    private var isFinishing = false

    /// Takes over the descriptor.
    init(core: LoopCore, fd: Int32) {
        self.core = core
        let raw = openPipe(core, fd)
        self.raw = raw
        setOwner(raw, self)
        core.register(self)
    }

    func write(_ bytes: Bytes, _ waiter: LoopWaiter<Void>) {
        guard let raw, !isFinishing else { return waiter.resume(throwing: PipeWriter.closedError) }
        if bytes.isEmpty { return waiter.resume(returning: ()) }
        // What fits into the pipe is written at once. libuv refuses (EAGAIN) while earlier bytes wait.
        var written = bytes.withUnsafeBytes { source in
            var buffer = uv_buf_t(source)
            return Int(uv_try_write(stream(raw), &buffer, 1))
        }
        if written == bytes.count { return waiter.resume(returning: ()) }
        if written == Int(UV_EAGAIN.rawValue) { written = 0 }
        guard written >= 0 else { return failed(Int32(written), waiter) }
        let request = WriteRequest(writer: self, bytes: bytes[written..<bytes.count], waiter: waiter)
        let status = request.submit(stream(raw))
        guard status == 0 else { return failed(status, waiter) }
        pending += 1
    }

    fileprivate func completed(_ waiter: LoopWaiter<Void>, _ status: Int32) {
        pending -= 1
        if status == 0 { waiter.resume(returning: ()) } else { failed(status, waiter) }
        if isFinishing && pending == 0 { close() }
    }

    private func failed(_ status: Int32, _ waiter: LoopWaiter<Void>) {
        switch status {
        case UV_EPIPE.rawValue, UV_ECONNRESET.rawValue, UV_ECANCELED.rawValue:
            waiter.resume(throwing: PipeWriter.closedError)
        default:
            waiter.resume(
                throwing: FeedbusError(.execFailed, "cannot write to the child: \(uvText(status))"))
        }
        close()
    }

    func finish() {
        isFinishing = true
        if pending == 0 { close() }
    }

    /// What is still being written ends with an error.
    func close() {
        guard let raw else { return }
        self.raw = nil
        core.unregister(self)
        closeHandle(raw)
    }
}

/// Bytes that libuv is writing.
private final class WriteRequest {
    private let writer: PipeWriter
    private let bytes: Bytes
    private let waiter: LoopWaiter<Void>

    init(writer: PipeWriter, bytes: Bytes, waiter: LoopWaiter<Void>) {
        self.writer = writer
        self.bytes = bytes
        self.waiter = waiter
    }

    func submit(_ stream: UnsafeMutablePointer<uv_stream_t>) -> Int32 {
        let raw = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
        raw.initialize(to: uv_write_t())
        let me = Unmanaged.passRetained(self)
        raw.pointee.data = me.toOpaque()
        // The bytes stay where they are: this object keeps their buffer until the callback.
        let status = bytes.withUnsafeBytes { source in
            var buffer = uv_buf_t(source)
            return uv_write(raw, stream, &buffer, 1, onWritten)
        }
        if status != 0 {
            raw.deallocate()
            me.release()
        }
        return status
    }

    func completed(_ status: Int32) { writer.completed(waiter, status) }
}

private func onWritten(_ raw: UnsafeMutablePointer<uv_write_t>?, _ status: Int32) {
    let request = Unmanaged<WriteRequest>.fromOpaque(raw!.pointee.data).takeRetainedValue()
    raw!.deallocate()
    request.completed(status)
}

extension uv_buf_t {
    /// For writing only.
    fileprivate init(_ source: UnsafeRawBufferPointer) {
        let start = UnsafeMutableRawPointer(mutating: source.baseAddress!).assumingMemoryBound(to: CChar.self)
        self.init(base: start, len: source.count)
    }
}
