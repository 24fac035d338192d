// feedbus: tests of the poll schedule.

import FeedbusBase
import FeedbusTestKit
import Testing

@testable import FeedbusHTTP

@Suite struct PollerTests {
    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func startsAreSpreadOverATenthOrTwoSeconds() {
        for (every, most) in [(Duration.seconds(1), 0.1), (.seconds(30), 2.0), (.seconds(86_400), 2.0)] {
            let starts = (0..<200).map { seed in
                var schedule = PollSchedule(every: every, seed: UInt64(seed) &* 0x9E37_79B9)
                return schedule.startJitter().seconds
            }
            #expect(starts.allSatisfy { $0 >= 0 && $0 < most })
            #expect(starts.max()! - starts.min()! > most * 0.8)
        }
    }

    @Test func neverSoonerThanEveryAndNeverAWholeTenthLater() {
        var schedule = PollSchedule(every: .seconds(10), seed: 1)
        for _ in 0..<200 {
            let next = schedule.next(startedAt: at(100), now: at(101), minimumWait: .zero)
            #expect(next >= at(110) && next < at(111))
        }
    }

    @Test(arguments: [
        // taken, asked, then: seconds from the start of the poll, and ticks skipped
        (0.0, 0, 10.0, 0), (9.9, 0, 10.0, 0), (10.0, 0, 10.0, 0), (10.1, 0, 20.0, 1), (17.0, 0, 20.0, 1),
        (35.0, 0, 40.0, 3),
        (1.0, 60, 61.0, 0), (1.0, 5, 10.0, 0), (25.0, 60, 85.0, 2),
    ]) func nextPoll(_ taken: Double, _ asked: Int, _ due: Double, _ skipped: Int) {
        var schedule = PollSchedule(every: .seconds(10), seed: 1)
        let next = schedule.next(startedAt: at(0), now: at(taken), minimumWait: .seconds(asked))
        #expect(next >= at(due) && next < at(due + 1))
        #expect(schedule.skipped == skipped)
    }

    @Test func failingPollsSlowDownAndRecover() {
        var schedule = PollSchedule(every: .seconds(60), seed: 1)
        let waits = (0..<6).map { _ in (schedule.nextAfterFailure(startedAt: at(0), now: at(0)) - at(0)).seconds }
        for (wait, expected) in zip(waits, [300.0, 600, 1_200, 2_400, 3_600, 3_600]) {
            #expect(wait >= expected && wait < expected + 6)
        }
        _ = schedule.next(startedAt: at(0), now: at(0), minimumWait: .zero)
        #expect((schedule.nextAfterFailure(startedAt: at(0), now: at(0)) - at(0)).seconds < 306)
        var slow = PollSchedule(every: .seconds(7_200), seed: 1)
        for _ in 0..<3 { #expect(slow.nextAfterFailure(startedAt: at(0), now: at(1)) >= at(7_201)) }
    }

    /// Polls that note when they ran.
    private actor Polls {
        var starts: [Double] = []
        let clock: any EventClock
        init(_ clock: any EventClock) { self.clock = clock }
        func begin() -> Int {
            starts.append(Double(clock.now.nanoseconds) / 1e9)
            return starts.count
        }
    }

    @Test func polledUntilComplete() throws {
        let starts = try Simulation.run { simulation in
            let polls = Polls(simulation.clock)
            let poller = Poller(
                every: .seconds(10), once: false, immediate: false, clock: simulation.clock, log: .silent, seed: 3)
            try await poller.run { await polls.begin() == 4 ? nil : PollResult(minimumWait: .seconds(20)) }
            return await polls.starts
        }
        #expect(starts.count == 4)
        #expect(starts[0] > 0 && starts[0] < 1)
        for (one, next) in zip(starts, starts.dropFirst()) { #expect(next - one >= 20 && next - one < 21) }
    }

    @Test func offlineStartsAtOnce() throws {
        let starts = try Simulation.run { simulation in
            let polls = Polls(simulation.clock)
            let poller = Poller(
                every: .seconds(10), once: false, immediate: true, clock: simulation.clock, log: .silent, seed: 3)
            try await poller.run { await polls.begin() == 1 ? nil : PollResult() }
            return await polls.starts
        }
        #expect(starts == [0])
    }

    @Test func onceIsOnePollAtOnceAndItsErrorIsThrownOn() throws {
        try Simulation.run { simulation in
            let polls = Polls(simulation.clock)
            let poller = Poller(
                every: .seconds(10), once: true, immediate: false, clock: simulation.clock, log: .silent, seed: 3)
            try await poller.run {
                _ = await polls.begin()
                return PollResult(minimumWait: .seconds(99))
            }
            let error = await failure {
                try await poller.run {
                    _ = await polls.begin()
                    throw FeedbusError(.httpStatus, "404")
                }
            }
            #expect(error?.code == .httpStatus)
            let starts = await polls.starts
            #expect(starts == [0, 0])
        }
    }

    @Test func aFailureIsReportedAndTheNextPollIsSlow() throws {
        let lines = LogLines()
        let starts = try Simulation.run { simulation in
            let polls = Polls(simulation.clock)
            let poller = Poller(
                every: .seconds(20), once: false, immediate: true, clock: simulation.clock, log: lines.log(), seed: 3)
            try await poller.run {
                switch await polls.begin() {
                case 1: throw FeedbusError(.httpStatus, "GET http://h/: 403 Forbidden: \"teapot\"")
                case 2: return PollResult()
                default: return nil
                }
            }
            return await polls.starts
        }
        #expect(starts[1] >= 300 && starts[1] < 302)
        #expect(starts[2] - starts[1] >= 20 && starts[2] - starts[1] < 22)
        #expect(lines.messages(.error).count == 1)
        #expect(lines.messages(.error)[0].contains("teapot"))
    }

    @Test func slowPollsAreSkippedAndCounted() throws {
        let lines = LogLines()
        let starts = try Simulation.run { simulation in
            let polls = Polls(simulation.clock)
            let poller = Poller(
                every: .seconds(1), once: false, immediate: true, clock: simulation.clock, log: lines.log(), seed: 3)
            try await poller.run {
                if await polls.begin() == 9 { return nil }
                try await simulation.clock.sleep(for: .milliseconds(1_700))
                return PollResult()
            }
            return await polls.starts
        }
        for (one, next) in zip(starts, starts.dropFirst()) { #expect(next - one >= 2 && next - one < 2.2) }
        // Told at 1, 2, 4 and 8 skipped polls.
        #expect(lines.messages(.info).count == 4)
        #expect(lines.messages(.info).last?.contains("8 in all") == true)
    }

    @Test func cancellationEndsTheWaitAtOnce() throws {
        try Simulation.run { simulation in
            let poller = Poller(
                every: .seconds(3_600), once: false, immediate: true, clock: simulation.clock, log: .silent, seed: 3)
            let task = Task(executorPreference: simulation.loop) { try await poller.run { PollResult() } }
            try await simulation.clock.sleep(for: .seconds(10))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(simulation.clock.now == Instant(nanoseconds: 10_000_000_000))
        }
    }
}
