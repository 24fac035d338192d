// feedbus: tests of the manual loop and the virtual clock, and of the facts about tasks that the flows build on.

import FeedbusBase
import FeedbusTestKit
import Synchronization
import Testing

@Suite struct SimulationTests {
    @Test func sleepersWakeInOrderOfTheirDeadlinesAndThenOfTheirArrival() throws {
        let log = Recorder<String>()
        try Simulation.run { simulation in
            await withTaskGroup { group in
                for (name, time) in [("c", 30), ("a", 10), ("b1", 20), ("b2", 20)] {
                    group.addTask {
                        try? await simulation.clock.sleep(for: .milliseconds(time))
                        log.append("\(simulation.clock.now.nanoseconds / 1_000_000):\(name)")
                    }
                }
            }
        }
        #expect(log.values == ["10:a", "20:b1", "20:b2", "30:c"])
    }

    @Test func aSleepEndsAtOnceWhenItIsCancelled() throws {
        try Simulation.run { simulation in
            let task = Task(executorPreference: simulation.loop) {
                try await simulation.clock.sleep(for: .seconds(1000))
            }
            try await simulation.clock.sleep(for: .milliseconds(5))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(simulation.clock.now == Instant(nanoseconds: 5_000_000))
        }
    }

    @Test func advanceRunsWhatIsDueAndNoMore() throws {
        let loop = ManualLoop()
        let clock = VirtualClock(loop: loop)
        let log = Recorder<Int>()
        let task = Task(executorPreference: loop) {
            for number in 1...3 {
                try await clock.sleep(for: .seconds(10))
                log.append(number)
            }
        }
        clock.advance(by: .seconds(25))
        #expect(log.values == [1, 2])
        #expect(clock.now == Instant(nanoseconds: 25_000_000_000))
        task.cancel()
        loop.runUntilIdle()
        #expect(clock.sleeperCount == 0)
    }

    @Test func aBodyThatWaitsForNothingIsReportedAsStuck() throws {
        #expect(throws: SimulationFailure.self) {
            try Simulation.run { _ in
                await withTaskCancellationHandler {
                } onCancel: {
                }
                try await Gate().wait()
            }
        }
    }

    @Test func aSeedFixesTheOrderOfReadyJobs() throws {
        func order(_ seed: UInt64) throws -> [Int] {
            let log = Recorder<Int>()
            try Simulation.run(seed: seed) { _ in
                await withTaskGroup { group in
                    for number in 0..<20 { group.addTask { log.append(number) } }
                }
            }
            return log.values
        }
        #expect(try order(1) == order(1))
        #expect(try order(1) != order(2))
        #expect(try order(1).sorted() == Array(0..<20))
    }

    // MARK: - Facts

    @Test func childTasksInheritTheExecutorPreference() throws {
        try Simulation.run { simulation in
            await withTaskGroup { group in
                group.addTask { #expect(simulation.loop.isOnLoop) }
                group.addTask {
                    await Task.yield()
                    #expect(simulation.loop.isOnLoop)
                }
            }
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    await Task.yield()
                    #expect(simulation.loop.isOnLoop)
                }
                group.addImmediateTask {
                    await Task.yield()
                    #expect(simulation.loop.isOnLoop)
                }
            }
        }
    }

    @Test func anImmediateChildTaskRunsToItsFirstSuspensionAtOnce() throws {
        let log = Recorder<Int>()
        try Simulation.run { simulation in
            await withDiscardingTaskGroup { group in
                group.addImmediateTask {
                    log.append(1)
                    await Task.yield()
                    log.append(3)
                    #expect(simulation.loop.isOnLoop)
                }
                log.append(2)
            }
        }
        #expect(log.values == [1, 2, 3])
    }

    @Test func theCurrentExecutorPreferenceCanBePassedToAnUnstructuredTask() throws {
        try Simulation.run { simulation in
            let preference = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
            #expect(preference === simulation.loop)
            await Task.immediate(executorPreference: preference) {
                await Task.yield()
                #expect(simulation.loop.isOnLoop)
            }.value
            // The same inside a child task.
            await withDiscardingTaskGroup { group in
                group.addTask {
                    let preference = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
                    #expect(preference === simulation.loop)
                }
            }
        }
    }
}
