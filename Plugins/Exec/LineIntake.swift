// feedbus: what a child prints, as events; what is none is reported.

import FeedbusPlugin
import Lines

/// Splits what was read, turns each line into an event, and says in the node's log what cannot be one.
struct LineIntake {
    private var splitter: LineSplitter
    var reader: LineReader
    private var refused: RefusedLines
    private let keepsNode: Bool

    /// - Parameter keepsNode: true where the `feedbusnode` of a CloudEvents object counts: it came through a stage.
    init(options: ExecOptions, keepsNode: Bool, context: PluginContext) {
        splitter = LineSplitter(limit: options.maxLine)
        reader = LineReader(id: options.id, type: options.type, node: context.node)
        self.keepsNode = keepsNode
        refused = RefusedLines(context)
    }

    /// Takes what was read, nil at the end, and gives what its lines are. At the end it says how many were refused in all.
    mutating func push(_ chunk: Bytes?, _ each: (LineReader.Content) -> Void) {
        var lines: [LineSplitter.Line] = []
        if let chunk { splitter.push(chunk) { lines.append($0) } } else { splitter.finish { lines.append($0) } }
        for line in lines {
            if let content = content(line) { each(content) }
        }
        if chunk == nil { refused.finish() }
    }

    private mutating func content(_ line: LineSplitter.Line) -> LineReader.Content? {
        switch line {
        case .text(let number, let text):
            do throws(LineReader.BadLine) {
                return try reader.read(text, number: number, keepsNode: keepsNode)
            } catch {
                refused.refuse(RefusedLine(number: number, reason: "is not JSON: \(error.reason)", text: text))
            }
        case .tooLong(let number, let length):
            let limit = ByteSize.text(splitter.limit)
            refused.refuse(RefusedLine(number: number, reason: "is too long: \(length) bytes, max_line is \(limit)"))
        }
        return nil
    }
}
