// feedbus: a state folder for a test, and hosts whose pool the test controls.

import CSQLite
import FeedbusBase
import FeedbusLoop
import FeedbusStore
import Glibc
import Synchronization
import Testing

/// A host whose pool is the caller's own thread.
final class HereHost: LoopHost {
    private let executor = OneAtATime()
    var serialExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    var taskExecutor: any TaskExecutor { globalConcurrentExecutor }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T { try work() }
    func spawn(_ command: ChildCommand) async throws -> ChildProcess { throw FeedbusError("test", "no children here") }
}

/// Runs jobs one at a time on Swift's pool.
final class OneAtATime: SerialExecutor {
    private let state = Synchronization.Mutex<(jobs: [UnownedJob], isRunning: Bool)>(([], false))

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let start = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard start else { return }
        Task.detached { self.drain() }
    }

    private func drain() {
        while true {
            let job: UnownedJob? = state.withLock { state in
                if state.jobs.isEmpty {
                    state.isRunning = false
                    return nil
                }
                return state.jobs.removeFirst()
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}

/// A folder that is deleted at the end.
struct StateBench {
    let folder: String
    let host = HereHost()
    var path: String { "\(folder)/feedbus.sqlite" }

    static func run(_ body: (StateBench) async throws -> Void) async throws {
        var name = Array("/tmp/feedbus-store-test-XXXXXX".utf8CString)
        let path = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
        let bench = StateBench(folder: "\(path)/state")
        defer {
            for file in bench.files { unlink("\(bench.folder)/\(file)") }
            rmdir(bench.folder)
            rmdir(path)
        }
        try await body(bench)
    }

    /// The names of what is in the folder.
    var files: [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func open(asideAt: WallTime? = nil) async throws -> StateStore {
        try await StateStore.open(folder: folder, on: host, keepDamagedAside: asideAt)
    }

    /// Runs SQL on the file, beside the store; makes it where it is missing.
    func execute(_ sql: String) {
        mkdir(folder, 0o755)
        var handle: OpaquePointer?
        #expect(sqlite3_open(path, &handle) == SQLITE_OK)
        #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(handle)
    }

    func write(_ text: String) {
        mkdir(folder, 0o755)
        let file = fopen(path, "w")
        fputs(text, file)
        fclose(file)
    }

    /// The error of opening; nil where it opens.
    func refusal() async -> FeedbusError? {
        do {
            await (try open()).close()
            return nil
        } catch {
            return error as? FeedbusError
        }
    }
}

let origin = StoredOrigin(source: "/probe", type: "dev.feedbus.probe", node: "probe", recorded: false)

/// Events with these numbers for ids, each of `size` bytes.
func numbered(_ numbers: some Sequence<Int>, size: Int = 100) -> [StoredEvent] {
    numbers.map { number in
        let id = Bytes(String(number))
        return StoredEvent(origin: origin, id: id, data: Bytes(Array(repeating: 120, count: size - id.count)))
    }
}

extension StateStore {
    /// The ids of what a log has from a number on.
    func ids(of subject: String, from sequence: Int64 = 1) async throws -> [Int] {
        var ids: [Int] = []
        var at = sequence
        while let part = try await events(of: subject, from: at) {
            ids += part.events.map { Int($0.id.string)! }
            at = part.first + Int64(part.events.count)
        }
        return ids
    }
}
