// feedbus: signals to the process.

internal import CLibuv
internal import Glibc

extension EventLoop {
    /// Calls `handler` on the loop each time one of these signals comes, until the loop ends; then the system's default
    /// is in force again, but SIGHUP is ignored: it must not end a process that is about to end well. From any thread,
    /// also before `run()`.
    package func onSignals(_ numbers: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
        perform {
            for number in numbers where self.core.isOpen {
                _ = SignalHandle(core: self.core, number: number, handler: handler)
            }
        }
    }
}

/// Only the loop's thread uses it.
private final class SignalHandle: LoopResource {
    private let core: LoopCore
    private var raw: UnsafeMutablePointer<uv_signal_t>?
    private let number: Int32
    private let handler: @Sendable (Int32) -> Void

    init(core: LoopCore, number: Int32, handler: @escaping @Sendable (Int32) -> Void) {
        self.core = core
        self.number = number
        self.handler = handler
        let raw = newHandle(uv_signal_t.self)
        uv_signal_init(core.uv, raw)
        self.raw = raw
        setOwner(raw, self)
        core.register(self)
        let status = uv_signal_start(raw, onSignal, number)
        precondition(status == 0, "cannot handle signal \(number): \(uvText(status))")
    }

    func report(_ number: Int32) {
        guard raw != nil else { return }
        core.watch("signal \(number)") { handler(number) }
    }

    func close() {
        guard let raw else { return }
        self.raw = nil
        core.unregister(self)
        closeHandle(raw)
        if number == SIGHUP { signal(SIGHUP, SIG_IGN) }
    }
}

private func onSignal(_ handle: UnsafeMutablePointer<uv_signal_t>?, _ number: Int32) {
    owner(handle!.pointee.data, as: SignalHandle.self).report(number)
}

/// For the whole process: a write to a pipe that nobody reads, or beyond the allowed size of a file (SIGXFSZ), becomes
/// an error of that write and does not end the process. Child processes do not inherit this.
package func ignoreSIGPIPE() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
}
