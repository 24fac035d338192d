// feedbus: lines that are no events: counted, and said in the log by name.

import FeedbusPlugin

/// A line that is no event.
package struct RefusedLine: Sendable {
    /// From 1.
    package var number: Int
    /// Of its first byte; nil where places are not known.
    package var offset: Int?
    package var reason: String
    /// The line without its end; empty where it was too long to keep.
    package var text: Bytes

    package init(number: Int, offset: Int? = nil, reason: String, text: Bytes = Bytes()) {
        self.number = number
        self.offset = offset
        self.reason = reason
        self.text = text
    }
}

/// Where refused lines go: each is kept with the dead letters, or counted as dropped where its text is gone, and the log
/// names so many of them as it can bear.
package struct RefusedLines {
    private let context: PluginContext
    private let file: String?
    private var budget = LogBudget()
    package private(set) var count = 0
    /// What the store said last: false where it did not take one.
    private var isSettled = true

    /// - Parameter file: the file that the lines stand in; nil: the lines are a child's.
    package init(_ context: PluginContext, file: String? = nil) {
        self.context = context
        self.file = file
    }

    package mutating func refuse(_ line: RefusedLine) {
        count += 1
        let place = file.map { "\($0):\(line.number): refused" } ?? "line \(line.number)"
        let bytes = line.offset.map { " (byte \($0))" } ?? ""
        let words = "\(place) \(line.reason)\(bytes)"
        if line.text.isEmpty { context.countDropped(1) } else { context.setAside(line.text.compacted(), reason: words) }
        guard case .pass(let leftOut) = budget.ask(at: context.clock.now) else { return }
        if leftOut > 0 { context.log.warning("… and \(leftOut) more lines that are not JSON, or too long") }
        context.log.warning(words)
    }

    /// The same for many lines, at the pace of the store.
    /// - Returns: whether all that was ever set aside is kept, or was dropped by a policy: then a cursor may move behind it.
    package mutating func refuse(_ lines: [RefusedLine]) async -> Bool {
        /// Since the last wait for the store.
        var waiting = (lines: 0, bytes: 0)
        for line in lines {
            if waiting.lines == 1_000 || waiting.lines > 0 && waiting.bytes + line.text.count > 4 << 20 {
                waiting = (0, 0)
                _ = await context.textsAreSettled()
            }
            waiting.lines += 1
            waiting.bytes += line.text.count
            refuse(line)
        }
        if !lines.isEmpty { isSettled = await context.textsAreSettled() }
        return isSettled
    }

    /// The input has ended: says how many were refused in all.
    package func finish() {
        guard count > 0 else { return }
        context.log.warning("\(count) line\(count == 1 ? " was" : "s were") left out in all: not JSON, or too long")
    }
}
