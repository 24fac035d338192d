// feedbus: what becomes of groups and windows when the flow of them has ended.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct PartTests {
    /// 1, 2, 3, … at 10, 20, 30 ms … after the start, then completion or an error; tells when it was released.
    private func ticks(
        _ count: Int, _ clock: any EventClock, error: TestError? = nil, released: Recorder<Int> = Recorder()
    ) -> Flow<Int> {
        Flow { emit in
            defer { released.append(milliseconds(clock)) }
            for number in 1...count {
                try await clock.sleep(for: .milliseconds(10))
                try await emit(Chunk(one: number))
            }
            try await clock.sleep(for: .milliseconds(10))
            if let error { throw error }
        }
    }

    private static let seeds: [UInt64?] = [nil] + (0..<20).map { $0 }

    // MARK: - The consumer wants no more parts

    @Test(arguments: [1, 2]) func takenGroupsGoOnUntilTheSourceHasEnded(_ count: Int) throws {
        for seed in Self.seeds {
            try Simulation.run(seed: seed) { simulation in
                let released = Recorder<Int>()
                let groups = ticks(6, simulation.clock, released: released).groupBy { $0 % 3 }
                let taken = try await groups.take(count).flatMap { $0.flow }.array()
                #expect(taken == [[1, 4], [1, 2, 4, 5]][count - 1])
                #expect(released.values == [70])
            }
        }
    }

    @Test func aSynchronousSourceGoesOnToo() throws {
        for chunk in 1...5 {
            try Simulation.run { _ in
                let groups = Flow.from([1, 2, 1, 2, 1], chunk: chunk).groupBy { $0 }
                let one = try await groups.take(1).flatMap { $0.flow }.array()
                #expect(one == [1, 1, 1])
                let small = try await groups.takeWhile { $0.key < 2 }.flatMap { $0.flow }.array()
                #expect(small == [1, 1, 1])
            }
        }
    }

    @Test func theSourceIsStoppedWhenTheTakenPartsHaveBeenLeft() throws {
        try Simulation.run { simulation in
            let released = Recorder<Int>()
            let groups = ticks(9, simulation.clock, released: released).groupBy { $0 % 2 }
            // 1 and 3 of one group, 2 of the other. A group that is left is not opened anew.
            let taken = try await groups.take(2).flatMap { $0.flow.take($0.key + 1) }.array()
            #expect(taken == [1, 2, 3])
            #expect(released.values == [30])
        }
    }

    @Test func aGroupThatWaitsInAQueueKeepsItsElements() throws {
        for seed in Self.seeds {
            try Simulation.run(seed: seed) { simulation in
                let groups = ticks(6, simulation.clock).groupBy { $0 % 2 }
                let parts = try await groups.take(2).flatMap(maxConcurrent: 1) { $0.flow.take(2) }.array()
                #expect(parts == [1, 3, 2, 4])
            }
        }
    }

    @Test func anEndlessSourceThatNeverWaitsIsStopped() throws {
        for seed in Self.seeds {
            try Simulation.run(seed: seed) { simulation in
                let emitted = Recorder<Int>()
                let endless = Flow<Int> { emit in
                    var number = 0
                    while true {
                        number += 1
                        emitted.append(number)
                        try await emit(Chunk(one: number))
                    }
                }
                let windows = endless.window(count: 3, time: nil, clock: simulation.clock)
                let full = try await windows.take(1).flatMap { $0 }.array()
                #expect(full == [1, 2, 3])
                // It was under way while the first window was handed on: one more waits, one more is open.
                #expect(emitted.values.count <= 9)
                let left = try await windows.take(1).flatMap { $0.take(2) }.array()
                #expect(left == [1, 2])
                let grouped = try await endless.groupBy { $0 % 2 }.take(1).flatMap { $0.flow.take(2) }.array()
                #expect(grouped == [1, 3])
                let held = try await endless.groupBy { $0 % 2 }.take(2).array()
                #expect(held.map(\.key) == [1, 0])
            }
        }
    }

    @Test func aFullWindowOfASlowConsumerHoldsNobody() throws {
        try Simulation.run { simulation in
            let released = Recorder<Int>()
            let windows = ticks(9, simulation.clock, released: released)
                .window(count: 2, time: nil, clock: simulation.clock)
            // The second window waits in the queue while the first one, long complete, is worked on.
            let slow = windows.take(2).flatMap(maxConcurrent: 1) { window in
                window.mapAsync { number in
                    try await simulation.clock.sleep(for: .milliseconds(100))
                    return number
                }
            }
            let all = try await slow.array()
            #expect(all == [1, 2, 3, 4])
            #expect(released.values == [40])
        }
    }

    @Test func theSourcesErrorReachesTheTakenGroups() throws {
        try Simulation.run { simulation in
            let groups = ticks(4, simulation.clock, error: TestError("E")).groupBy { $0 % 2 }
            #expect(await Outcome(of: groups.take(1).flatMap { $0.flow }) == Outcome([1, 3], "E"))
            let mended = groups.take(1).flatMap { $0.flow.replaceError(with: 9) }
            #expect(await Outcome(of: mended) == Outcome([1, 3, 9]))
            let throwing = ticks(4, simulation.clock).groupBy { number in
                if number == 4 { throw TestError("key") }
                return number % 2
            }
            #expect(await Outcome(of: throwing.take(1).flatMap { $0.flow }) == Outcome([1, 3], "key"))
        }
    }

    @Test func aTakenWindowGoesOnUntilItIsFullOrOld() throws {
        for seed in Self.seeds {
            try Simulation.run(seed: seed) { simulation in
                let released = Recorder<Int>()
                let source = ticks(9, simulation.clock, released: released)
                let full = source.window(count: 2, time: nil, clock: simulation.clock)
                let one = try await full.take(1).flatMap { $0 }.array()
                #expect(one == [1, 2])
                let two = try await full.take(2).flatMap { $0 }.array()
                #expect(two == [1, 2, 3, 4])
                let old = source.window(time: .milliseconds(35), clock: simulation.clock)
                let timed = try await old.take(1).flatMap { $0 }.array()
                #expect(timed == [1, 2, 3])
                // At 20 of the first, at 40 of the second, at 35 of the third.
                #expect(released.values == [20, 60, 95])
            }
        }
    }

    @Test func anotherTaskMayCollectTheTakenPart() throws {
        try Simulation.run { simulation in
            let groups = ticks(4, simulation.clock).groupBy { $0 % 2 }
            let result = Recorder<Task<[Int], any Error>>()
            try await groups.take(1).collect { chunk in
                let group = chunk[0]
                result.append(Task(executorPreference: simulation.loop) { try await group.flow.array() })
            }
            // It has been taken up before the end of the outer flow, which waits for it.
            #expect(milliseconds(simulation.clock) == 50)
            #expect(try await result.values[0].value == [1, 3])
        }
    }

    // MARK: - Nobody is left to run the source

    @Test func aPartThatIsTakenUpTooLateSaysSo() throws {
        try Simulation.run { simulation in
            let released = Recorder<Int>()
            let source = ticks(4, simulation.clock, released: released)
            let group = try #require(try await source.groupBy { $0 % 2 }.first())
            let window = try #require(try await source.window(time: nil, clock: simulation.clock).first())
            #expect(released.values == [10, 10])
            // What waits in it comes first. It is an error like any other.
            #expect(await Outcome(of: group.flow.catch { .just(isPartEnded($0) ? 7 : 8) }) == Outcome([1, 7]))
            #expect(await Outcome(of: window.replaceError(with: 9)) == Outcome([9]))
        }
    }

    @Test func aPartOfACancelledFlowSaysSo() throws {
        for seed in Self.seeds {
            try Simulation.run(seed: seed) { simulation in
                let released = Recorder<Int>()
                let source = ticks(6, simulation.clock, released: released)
                let stop = Flow<Int>.timer(.milliseconds(35), clock: simulation.clock)
                let groups = source.groupBy { $0 % 2 }.takeUntil(stop)
                let grouped = groups.flatMap { $0.flow.catch { .just(isPartEnded($0) ? 7 : 8) } }
                #expect(await Outcome(of: grouped) == Outcome([1, 2, 3, 7, 7]))
                let windows = source.window(count: 2, time: nil, clock: simulation.clock).takeUntil(stop)
                let windowed = windows.flatMap { $0.catch { .just(isPartEnded($0) ? 7 : 8) } }
                #expect(await Outcome(of: windowed) == Outcome([1, 2, 3, 7]))
                #expect(released.values == [35, 70])
            }
        }
    }

    @Test func theWholeCancelledIsCancelled() throws {
        for seed in Self.seeds {
            for isTaken in [false, true] {
                try Simulation.run(seed: seed) { simulation in
                    let released = Recorder<Int>()
                    let source = ticks(9, simulation.clock, released: released)
                    let groups = source.groupBy { $0 % 2 }
                    let windows = source.window(count: 5, time: nil, clock: simulation.clock)
                    let seen = Recorder<Int>()
                    let flows = [
                        (isTaken ? groups.take(1) : groups).flatMap { $0.flow.replaceError(with: 9) },
                        (isTaken ? windows.take(1) : windows).flatMap { $0.replaceError(with: 9) },
                    ]
                    for flow in flows {
                        let task = Task(executorPreference: simulation.loop) {
                            try await flow.collect { seen.append(contentsOf: $0) }
                        }
                        try await simulation.clock.sleep(for: .milliseconds(25))
                        task.cancel()
                        await #expect(throws: CancellationError.self) { try await task.value }
                    }
                    #expect(seen.values == [1] + (isTaken ? [] : [2]) + [1, 2])
                    #expect(released.values == [25, 50])
                }
            }
        }
    }
}

private func milliseconds(_ clock: any EventClock) -> Int { Int(clock.now.nanoseconds / 1_000_000) }

private func isPartEnded(_ error: any Error) -> Bool { (error as? FeedbusError)?.code == .partEnded }
