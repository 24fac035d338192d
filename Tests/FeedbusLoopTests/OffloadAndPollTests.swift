// feedbus: the pool, watched descriptors and signals.

import FeedbusBase
import FeedbusLoop
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OffloadAndPollTests {
    @Test func workRunsOnThePoolAndItsResultComesBackToTheLoop() async throws {
        try await withLoop { loop in
            let before = (jobs: loop.enqueueCount, wakes: loop.wakeCount)
            let wasOnLoop = try await loop.offload { loop.isOnLoop }
            #expect(!wasOnLoop && loop.isOnLoop)
            #expect(loop.enqueueCount == before.jobs + 1 && loop.wakeCount == before.wakes)
            await #expect(throws: FileError.self) {
                try await loop.offload { throw FileError(errno: ENOENT, operation: "open", path: "x") }
            }
        }
    }

    @Test func workRunsToItsEndWhenItsTaskIsCancelled() async throws {
        try await withLoop { loop in
            let (begun, goOn) = (Gate(), ThreadGate())
            let task = loop.task {
                try await loop.offload {
                    begun.open()
                    goOn.wait()
                    return 7
                }
            }
            await begun.wait()
            task.cancel()
            goOn.open()
            let result = try await task.value
            #expect(result == 7)
        }
    }

    @Test func theLoopWaitsForThePoolAtItsEnd() async throws {
        let loop = try makeLoop("pool")
        let thread = try LoopThread(running: loop)
        let (begun, goOn) = (Gate(), ThreadGate())
        let task = loop.task {
            try await loop.offload {
                begun.open()
                goOn.wait()
                return 7
            }
        }
        await begun.wait()
        loop.stop()
        goOn.open()
        let result = try await task.value
        #expect(result == 7)
        await thread.join()
    }

    @Test func aPollReportsReadinessUntilItIsStopped() async throws {
        try await withLoop { loop in
            var ends: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            defer { for end in ends { close(end) } }
            let events = Mutex<[PollEvents]>([])
            let (writable, readable) = (Gate(), Gate())
            let poll = try loop.makePoll(fd: ends[0]) { ready in
                loop.preconditionOnLoop()
                events.withLock { $0.append(ready) }
                if ready.contains(.writable) { writable.open() }
                if ready.contains(.readable) { readable.open() }
            }
            poll.start(.writable)
            await writable.wait()
            poll.start(.readable)
            events.withLock { $0 = [] }
            try #require(write(ends[1], "x", 1) == 1)
            await readable.wait()
            poll.stop()
            let count = events.withLock { $0.count }
            #expect(events.withLock { $0.first } == .readable)
            try await loop.clock.sleep(for: .milliseconds(2))
            #expect(events.withLock { $0.count } == count)

            // Watching it twice is refused; after `close()` it can be watched anew.
            #expect(throws: FeedbusError.self) {
                poll.start(.readable)
                _ = try loop.makePoll(fd: ends[0]) { _ in }
            }
            poll.close()
            poll.close()
            poll.start(.readable)
            let gone = Gate()
            let again = try loop.makePoll(fd: ends[0]) { ready in if ready.contains(.disconnected) { gone.open() } }
            again.start(.disconnected)
            shutdown(ends[1], Int32(SHUT_RDWR))
            await gone.wait()
        }
    }

    @Test func aPlainFileCannotBeWatched() async throws {
        try await withLoop { loop in
            let fd = open("/etc/passwd", O_RDONLY)
            defer { close(fd) }
            #expect(throws: FeedbusError.self) { try loop.makePoll(fd: fd) { _ in } }
            #expect(throws: FeedbusError.self) { try loop.makePoll(fd: -1) { _ in } }
        }
    }

    @Test func signalsArriveOnTheLoop() async throws {
        try await withLoop { loop in
            let seen = Mutex<[Int32]>([])
            let (first, second) = (Gate(), Gate())
            loop.onSignals([SIGUSR1, SIGUSR2]) { number in
                loop.preconditionOnLoop()
                seen.withLock { $0.append(number) }
                (number == SIGUSR1 ? first : second).open()
            }
            kill(getpid(), SIGUSR1)
            await first.wait()
            kill(getpid(), SIGUSR2)
            await second.wait()
            #expect(seen.withLock { $0 } == [SIGUSR1, SIGUSR2])
        }
    }
}
