// feedbus: committed events a second of a durable subject's log, beside a bare loop of inserts; and its replay.

import FeedbusBase
import FeedbusLoop
import FeedbusStore
import Glibc

/// `store-benchmark [--sync normal|full] [--rows N]`: events of 1 KB in batches of 1, 10, 100 and 1000, and one replay.
/// Exit code 1 when a figure is not reached.
@main
enum StoreBenchmark {
    static let size = 1_000
    /// Of the bare loop, in one run.
    static let leastRatio = 0.6
    static let leastReplay = 200_000.0

    static func main() {
        var sync = StoreSync.normal
        var rows = 200_000
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch (argument, arguments.popFirst()) {
            case ("--sync", let value?): sync = StoreSync(rawValue: value.uppercased()) ?? .normal
            case ("--rows", let value?): rows = Int(value) ?? rows
            default: fatalError("usage: StoreBenchmark [--sync normal|full] [--rows N]")
            }
        }
        do {
            let loop = try EventLoop.make(name: "bench")
            var code: Int32 = 1
            let result = Result()
            loop.task { [sync, rows] in
                do { result.isGood = try await measure(sync, rows: rows, loop) } catch { print(describeError(error)) }
                loop.stop()
            }
            try loop.run()
            code = result.isGood ? 0 : 1
            exit(code)
        } catch {
            print(describeError(error))
            exit(1)
        }
    }

    static func measure(_ sync: StoreSync, rows all: Int, _ loop: EventLoop) async throws -> Bool {
        var isGood = true
        print("1 KB events, WAL, synchronous=\(sync.rawValue)")
        for batch in [1, 10, 100, 1_000] {
            let rows = min(all, batch * (sync == .full ? 2_000 : 50_000))
            var (bare, alone, stored): ([Double], [Double], [Double]) = ([], [], [])
            // Turn and turn about, and the median of three: the machine has other things to do as well.
            for _ in 0..<3 {
                let folder = temporaryFolder()
                bare.append(
                    BareInserts.run(
                        path: folder + "/bare.sqlite", rows: rows, batch: batch, size: size, sync: sync.rawValue))
                // One batch after the other, each awaited; and as in a graph, where the next ones wait in the subject's
                // buffer of 1024 events while some are committed.
                for window in [1, max(2, 1_024 / batch)] {
                    let store = try await StateStore.open(folder: folder + "/state-\(window)", on: loop, sync: sync)
                    let rate = try await append(to: store, rows: rows, batch: batch, window: window, loop)
                    if window == 1 { alone.append(rate) } else { stored.append(rate) }
                    await store.close()
                }
                remove(folder)
            }
            func median(_ rates: [Double]) -> Double { rates.sorted()[rates.count / 2] }
            let ratio = median(stored) / median(bare)
            isGood = isGood && ratio >= leastRatio
            print(
                "batch \(batch): bare \(Int(median(bare)))/s, store \(Int(median(stored)))/s, ratio"
                    + " \((ratio * 100).rounded() / 100) (at least \(leastRatio)); each batch awaited"
                    + " \(Int(median(alone)))/s")
            fflush(nil)
        }
        let folder = temporaryFolder()
        let store = try await StateStore.open(folder: folder + "/state", on: loop, sync: sync)
        _ = try await append(to: store, rows: all, batch: 1_000, window: 1, loop)
        var best = 0.0
        for _ in 0..<3 {
            let started = now()
            var at: Int64 = 1
            while let part = try await store.events(of: "activity", from: at) { at += Int64(part.events.count) }
            precondition(at == Int64(all) + 1, "the log is not whole")
            best = max(best, Double(all) / (now() - started))
        }
        await store.close()
        remove(folder)
        print("replay: \(Int(best))/s (at least \(Int(leastReplay)))")
        return isGood && best >= leastReplay
    }

    private static func append(
        to store: StateStore, rows: Int, batch: Int, window: Int, _ loop: EventLoop
    ) async throws -> Double {
        let origin = StoredOrigin(source: "/bench", type: "dev.feedbus.bench", node: "bench", recorded: false)
        let data = Bytes(Array(repeating: UInt8(ascii: "1"), count: size - 40))
        var retention = Retention()
        retention.events = .max >> 1
        retention.bytes = .max >> 1
        retention.limit = .max >> 1
        let time = WallTime(seconds: 1_800_000_000)
        let started = now()
        try await withThrowingTaskGroup(of: Void.self) { [retention] group in
            var next = 1
            var underWay = 0
            while next <= rows {
                let events = (next..<next + batch).map {
                    StoredEvent(
                        origin: origin, id: Bytes("event-\($0)"), subject: "owner/name", time: "2026-11-30T10:15:00Z",
                        data: data)
                }
                next += batch
                if underWay == window {
                    try await group.next()
                    underWay -= 1
                }
                group.addTask(executorPreference: loop.taskExecutor) {
                    _ = try await store.append(
                        events, to: "activity", next: 1, floor: .max, retention: retention, now: time)
                }
                underWay += 1
            }
            try await group.waitForAll()
        }
        return Double(rows) / (now() - started)
    }

    private static func temporaryFolder() -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(base)/feedbus-store-bench-XXXXXX".utf8CString)
        return name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    }

    private static func remove(_ folder: String) {
        var folders = [folder]
        for window in ["", "-1", "-2", "-10", "-102", "-1024"] { folders.append("\(folder)/state\(window)") }
        for one in folders.reversed() {
            for file in ["bare.sqlite", "feedbus.sqlite", "lock"] {
                for suffix in ["", "-wal", "-shm"] { unlink("\(one)/\(file)\(suffix)") }
            }
            rmdir(one)
        }
    }
}

/// What the loop's task hands to `main` when the loop has ended.
///
/// `@unchecked Sendable`: written on the loop's thread, which is main's, and read after the loop.
private final class Result: @unchecked Sendable {
    var isGood = false
}
