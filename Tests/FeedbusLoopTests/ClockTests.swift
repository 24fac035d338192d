// feedbus: sleep and timers of a loop.

import FeedbusBase
import FeedbusLoop
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ClockTests {
    @Test func sleepStaysOnTheLoopAndIsNotShort() async throws {
        try await withLoop { loop in
            let clock = loop.clock
            let before = (jobs: loop.enqueueCount, wakes: loop.wakeCount)
            for milliseconds in [1, 2, 5] {
                let start = clock.now
                try await clock.sleep(for: .milliseconds(milliseconds))
                #expect(clock.now - start >= .milliseconds(milliseconds))
                #expect(loop.isOnLoop)
            }
            #expect(loop.enqueueCount == before.jobs + 3)
            #expect(loop.wakeCount == before.wakes)
        }
    }

    @Test func theLoopStandsStillWhileItsTasksSleep() async throws {
        try await withLoop { loop in
            let other = loop.task { try await loop.clock.sleep(for: .seconds(3_600)) }
            let before = loop.iterationCount
            try await loop.clock.sleep(for: .milliseconds(50))
            #expect(loop.iterationCount <= before + 3)
            other.cancel()
        }
    }

    @Test func aPastDeadlineReturnsAtOnce() async throws {
        try await withLoop { loop in
            let before = loop.enqueueCount
            try await loop.clock.sleep(for: .seconds(-1))
            try await loop.clock.sleep(until: loop.clock.now)
            #expect(loop.enqueueCount == before)
        }
    }

    @Test func sleepIsCancelledAtOnce() async throws {
        try await withLoop { loop in
            for deadline in [Instant(nanoseconds: .max), loop.clock.now + .seconds(3_600)] {
                let asleep = Gate()
                let task = loop.task {
                    asleep.open()
                    try await loop.clock.sleep(until: deadline)
                }
                await asleep.wait()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test func sleepIsCancelledFromAnotherThread() async throws {
        try await withLoop { loop in
            for _ in 0..<200 {
                let task = loop.task { try await loop.clock.sleep(for: .seconds(3_600)) }
                await Task.detached { task.cancel() }.value
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test func aCancelledTaskDoesNotBeginToSleep() async throws {
        try await withLoop { loop in
            let (go, cancelled) = (Gate(), Gate())
            let task = loop.task {
                go.open()
                await cancelled.wait()
                try await loop.clock.sleep(for: .seconds(3_600))
            }
            await go.wait()
            task.cancel()
            cancelled.open()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func sleepWorksOutsideTheLoop() async throws {
        let loop = try makeLoop("outside")
        let thread = try LoopThread(running: loop)
        let start = loop.clock.now
        try await loop.clock.sleep(for: .milliseconds(2))
        #expect(loop.clock.now - start >= .milliseconds(2))
        let task = Task { try await loop.clock.sleep(for: .seconds(3_600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        loop.stop()
        await thread.join()
    }

    @Test func sleepersWakeInTheOrderOfTheirDeadlines() async throws {
        try await withLoop { loop in
            var random = SplitMix64(seed: 1)
            let delays = (0..<200).map { _ in Int.random(in: 0...20, using: &random) }
            let order = Mutex<[Int]>([])
            var lead = 50
            var isInTime = false
            // Once more, with a longer lead, where the machine was too slow to have all asleep before the first deadline.
            while !isInTime {
                order.withLock { $0 = [] }
                let first = loop.clock.now + .milliseconds(lead)
                let asleep = Counter()
                let tasks = delays.map { delay in
                    loop.task {
                        asleep.increment()
                        try await loop.clock.sleep(until: first + .milliseconds(delay))
                        order.withLock { $0.append(delay) }
                    }
                }
                while asleep.value < tasks.count { await Task.yield() }
                isInTime = loop.clock.now < first
                for task in tasks { try await task.value }
                lead *= 2
            }
            #expect(order.withLock { $0 } == delays.sorted())
        }
    }

    @Test func thousandsOfSleepersAreCancelled() async throws {
        try await withLoop { loop in
            let tasks = (0..<10_000).map { index in
                loop.task { try await loop.clock.sleep(for: .seconds(3_600 + index % 97)) }
            }
            await Task.yield()
            for task in tasks { task.cancel() }
            var cancelled = 0
            for task in tasks where await (task.result.isCancelled) { cancelled += 1 }
            #expect(cancelled == 10_000)
        }
    }

    @Test func wallTimeIsNow() async throws {
        try await withLoop { loop in
            #expect(loop.clock.wallTime > WallTime(seconds: 1_700_000_000))
            let first = loop.clock.now
            #expect(loop.clock.now >= first)
        }
    }

    @Test func aTimerFiresOnceAndCanBeMovedAndStopped() async throws {
        try await withLoop { loop in
            let fired = Mutex<[String]>([])
            let done = Gate()
            let stopped = loop.makeTimer { fired.withLock { $0.append("stopped") } }
            let last = loop.makeTimer {
                fired.withLock { $0.append("last") }
                done.open()
            }
            let moved = loop.makeTimer {
                fired.withLock { $0.append("moved") }
                // Started here, so that the order does not hang on how fast the machine is.
                last.start(after: .milliseconds(5))
            }
            moved.start(after: .seconds(3_600))
            stopped.start(after: .milliseconds(1))
            moved.start(after: .milliseconds(2))
            stopped.stop()
            loop.makeTimer { fired.withLock { $0.append("dropped") } }.start(after: .milliseconds(1))
            #expect(fired.withLock { $0 } == [])
            await done.wait()
            #expect(fired.withLock { $0 } == ["moved", "last"])
            moved.close()
            last.close()
        }
    }

    @Test func aTimerThatStartsItselfLetsOthersIn() async throws {
        try await withLoop { loop in
            let count = Counter()
            let box = Mutex<LoopTimer?>(nil)
            let timer = loop.makeTimer {
                count.increment()
                box.withLock { $0 }?.start(after: .zero)
            }
            box.withLock { $0 = timer }
            timer.start(after: .zero)
            while count.value < 100 { try await loop.clock.sleep(for: .milliseconds(1)) }
            box.withLock { $0 = nil }
            timer.stop()
        }
    }
}

extension Result {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { return error is CancellationError }
        return false
    }
}
