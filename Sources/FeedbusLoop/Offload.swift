// feedbus: blocking work, on libuv's pool of threads.

internal import CLibuv

extension EventLoop {
    package func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withUnsafeThrowingContinuation { continuation in
            let request = PoolRequest {
                let result = Result { try work() }
                return { continuation.resume(with: result) }
            }
            if !perform({ request.submit(to: self.core) }) { continuation.resume(throwing: EventLoop.closedError) }
        }
    }
}

extension LoopCore {
    func submitNothing() { PoolRequest { {} }.submit(to: self) }
}

/// A piece of work on its way to the pool and back.
///
/// `@unchecked Sendable`: the loop makes it, then one pool thread has it, then the loop again; libuv's locks stand
/// between them.
private final class PoolRequest: @unchecked Sendable {
    private var work: (() -> () -> Void)?
    private var finish: (() -> Void)?

    /// `work` runs on the pool; what it returns runs on the loop.
    init(_ work: @escaping () -> () -> Void) { self.work = work }

    func submit(to core: LoopCore) {
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        request.initialize(to: uv_work_t())
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let status = uv_queue_work(core.uv, request, onPoolThread, onPoolDone)
        precondition(status == 0, "cannot queue work: \(uvText(status))")
    }

    func run() {
        finish = work?()
        work = nil
    }

    func end() {
        finish?()
        finish = nil
    }
}

private func onPoolThread(_ request: UnsafeMutablePointer<uv_work_t>?) {
    owner(request!.pointee.data, as: PoolRequest.self).run()
}

private func onPoolDone(_ request: UnsafeMutablePointer<uv_work_t>?, _ status: Int32) {
    let owner = Unmanaged<PoolRequest>.fromOpaque(request!.pointee.data).takeRetainedValue()
    request!.deallocate()
    owner.end()
}
