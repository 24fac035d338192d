// feedbus: a loop as an executor.

import FeedbusBase
import FeedbusLoop
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ExecutorTests {
    @Test func callsBetweenActorsOfALoopQueueNothing() async throws {
        try await withLoop { loop in
            let (a, b) = (Hosted(loop), Hosted(loop))
            let before = loop.enqueueCount
            for _ in 0..<1_000 {
                _ = await a.increment()
                _ = await b.increment()
            }
            #expect(loop.enqueueCount == before)
            #expect(await b.increment() == 1_001)
        }
    }

    @Test func aContinuationResumedInACallbackStaysOnTheLoop() async throws {
        try await withLoop { loop in
            let before = (jobs: loop.enqueueCount, wakes: loop.wakeCount)
            let timer = Mutex<LoopTimer?>(nil)
            await withCheckedContinuation { continuation in
                let made = loop.makeTimer {
                    loop.preconditionOnLoop()
                    continuation.resume()
                }
                made.start(after: .zero)
                timer.withLock { $0 = made }
            }
            #expect(loop.isOnLoop)
            // One job, for the resume, and no other thread.
            #expect(loop.enqueueCount == before.jobs + 1)
            #expect(loop.wakeCount == before.wakes)
        }
    }

    /// What every wait of the house is built on, and the trap in it.
    @Test func aCancellationHandlerMustCaptureItsIsolation() async throws {
        @Sendable func resumeLater(_ loop: EventLoop, _ continuation: UnsafeContinuation<Void, Never>) {
            Task.detached { loop.perform { continuation.resume() } }
        }
        @Sendable func capturing(_ loop: EventLoop, isolation: isolated (any Actor)? = #isolation) async {
            await withTaskCancellationHandler {
                _ = isolation
                await withUnsafeContinuation { resumeLater(loop, $0) }
            } onCancel: {
            }
        }
        try await withLoop { loop in
            let before = loop.enqueueCount
            await capturing(loop)
            #expect(loop.enqueueCount == before + 1)
        }
    }

    @Test func aTaskOfTheLoopIsQueuedOnceForEachWait() async throws {
        try await withLoop { loop in
            let before = loop.enqueueCount
            let task = loop.task {
                for _ in 0..<10 { try await loop.clock.sleep(for: .milliseconds(1)) }
                return loop.isOnLoop
            }
            let isOnLoop = try await task.value
            // One to start, one for each sleep, and one for the test that waits.
            #expect(isOnLoop && loop.enqueueCount == before + 12)
        }
    }

    @Test func tasksAndChildTasksWithThePreferenceStayOnTheLoop() async throws {
        try await withLoop { loop in
            let wakes = loop.wakeCount
            let results = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<10 {
                    group.addTask(executorPreference: LoopGroup.shared) {
                        await Task.yield()
                        return loop.isOnLoop
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results == Array(repeating: true, count: 10))
            let isOnLoop = try await loop.task { loop.isOnLoop }.value
            #expect(isOnLoop)
            #expect(loop.wakeCount == wakes)
        }
    }

    @Test func aTaskStartedFromOutsideLandsOnItsLoop() async throws {
        let loops = try (0..<3).map { try makeLoop("loop \($0)") }
        let threads = try loops.map { try LoopThread(running: $0) }
        for loop in loops {
            #expect(try await loop.task { loop.isOnLoop }.value)
            #expect(!loop.isOnLoop)
        }
        for loop in loops { loop.stop() }
        for thread in threads { await thread.join() }
    }

    @Test func anActorIsReachedFromOutsideAndFromOtherLoops() async throws {
        try await withLoop("first") { first in
            let host = Hosted(first)
            try await withLoop("second") { second in
                #expect(second.isOnLoop && !first.isOnLoop)
                let isOnFirst = await host.isOnLoop()
                #expect(isOnFirst)
                #expect(second.isOnLoop)
            }
            #expect(first.isOnLoop)
        }
    }

    @Test func assumeIsolatedWorksInARawCallback() async throws {
        try await withLoop { loop in
            let host = Hosted(loop)
            let count = await withCheckedContinuation { continuation in
                // Posted from another thread, so that no task is running when the loop calls it.
                Task.detached {
                    loop.perform {
                        continuation.resume(
                            returning: host.assumeIsolated { host in
                                host.calls += 7
                                return host.calls
                            })
                    }
                }
            }
            #expect(count == 7)
            #expect(loop.isIsolatingCurrentContext() == true)
            loop.checkIsolated()
        }
    }

    @Test func aBurstFromOutsideWakesTheLoopOnce() async throws {
        try await withLoop { loop in
            let (blocked, free, done) = (Gate(), ThreadGate(), Gate())
            let outside = Task.detached {
                await blocked.wait()
                let before = loop.wakeCount
                for index in 0..<1_000 { loop.perform { if index == 999 { done.open() } } }
                let wakes = loop.wakeCount - before
                free.open()
                return wakes
            }
            // Stop the loop's thread here while the other one sends.
            blocked.open()
            free.wait()
            await done.wait()
            #expect(await outside.value == 1)
        }
    }

    @Test func aBurstOfJobsDoesNotStarveTimers() async throws {
        try await withLoop { loop in
            let finished = Counter()
            let finishedAtTimer = Mutex<Int?>(nil)
            let timer = loop.makeTimer { finishedAtTimer.withLock { $0 = finished.value } }
            timer.start(after: .milliseconds(1))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100_000 {
                    group.addTask(executorPreference: LoopGroup.shared) { finished.increment() }
                }
            }
            #expect(finished.value == 100_000)
            let when = try #require(finishedAtTimer.withLock { $0 })
            #expect(when < 100_000)
        }
    }

    @Test func jobsThatQueueJobsDoNotStarveTimers() async throws {
        try await withLoop { loop in
            let isOver = Atomic<Bool>(false)
            let timer = loop.makeTimer { isOver.store(true, ordering: .relaxed) }
            timer.start(after: .milliseconds(5))
            var yields = 0
            while !isOver.load(ordering: .relaxed) {
                await Task.yield()
                yields += 1
            }
            #expect(yields > 0)
        }
    }

    @Test func jobsRunInOrder() async throws {
        try await withLoop { loop in
            let order = Mutex<[Int]>([])
            let done = Gate()
            for index in 0..<10_000 {
                loop.task {
                    order.withLock { $0.append(index) }
                    if index == 9_999 { done.open() }
                }
            }
            await done.wait()
            #expect(order.withLock { $0 } == Array(0..<10_000))
        }
    }

    @Test func workSentBeforeTheRunIsDoneFirst() async throws {
        let loop = try makeLoop("early")
        let seen = Mutex<[String]>([])
        loop.perform { seen.withLock { $0.append("work") } }
        loop.onClose { seen.withLock { $0.append("close") } }
        loop.stop()
        let thread = try LoopThread(running: loop)
        await thread.join()
        #expect(seen.withLock { $0 } == ["work", "close"])
        #expect(!loop.perform {})
        #expect(throws: FeedbusError.self) { try loop.run() }
        await #expect(throws: FeedbusError.self) { try await loop.offload {} }
        await #expect(throws: CancellationError.self) { try await loop.clock.sleep(for: .seconds(60)) }
        await #expect(throws: FeedbusError.self) { try await loop.spawn(ChildCommand(["true"])) }
        await #expect(throws: FeedbusError.self) { try await loop.task {}.value }
    }

    @Test func theEndOfALoopEndsWhatWaitsOnIt() async throws {
        let loop = try makeLoop("end")
        let thread = try LoopThread(running: loop)
        let (asleep, started) = (Gate(), Gate())
        let sleeper = loop.task {
            asleep.open()
            try await loop.clock.sleep(for: .seconds(3_600))
        }
        let child = loop.task {
            let child = try await loop.spawn(ChildCommand(["sleep", "3600"]))
            started.open()
            _ = try await child.readOutput()
            return await child.wait()
        }
        let stubborn = loop.task {
            // Ends although it never obeys.
            for _ in 0..<1_000 { try? await loop.clock.sleep(for: .seconds(3_600)) }
        }
        await asleep.wait()
        await started.wait()
        loop.stop()
        await thread.join()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(try await child.value == .signal(9))
        try await stubborn.value
    }

    #if DEBUG
        @Test func aSlowJobIsReported() async throws {
            try await withLoop { loop in
                let reports = Mutex<[Duration]>([])
                loop.slowCallback = { _, taken in reports.withLock { $0.append(taken) } }
                let clock = loop.clock
                let end = clock.now + .milliseconds(60)
                while clock.now < end {}
                await Task.yield()
                #expect(reports.withLock { $0.contains { $0 >= .milliseconds(60) } })
            }
        }
    #endif
}
