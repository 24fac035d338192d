// feedbus: what a child prints, as events; what is none is reported.

import FeedbusPlugin

/// Splits what was read, turns each line into an event, and says in the node's log what cannot be one.
struct LineIntake {
    private var splitter: LineSplitter
    var reader: LineReader
    private var refused = 0
    private var budget = LogBudget()
    private let keepsNode: Bool
    private let context: PluginContext

    /// - Parameter keepsNode: true where the `feedbusnode` of a CloudEvents object counts: it came through a stage.
    init(options: ExecOptions, keepsNode: Bool, context: PluginContext) {
        splitter = LineSplitter(limit: options.maxLine)
        reader = LineReader(id: options.id, type: options.type, node: context.node)
        self.keepsNode = keepsNode
        self.context = context
    }

    /// Takes what was read, nil at the end, and gives what its lines are. At the end it says how many were refused in all.
    mutating func push(_ chunk: Bytes?, _ each: (LineReader.Content) -> Void) {
        var lines: [LineSplitter.Line] = []
        if let chunk { splitter.push(chunk) { lines.append($0) } } else { splitter.finish { lines.append($0) } }
        for line in lines {
            if let content = content(line) { each(content) }
        }
        if chunk == nil, refused > 0 {
            context.log.warning(
                "\(refused) line\(refused == 1 ? " was" : "s were") left out in all: not JSON, or too long")
        }
    }

    private mutating func content(_ line: LineSplitter.Line) -> LineReader.Content? {
        switch line {
        case .text(let number, let text):
            do throws(LineReader.BadLine) {
                return try reader.read(text, number: number, keepsNode: keepsNode)
            } catch {
                refuse("line \(number) is not JSON: \(error.reason)")
            }
        case .tooLong(let number, let length):
            refuse("line \(number) is too long: \(length) bytes, max_line is \(ByteSize.text(splitter.limit))")
        }
        return nil
    }

    private mutating func refuse(_ reason: String) {
        refused += 1
        guard case .pass(let leftOut) = budget.ask(at: context.clock.now) else { return }
        if leftOut > 0 { context.log.warning("… and \(leftOut) more lines that are not JSON, or too long") }
        context.log.warning(reason)
    }
}
