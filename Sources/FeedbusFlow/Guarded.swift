// feedbus: a value that the branches of an operator share.

import Synchronization

/// A value behind a lock, to be shared by the tasks of one collection.
final class Guarded<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    /// Runs `body` under the lock: quick, and without calling anybody's closure.
    func with<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { state.withLock { body(&$0) } }
}
