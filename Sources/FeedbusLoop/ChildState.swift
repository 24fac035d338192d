// feedbus: what a loop knows of a child process.

internal import CLibuv
internal import FeedbusBase
internal import Glibc

/// A child and its pipes.
///
/// `@unchecked Sendable`: only the loop's thread uses it; `ChildProcess` comes through `perform`, which sees to that, and
/// every method that may be called from there checks it.
final class ChildState: LoopResource, @unchecked Sendable {
    private let core: LoopCore
    private var process: UnsafeMutablePointer<uv_process_t>?
    private(set) var pid: Int32 = 0
    private(set) var input: PipeWriter?
    private(set) var output: PipeReader?
    private(set) var errors: PipeReader?
    private var exit: ChildExit?
    private var waiters: [UnsafeContinuation<ChildExit, Never>] = []

    /// Starts the program.
    init(core: LoopCore, command: ChildCommand) throws {
        self.core = core
        let arguments = CStrings(command.arguments)
        let environment = command.environment.map { CStrings($0.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }) }
        var pipes = ChildPipes()
        defer { pipes.closeAll() }
        if command.stdin { try pipes.open(0) }
        if command.stdout { try pipes.open(1) }
        if command.stderr { try pipes.open(2) }

        let process = newHandle(uv_process_t.self)
        let status = pipes.withContainers { containers in
            withOptionalCString(command.workingDirectory) { directory in
                var options = uv_process_options_t()
                options.exit_cb = onExit
                options.file = UnsafePointer(arguments.pointers[0])
                options.args = arguments.pointers.baseAddress
                options.env = environment?.pointers.baseAddress
                options.cwd = directory
                options.flags = UV_PROCESS_DETACHED.rawValue
                options.stdio_count = 3
                options.stdio = containers
                return uv_spawn(core.uv, process, &options)
            }
        }
        guard status == 0 else {
            // libuv has initialised the handle all the same.
            closeHandle(process)
            throw startError(command, status)
        }
        self.process = process
        pid = process.pointee.pid
        setOwner(process, self)
        core.register(self)
        LoopGroup.shared.addChild(pid)
        input = pipes.takeOurs(0).map { PipeWriter(core: core, fd: $0) }
        output = pipes.takeOurs(1).map { PipeReader(core: core, fd: $0) }
        errors = pipes.takeOurs(2).map { PipeReader(core: core, fd: $0) }
    }

    func wait(_ continuation: UnsafeContinuation<ChildExit, Never>) {
        if let exit { continuation.resume(returning: exit) } else { waiters.append(continuation) }
    }

    fileprivate func ended(_ exit: ChildExit) {
        guard let process else { return }
        self.process = nil
        self.exit = exit
        core.unregister(self)
        LoopGroup.shared.removeChild(pid)
        closeHandle(process)
        for waiter in waiters { waiter.resume(returning: exit) }
        waiters = []
    }

    func kill(_ signal: Int32) {
        // After its end the number may belong to somebody else.
        guard process != nil else { return }
        Glibc.kill(-pid, signal)
    }

    /// Nobody refers to the child any more.
    func abandon() {
        kill(SIGTERM)
        input?.close()
        output?.close()
        errors?.close()
    }

    /// The loop ends: its end is waited for, so that no zombie is left.
    func close() { kill(SIGKILL) }
}

private func onExit(_ process: UnsafeMutablePointer<uv_process_t>?, _ code: Int64, _ signal: Int32) {
    let state = owner(process!.pointee.data, as: ChildState.self)
    state.ended(signal != 0 ? .signal(signal) : .code(Int32(truncatingIfNeeded: code)))
}

private func startError(_ command: ChildCommand, _ status: Int32) -> FeedbusError {
    let program = command.arguments[0]
    if let directory = command.workingDirectory, access(directory, X_OK) != 0 {
        return FeedbusError(
            errno == ENOENT ? .execNotFound : .execDenied,
            "cannot start \(program) in the folder \(directory): \(systemText(errno))")
    }
    switch status {
    case UV_ENOENT.rawValue: return FeedbusError(.execNotFound, "cannot start \(program): there is no such program")
    case UV_EACCES.rawValue: return FeedbusError(.execDenied, "cannot start \(program): it may not be run")
    default:
        // Too many processes or descriptors, or too little memory, may pass.
        let passing = [UV_EAGAIN.rawValue, UV_ENOMEM.rawValue, UV_EMFILE.rawValue, UV_ENFILE.rawValue]
        return FeedbusError(
            .execFailed, "cannot start \(program): \(uvText(status))", isRetriable: passing.contains(status))
    }
}

extension EventLoop {
    package func spawn(_ command: ChildCommand) async throws -> ChildProcess {
        if isOnLoop { return try startChild(command) }
        return try await withUnsafeThrowingContinuation { continuation in
            let isOpen = perform { continuation.resume(with: Result { try self.startChild(command) }) }
            if !isOpen { continuation.resume(throwing: EventLoop.closedError) }
        }
    }

    private func startChild(_ command: ChildCommand) throws -> ChildProcess {
        let core = core
        guard core.isOpen else { throw EventLoop.closedError }
        guard let program = command.arguments.first, !program.isEmpty else {
            throw FeedbusError(.execNotFound, "cannot start a program: no name is given")
        }
        guard !command.arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw FeedbusError(.execFailed, "cannot start \(program): an argument holds a NUL character")
        }
        return ChildProcess(loop: self, state: try ChildState(core: core, command: command))
    }
}
