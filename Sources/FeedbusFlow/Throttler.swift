// feedbus: what throttle does, as a value.

import FeedbusBase

/// The window that the last output has opened, and what waits for its end.
struct Throttler<Element: Sendable>: Sendable {
    let length: Duration
    /// The element that opens a window goes out at once.
    let keepsFirst: Bool
    let keepsLatest: Bool
    var windowEnd: Instant?
    var pending: Element?
    var isCompleted = false

    init(_ length: Duration, keepsFirst: Bool = true, keepsLatest: Bool) {
        self.length = length
        self.keepsFirst = keepsFirst
        self.keepsLatest = keepsLatest
    }

    /// Elements arrive. The first of them opens a window if none is open; the others fall into it.
    /// - Returns: the element that goes out at once, and what else is left of the chunk.
    mutating func next(_ chunk: Chunk<Element>, at now: Instant) -> (out: Element?, rest: Chunk<Element>) {
        guard pending == nil, windowEnd.map({ $0 <= now }) ?? true else { return (nil, chunk) }
        windowEnd = now + length
        return keepsFirst ? (chunk[0], chunk.dropFirst()) : (nil, chunk)
    }

    /// - Returns: when the window ends, if there is something to wait for.
    mutating func keep(_ rest: Chunk<Element>) -> Instant? {
        guard keepsLatest, let last = rest.last else { return nil }
        pending = last
        return windowEnd
    }

    /// The trailing element of a window that has ended; it opens the next one.
    mutating func takeTrailing(at now: Instant) -> Element? {
        guard let end = windowEnd, end <= now, let element = pending.take() else { return nil }
        windowEnd = now + length
        return element
    }

    /// - Returns: true when nothing waits any more.
    mutating func complete() -> Bool {
        isCompleted = true
        return pending == nil
    }
}
