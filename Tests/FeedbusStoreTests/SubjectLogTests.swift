// feedbus: logs of durable subjects, on a real SQLite file.

import FeedbusBase
import FeedbusLoop
import Synchronization
import Testing

@testable import FeedbusStore

/// A host whose pool works only when it is told to, and counts what it is given.
private final class HeldHost: LoopHost {
    private let here = HereHost()
    private let state = Synchronization.Mutex<(calls: Int, isHeld: Bool, waiting: [CheckedContinuation<Void, Never>])>(
        (0, false, []))

    var serialExecutor: UnownedSerialExecutor { here.serialExecutor }
    var taskExecutor: any TaskExecutor { here.taskExecutor }
    var calls: Int { state.withLock { $0.calls } }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                state.calls += 1
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if now { continuation.resume() }
        }
        return try work()
    }

    func spawn(_ command: ChildCommand) async throws -> ChildProcess { throw FeedbusError("test", "no children here") }
}

struct SubjectLogTests {
    private let noon = WallTime(year: 2026, month: 11, day: 30, hour: 12)!

    private func append(
        _ store: StateStore, _ events: [StoredEvent], floor: Int64 = .max, _ retention: Retention = Retention(),
        at time: WallTime? = nil
    ) async throws -> Appended {
        try await store.append(
            events, to: "activity", next: 1, floor: floor, retention: retention, now: time ?? noon)
    }

    @Test func eventsComeBackAsTheyWereAlsoAfterARestart() async throws {
        try await StateBench.run { bench in
            let odd = StoredOrigin(source: "https://x/ü", type: "t", node: "n", recorded: true)
            let events = [
                StoredEvent(
                    origin: odd, id: Bytes([0, 255, 39]), subject: "s", time: "2026-11-30T10:00:00Z",
                    attributes: "a=1\n", data: Bytes("{\"a\":1e400,\"b\":\"\\ud800\"}")),
                StoredEvent(origin: origin, id: "2", data: "null"),
                StoredEvent(origin: odd, id: "3", data: Bytes(Array(repeating: UInt8(ascii: "1"), count: 100_000))),
            ]
            let store = try await bench.open()
            _ = try await store.openSubject("activity", readers: ["log"], replay: 5)
            let done = try await append(store, events)
            #expect(done == Appended(first: 1, oldest: 1, droppedBefore: nil))
            #expect(try await store.events(of: "activity", from: 1)?.events == events)
            await store.close()
            let again = try await bench.open()
            let part = try await again.events(of: "activity", from: 2)
            #expect(part?.first == 2)
            #expect(part?.storedAt == noon.milliseconds)
            #expect(part?.events == Array(events[1...]))
            #expect(try await append(again, numbered([4])).first == 4)
            #expect(try await again.events(of: "activity", from: 5) == nil)
            #expect(try await again.events(of: "unknown", from: 1) == nil)
            await again.close()
        }
    }

    @Test func aLongLogIsReadInParts() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            _ = try await append(store, numbered(1...1_000, size: 10_000))
            let part = try await store.events(of: "activity", from: 1, most: 512, size: 1 << 20)
            #expect(part?.events.count == 105)  // the first one over 1 MiB ends it
            #expect(try await store.events(of: "activity", from: 1, most: 7)?.events.count == 7)
            #expect(try await store.ids(of: "activity") == Array(1...1_000))
            await store.close()
        }
    }

    @Test func aNewReaderBeginsTheLastFewBeforeTheEndAndThenHasAPlaceOfItsOwn() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            let empty = try await store.openSubject("activity", readers: ["log"], replay: 5)
            #expect(empty == SubjectPosition(first: 1, next: 1, acked: ["log": 0], away: [:]))
            _ = try await append(store, numbered(1...12))
            try await store.saveReader("log", of: "activity", acked: 11)
            await store.close()
            let again = try await bench.open()
            let two = try await again.openSubject("activity", readers: ["log", "late"], replay: 5)
            #expect(two.acked == ["log": 11, "late": 7])
            #expect(two.next == 13)
            _ = try await append(again, numbered(13...20))
            // Nothing was said of `late` since: its place is kept.
            let three = try await again.openSubject("activity", readers: ["late"], replay: 2)
            #expect(three.acked == ["late": 7])
            #expect(three.away == ["log": 11])
            // More than there is.
            let all = try await again.openSubject("activity", readers: ["third"], replay: 500)
            #expect(all.acked == ["third": 0])
            await again.close()
        }
    }

    // MARK: - Retention

    @Test(arguments: ["events", "bytes"]) func whatEveryReaderHasHadGoesByNumberAndByBytes(limit: String) async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            var retention = Retention()
            if limit == "events" { retention.events = 10 } else { retention.bytes = 1_000 }
            retention.replay = 3
            for start in stride(from: 1, to: 101, by: 5) {
                _ = try await append(store, numbered(start..<start + 5), retention)
            }
            #expect(try await store.ids(of: "activity") == Array(91...100))
            // All are had, but a new reader may want the last three.
            retention.events = 1
            _ = try await append(store, numbered([101]), retention)
            #expect(try await store.ids(of: "activity") == [99, 100, 101])
            await store.close()
        }
    }

    @Test func whatIsTooOldGoes() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            var retention = Retention()
            retention.age = .seconds(60)
            retention.replay = 1
            for minute in 0..<5 {
                _ = try await append(
                    store, numbered([minute]), retention, at: noon + .seconds(30 * Int64(minute)))
            }
            #expect(try await store.ids(of: "activity") == [2, 3, 4])
            await store.close()
        }
    }

    @Test func whatAReaderHasNotHadStaysWhateverTheRetentionSays() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            var retention = Retention()
            retention.events = 1
            retention.bytes = 1
            retention.age = .milliseconds(1)
            for number in 1...50 {
                _ = try await append(
                    store, numbered([number]), floor: 11, retention, at: noon + .seconds(Int64(number)))
            }
            #expect(try await store.ids(of: "activity") == Array(11...50))
            await store.close()
        }
    }

    @Test func atItsLimitALogThatBlocksTakesNothingUntilAReaderHasCaughtUp() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            var retention = Retention()
            retention.limit = 1_000
            _ = try await append(store, numbered(1...10), floor: 1, retention)
            await #expect {
                _ = try await append(store, numbered([11]), floor: 1, retention)
            } throws: { error in
                let error = error as? FeedbusError
                return error?.code == "state.full" && error?.isRetriable == true
                    && error?.message.contains("10 events behind") == true
            }
            #expect(try await store.ids(of: "activity") == Array(1...10))
            _ = try await append(store, numbered([11]), floor: 3, retention)
            #expect(try await store.ids(of: "activity") == Array(2...11))
            // One that is larger than the limit passes when nobody waits.
            _ = try await append(store, numbered([12], size: 5_000), floor: 12, retention)
            #expect(try await store.ids(of: "activity") == [12])
            await store.close()
        }
    }

    @Test func atItsLimitALogThatDropsSaysBeforeWhichNumberAllIsGone() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            var retention = Retention()
            retention.limit = 1_000
            retention.whenFull = .dropOldest
            _ = try await append(store, numbered(1...10), floor: 1, retention)
            let done = try await append(store, numbered(11...13), floor: 2, retention)
            #expect(done == Appended(first: 11, oldest: 4, droppedBefore: 4))
            #expect(try await store.ids(of: "activity") == Array(4...13))
            await store.close()
        }
    }

    @Test func aDroppingLogMakesRoomForALargeEventHoweverManySmallOnesMustGo() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            var retention = Retention()
            retention.limit = 100_000
            retention.whenFull = .dropOldest
            _ = try await append(store, numbered(1...10_000, size: 10), floor: 1, retention)
            let done = try await append(store, numbered([10_001], size: 90_000), floor: 1, retention)
            #expect(done == Appended(first: 10_001, oldest: 9_001, droppedBefore: 9_001))
            await store.close()
        }
    }

    // MARK: - The line of writes

    @Test func whatWaitsIsWrittenInOneCommitAndOneThatFailsFailsAlone() async throws {
        try await StateBench.run { bench in
            let host = HeldHost()
            let store = try await StateStore.open(folder: bench.folder, on: host)
            _ = try await append(store, numbered([0]), floor: 1)
            host.hold()
            let before = host.calls
            var retention = Retention()
            retention.limit = 1_000
            let results = await withTaskGroup(of: String.self) { [noon, retention] group in
                group.addTask {
                    do {
                        try await store.save([("rx", "cursor", "1")])
                        return "saved"
                    } catch { return "\(error)" }
                }
                while host.calls == before { await Task.yield() }
                for number in 1...20 {
                    group.addTask {
                        do {
                            let done = try await store.append(
                                numbered([number], size: number == 20 ? 2_000 : 10), to: "activity", next: 1, floor: 1,
                                retention: retention, now: noon)
                            return done.first > 0 ? "appended" : "no number"
                        } catch { return "\((error as? FeedbusError)?.code.name ?? "")" }
                    }
                }
                for _ in 0..<2_000 { await Task.yield() }
                host.release()
                return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(results == ["saved": 1, "appended": 19, "state.full": 1])
            #expect(host.calls - before < 10)
            await store.close()
        }
    }

    @Test func aReplayBeginsAtTheFirstAtATimeOrAtAnId() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            for number in 1...5 {
                _ = try await append(store, numbered([number * 10]), at: noon + .seconds(Int64(number)))
            }
            #expect(try await store.find(.first, in: "activity") == 1)
            #expect(try await store.find(.time(noon + .milliseconds(2_500)), in: "activity") == 3)
            #expect(try await store.find(.time(noon + .seconds(60)), in: "activity") == nil)
            #expect(try await store.find(.id("40"), in: "activity") == 4)
            #expect(try await store.find(.id("41"), in: "activity") == nil)
            #expect(try await store.find(.first, in: "unknown") == nil)
            await store.close()
        }
    }
}
