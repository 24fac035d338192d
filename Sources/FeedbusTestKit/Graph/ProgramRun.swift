// feedbus: one simulated program that runs.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import Synchronization

/// The streams and the end of a simulated program.
final class ProgramRun: SimulatedChild {
    private struct State {
        var task: Task<Void, any Error>?
        var exit: ChildExit?
        var waiters: [CheckedContinuation<ChildExit, Never>] = []
    }

    /// A pipe holds about so many writes.
    private static let pipe = 16

    let input = Edge<Bytes>(capacity: pipe)
    let output = Edge<Bytes>(capacity: pipe)
    let errors = Edge<Bytes>(capacity: pipe)
    let pid: Int32
    private let command: ChildCommand
    private let life: SimulatedLife
    private let state = Mutex(State())

    init(command: ChildCommand, life: SimulatedLife) {
        self.command = command
        self.life = life
        pid = life.nextProcess()
        if !command.stdin { input.finish() }
        if !command.stdout { output.close() }
        if !command.stderr { errors.close() }
    }

    func start(_ program: SimulatedProgram, on host: LifeHost) {
        life.note("start program \(pid): \(command.arguments.joined(separator: " ").prefix(80))")
        let task = host.task {
            let streams = SimulatedProgram.Streams(arguments: self.command.arguments, run: self)
            do { self.end(.code(try await program.main(streams))) } catch { self.end(.code(1)) }
        }
        state.withLock { $0.task = task }
    }

    private func end(_ exit: ChildExit) {
        let waiters: [CheckedContinuation<ChildExit, Never>]? = state.withLock { state in
            guard state.exit == nil else { return nil }
            state.exit = exit
            defer { state.waiters = [] }
            return state.waiters
        }
        guard let waiters else { return }
        life.note("end of program \(pid): \(exit)")
        input.close()
        output.finish()
        errors.finish()
        for waiter in waiters { waiter.resume(returning: exit) }
    }

    // MARK: - The plugin's side

    func readOutput() async throws -> Bytes? { try await output.next()?.joined }

    func readErrors() async throws -> Bytes? { try await errors.next()?.joined }

    func write(_ bytes: Bytes) async throws -> Bool {
        if life.chance(life.faults.programDies) {
            life.note("fault program \(pid) dies")
            kill(9)
        }
        do { try await input.send([bytes]) } catch is EdgeClosed { return false }
        return true
    }

    func closeInput() { input.finish() }

    func wait() async -> ChildExit {
        await withCheckedContinuation { continuation in
            let exit = state.withLock { state in
                if state.exit == nil { state.waiters.append(continuation) }
                return state.exit
            }
            if let exit { continuation.resume(returning: exit) }
        }
    }

    /// Any signal ends it.
    func kill(_ signal: Int32) {
        end(.signal(signal))
        state.withLock { $0.task }?.cancel()
    }

    func abandon() {
        kill(15)
        output.close()
        errors.close()
    }
}

extension Chunk<Bytes> {
    /// All of it as one run of bytes.
    var joined: Bytes {
        if count == 1 { return self[0] }
        var writer = ByteWriter(capacity: reduce(0) { $0 + $1.count })
        for bytes in self { writer.append(bytes) }
        return writer.finish()
    }
}
