// feedbus: the loop host of a simulated program: slow work is one more job in the seeded order.

import FeedbusBase
import FeedbusLoop

/// A class, so that whether anybody still holds it tells whether a task or plugin was left behind.
final class LifeHost: LoopHost {
    private let life: SimulatedLife
    private let loop: ManualLoop
    private let programs: [String: SimulatedProgram]

    init(_ life: SimulatedLife, _ loop: ManualLoop, programs: [String: SimulatedProgram]) {
        self.life = life
        self.loop = loop
        self.programs = programs
    }

    var serialExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    var taskExecutor: any TaskExecutor { loop.first }

    /// The work is done on the loop, later: jobs that are ready meanwhile may come before it, and before its answer.
    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try life.checkAlive()
        let result = await later { Result { try work() } }
        _ = await later {}
        return try result.get()
    }

    /// Lets time or other jobs pass, and calls `body`. Not cut short by cancellation, as the real pool's work is not.
    private func later<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        let pause = life.pause(upTo: life.faults.poolDelay)
        let task = task { [clock = life.clock] in
            try? await clock.sleep(for: pause)
            return body()
        }
        // The task throws nothing.
        return try! await task.value
    }

    /// Starts the simulated program of this name.
    /// - Throws: `FeedbusError` (`exec.not-found`) where the simulation has none.
    func spawn(_ command: ChildCommand) async throws -> ChildProcess {
        try life.checkAlive()
        let name = command.arguments.first ?? ""
        guard let program = programs[SimulatedProgram.baseName(name)] else {
            throw FeedbusError(.execNotFound, "cannot start \(name): there is no such program in this simulation")
        }
        let run = ProgramRun(command: command, life: life)
        run.start(program, on: self)
        return ChildProcess(simulated: run, pid: run.pid)
    }
}
