// feedbus: files whose system calls fail, by a script or by dice, and a disk that forgets what an fsync could not write.

import FeedbusLoop
import FeedbusPlugin
import Glibc
import Synchronization

/// The system's files, with faults: the calls that succeed do what they always do.
final class FaultyFiles: FileSystem {
    enum Call: Hashable, CaseIterable { case open, write, rewrite, reserve, truncate, sync, syncFolder, rename, close }

    enum Fault: Sendable, Equatable {
        case fails(Int32)
        /// A write takes no more than so many bytes.
        case takes(Int)
    }

    /// What of a file a power cut would take.
    private struct Fate {
        /// To be written by the next sync.
        var dirty: [Range<Int>] = []
        /// Given up by a sync that failed.
        var lost: [Range<Int>] = []

        mutating func wrote(_ range: Range<Int>) {
            lost = lost.flatMap { old in
                [
                    old.lowerBound..<max(old.lowerBound, min(old.upperBound, range.lowerBound)),
                    min(old.upperBound, max(old.lowerBound, range.upperBound))..<old.upperBound,
                ].filter { !$0.isEmpty }
            }
            dirty.append(range)
        }

        mutating func truncated(to size: Int) {
            dirty = dirty.map { $0.clamped(to: 0..<size) }.filter { !$0.isEmpty }
            lost = lost.map { $0.clamped(to: 0..<size) }.filter { !$0.isEmpty }
        }

        mutating func synced(_ isDone: Bool) {
            if !isDone { lost += dirty }
            dirty = []
        }
    }

    private struct State {
        var script: [Call: [Fault]] = [:]
        var lasting: [Call: Fault] = [:]
        var random = SplitMix64(seed: 0)
        var chance = 0.0
        var counts: [Call: Int] = [:]
        var files: [ino_t: Fate] = [:]
    }

    private let state = Mutex(State())

    // MARK: - For tests

    /// The next calls fail like this, one after the other.
    func script(_ call: Call, _ faults: [Fault]) { state.withLock { $0.script[call, default: []] += faults } }

    /// From now on, until it is taken away with nil.
    func always(_ call: Call, _ fault: Fault?) { state.withLock { $0.lasting[call] = fault } }

    /// From now on each call fails with this chance, in a way that suits it.
    func roll(seed: UInt64, chance: Double) {
        state.withLock {
            $0.random = SplitMix64(seed: seed)
            $0.chance = chance
        }
    }

    func count(_ call: Call) -> Int { state.withLock { $0.counts[call, default: 0] } }
    var reach: Set<Call> { state.withLock { Set($0.counts.keys) } }

    /// Whether a power cut would leave all of a file as it is.
    func isSafe(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return state.withLock { state in
            let fate = state.files[status.st_ino] ?? Fate()
            return fate.dirty.isEmpty && fate.lost.isEmpty
        }
    }

    // MARK: - Faults

    private func fault(_ call: Call, size: Int = 0) -> Fault? {
        state.withLock { state in
            state.counts[call, default: 0] += 1
            if let next = state.script[call]?.first {
                state.script[call]?.removeFirst()
                return next
            }
            if let lasting = state.lasting[call] { return lasting }
            guard state.chance > 0, state.random.unit() < state.chance else { return nil }
            if call == .write || call == .rewrite, size > 1, state.random.unit() < 0.4 {
                return .takes(Int.random(in: 1..<size, using: &state.random))
            }
            return .fails(Self.errors(of: call).randomElement(using: &state.random)!)
        }
    }

    static func errors(of call: Call) -> [Int32] {
        switch call {
        case .open: [EMFILE, ENFILE, EACCES, ENOENT, EISDIR, EROFS, EINTR, ENOSPC]
        case .write, .rewrite: [ENOSPC, EDQUOT, EIO, EFBIG, EAGAIN, EINTR]
        case .reserve: [ENOSPC, EDQUOT, EOPNOTSUPP, EINTR, EIO]
        case .truncate: [EIO, EINTR]
        case .sync, .syncFolder: [EIO, ENOSPC, EDQUOT, EINTR]
        case .rename: [EACCES, ENOSPC, EXDEV, EIO]
        case .close: [EIO, ENOSPC]
        }
    }

    /// - Returns: nil when the call is to be done; else its result is -1.
    private func failure(_ call: Call) -> Int32? {
        guard case .fails(let number) = fault(call) else { return nil }
        errno = number
        return -1
    }

    private func note(_ descriptor: Int32, _ change: (inout Fate) -> Void) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        state.withLock { change(&$0.files[status.st_ino, default: Fate()]) }
    }

    private func write(_ call: Call, _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int?) -> Int {
        var taken = bytes
        switch fault(call, size: bytes.count) {
        case .fails(let number):
            errno = number
            return -1
        case .takes(let count): taken = UnsafeRawBufferPointer(rebasing: bytes[..<min(count, bytes.count)])
        case nil: break
        }
        let count =
            place.map { pwrite(descriptor, taken.baseAddress, taken.count, $0) }
            ?? Glibc.write(descriptor, taken.baseAddress, taken.count)
        guard count > 0 else { return count }
        let start = place ?? Int(lseek(descriptor, 0, SEEK_CUR)) - count
        note(descriptor) { $0.wrote(start..<start + count) }
        return count
    }

    // MARK: - Calls

    func open(_ path: String, _ flags: Int32, _ mode: UInt32) -> Int32 {
        if flags & O_DIRECTORY == 0, let failed = failure(.open) { return failed }
        return Glibc.open(path, flags, mode)
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        write(.write, descriptor, bytes, at: nil)
    }

    func write(_ descriptor: Int32, _ slices: UnsafeBufferPointer<iovec>) -> Int {
        var bytes: [UInt8] = []
        for slice in slices { bytes += UnsafeRawBufferPointer(start: slice.iov_base, count: slice.iov_len) }
        return bytes.withUnsafeBytes { write(.write, descriptor, $0, at: nil) }
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        write(.rewrite, descriptor, bytes, at: offset)
    }

    func reserve(_ descriptor: Int32, from offset: Int, count: Int) -> Int32 {
        failure(.reserve) ?? SystemFiles().reserve(descriptor, from: offset, count: count)
    }

    func truncate(_ descriptor: Int32, to size: Int) -> Int32 {
        if let failed = failure(.truncate) { return failed }
        note(descriptor) { $0.truncated(to: size) }
        return ftruncate(descriptor, size)
    }

    func synchronizeData(_ descriptor: Int32) -> Int32 {
        let failed = failure(.sync)
        let isInterrupted = failed != nil && errno == EINTR
        let number = errno
        // The system counts as written what it has tried to write.
        if !isInterrupted { note(descriptor) { $0.synced(failed == nil) } }
        errno = number
        return failed ?? 0
    }

    func synchronize(_ descriptor: Int32) -> Int32 { failure(.syncFolder) ?? 0 }

    func rename(_ old: String, to new: String) -> Int32 { failure(.rename) ?? Glibc.rename(old, new) }

    func close(_ descriptor: Int32) -> Int32 {
        let isClosed = closeDescriptor(descriptor)
        if case .fails(let number) = fault(.close) { return number }
        return isClosed
    }
}

/// A host whose files are faulty.
struct FaultyHost: FileHost {
    let base: any LoopHost
    let files: any FileSystem

    var serialExecutor: UnownedSerialExecutor { base.serialExecutor }
    var taskExecutor: any TaskExecutor { base.taskExecutor }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await base.offload(work)
    }

    func spawn(_ command: ChildCommand) async throws -> ChildProcess { try await base.spawn(command) }
}
