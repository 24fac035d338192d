// feedbus: what debounce does, as a value.

import FeedbusBase

/// The element that waits for silence, and since when.
struct Debouncer<Element: Sendable>: Sendable {
    let silence: Duration
    var pending: Element?
    var due = Instant(nanoseconds: 0)

    init(_ silence: Duration) { self.silence = silence }

    /// - Returns: when to look.
    mutating func next(_ element: Element, at now: Instant) -> Instant {
        pending = element
        due = now + silence
        return due
    }

    /// The pending element, if nothing has come for long enough.
    mutating func takeDue(at now: Instant) -> Element? { due <= now ? pending.take() : nil }

    /// The pending element, at the end.
    mutating func takeLast() -> Element? { pending.take() }
}
