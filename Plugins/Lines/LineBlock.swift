// feedbus: what one read of lines gave.

import FeedbusPlugin

/// A place between two lines of an input.
package struct LinePlace: Sendable, Hashable {
    /// Bytes before it, unpacked.
    package var offset: Int
    /// Line feeds before it.
    package var lines: Int

    package init(offset: Int = 0, lines: Int = 0) {
        self.offset = offset
        self.lines = lines
    }
}

/// Events that were read together, and where the reader then stood.
///
/// `@unchecked Sendable`: the reader makes it and hands it over; then its new owner alone has it. An object, so that the
/// events have one holder at any time, however often a reference to the block is copied on its way.
package final class LineBlock: @unchecked Sendable {
    package internal(set) var content = Content.events([])
    package internal(set) var refused: [RefusedLine] = []
    /// Behind the last line that `events` and `refused` account for.
    package internal(set) var end: LinePlace
    /// What the reader found when it wanted more.
    package internal(set) var state = State.more

    init(refused: [RefusedLine] = [], end: LinePlace, state: State = .more) {
        self.refused = refused
        self.end = end
        self.state = state
    }

    package enum State: Sendable {
        /// There may be more at once.
        case more
        /// A stream has nothing yet.
        case waiting
        /// The end of the input, for now.
        case atEnd
    }

    package enum Content {
        /// Lines that are plain data, all of them.
        case packed(PackedEvents)
        /// Some of them are CloudEvents objects, or had to be repaired.
        case events([Event])
    }

    package var count: Int {
        switch content {
        case .packed(let events): events.count
        case .events(let events): events.count
        }
    }

    /// The events, which the block then has no more: so that whoever gets them is the only one who holds them.
    package func takeContent() -> Content {
        defer { content = .events([]) }
        return content
    }
}
