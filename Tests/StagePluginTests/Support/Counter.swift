// feedbus: a number that several tasks add to.

import FeedbusPlugin
import Synchronization

final class Counter: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock(\.self) }
    func add(_ count: Int) { number.withLock { $0 += count } }
}
