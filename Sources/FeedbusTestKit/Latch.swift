// feedbus: a value that comes once.

import Synchronization

/// Nil until it was set.
final class Latch<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }
}
