// feedbus: elements whose end a test can see.

import Synchronization

/// Counts the elements of one test that are alive.
final class Census: Sendable {
    private let number = Mutex(0)
    var alive: Int { number.withLock { $0 } }
    fileprivate func add(_ change: Int) { number.withLock { $0 += change } }
}

/// A number that its census counts for as long as anybody holds it. What is made of it is counted as well.
struct Item: Sendable {
    private final class Life: Sendable {
        let census: Census

        init(_ census: Census) {
            self.census = census
            census.add(1)
        }

        deinit { census.add(-1) }
    }

    let number: Int
    private let life: Life?

    init(_ number: Int, _ census: Census? = nil) {
        self.number = number
        life = census.map { Life($0) }
    }

    private static func make(_ number: Int, of one: Item, _ other: Item) -> Item {
        Item(number, one.life?.census ?? other.life?.census)
    }

    static func + (left: Item, right: Item) -> Item { make(left.number + right.number, of: left, right) }
    static func * (left: Item, right: Item) -> Item { make(left.number * right.number, of: left, right) }
    static func / (left: Item, right: Item) -> Item { make(left.number / right.number, of: left, right) }
    static func % (left: Item, right: Item) -> Item { make(left.number % right.number, of: left, right) }
}

extension Item: ExpressibleByIntegerLiteral {
    init(integerLiteral number: Int) { self.init(number) }
}

extension Item: Hashable, Comparable {
    static func == (left: Item, right: Item) -> Bool { left.number == right.number }
    static func < (left: Item, right: Item) -> Bool { left.number < right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Item: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { "\(number)" }
    var debugDescription: String { description }
}
