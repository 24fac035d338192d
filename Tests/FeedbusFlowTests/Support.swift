// feedbus: what the tests of flows share.

import FeedbusFlow
import Synchronization

/// Values in the order in which they came.
final class Recorder<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])
    var values: [Value] { state.withLock { $0 } }
    func append(_ value: Value) { state.withLock { $0.append(value) } }
    func removeAll() { state.withLock { $0 = [] } }
    func append(contentsOf values: some Sequence<Value>) { state.withLock { $0.append(contentsOf: values) } }
}

/// 1, 2, 3, …
final class Counter: Sendable {
    private let state = Mutex(0)

    func next() -> Int {
        state.withLock { state in
            state += 1
            return state
        }
    }
}

/// Holds tasks up until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [Int: UnsafeContinuation<Void, any Error>] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    func wait() async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.isOpen { return .success(()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Something whose end a test can see.
final class Tracked: Sendable {}

/// Looks after one `Tracked` without keeping it.
final class WeakProbe: Sendable {
    private struct State { weak var object: Tracked? }
    private let state = Mutex(State())

    func make() -> Tracked {
        let object = Tracked()
        state.withLock { $0.object = object }
        return object
    }

    var isGone: Bool { state.withLock { $0.object == nil } }
}

struct TestError: Error, Equatable {
    var name: String
    init(_ name: String) { self.name = name }
}

/// A source that tells how often it was collected, what it emitted and when it was released.
final class Probe: Sendable {
    struct State {
        var emitted = 0
        var collections = 0
        var released = 0
    }

    let state = Mutex(State())
    let cuts: [[Int]]
    let error: (any Error)?

    /// - Parameter cuts: the chunks, empty ones included.
    init(_ cuts: [[Int]], error: (any Error)? = nil) {
        self.cuts = cuts
        self.error = error
    }

    /// One element a chunk.
    convenience init(_ elements: some Sequence<Int>, error: (any Error)? = nil) {
        self.init(elements.map { [$0] }, error: error)
    }

    /// Elements handed to `emit`, the one that is being worked on included.
    var emitted: Int { state.withLock { $0.emitted } }
    var collections: Int { state.withLock { $0.collections } }
    /// Collections that have ended.
    var released: Int { state.withLock { $0.released } }

    var flow: Flow<Int> {
        Flow { emit in
            self.state.withLock { $0.collections += 1 }
            defer { self.state.withLock { $0.released += 1 } }
            for cut in self.cuts where !cut.isEmpty {
                self.state.withLock { $0.emitted += cut.count }
                try await emit(Chunk(cut))
            }
            if let error = self.error { throw error }
        }
    }
}

/// Cuts the elements at random places.
func cut<Element>(_ elements: [Element], _ random: inout some RandomNumberGenerator) -> [[Element]] {
    var cuts: [[Element]] = []
    var rest = elements[...]
    while !rest.isEmpty {
        let part = rest.prefix(Int.random(in: 1...max(1, min(rest.count, 5)), using: &random))
        cuts.append(Array(part))
        rest = rest.dropFirst(part.count)
    }
    return cuts
}

/// What a collection came to: the elements, and the error it ended with.
struct Outcome<Element: Sendable & Equatable>: Equatable, Sendable {
    var elements: [Element]
    var error: String?

    init(_ elements: [Element], _ error: String? = nil) {
        self.elements = elements
        self.error = error
    }

    init(of flow: Flow<Element>) async {
        let recorder = Recorder<Element>()
        do {
            try await flow.collect { recorder.append(contentsOf: $0) }
            error = nil
        } catch let failure as TestError {
            error = failure.name
        } catch {
            self.error = describe(error)
        }
        elements = recorder.values
    }
}

func describe(_ error: any Error) -> String {
    switch error {
    case let error as TestError: error.name
    case is CancellationError: "cancelled"
    default: String(describing: error)
    }
}
