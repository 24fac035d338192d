// feedbus: what the tests of flows share.

import FeedbusFlow
import Synchronization

/// Values in the order in which they came.
final class Recorder<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])
    var values: [Value] { state.withLock { $0 } }
    func append(_ value: Value) { state.withLock { $0.append(value) } }
    func append(contentsOf values: some Sequence<Value>) { state.withLock { $0.append(contentsOf: values) } }
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

struct TestError: Error, Equatable {
    var name: String
    init(_ name: String) { self.name = name }
}
