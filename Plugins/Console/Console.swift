// feedbus: the sink that prints events on standard output.

import FeedbusPlugin
import Glibc

/// Prints events on standard output, a batch with one write.
public actor Console: Sink {
    public static let name = "Console"
    public static let summary = "prints events on standard output"

    public nonisolated let context: PluginContext
    private let options: ConsoleOptions
    private var renderer: ConsoleRenderer
    private var output: OutputFile?
    /// A write failed in the middle of a line.
    private var isTorn = false

    public static func check(_ options: ConsoleOptions, _ checking: OptionCheck) {
        guard let text = options.template else { return }
        if options.format != .line {
            checking.problem(
                "\"template\" goes with the format \"line\" only", at: "template", code: "contradiction")
        }
        do throws(LineTemplate.Problem) {
            _ = try LineTemplate(text)
        } catch {
            checking.problem(error.message, at: "template", code: "bad-template", suggestion: error.suggestion)
        }
    }

    public init(options: ConsoleOptions, context: PluginContext) throws {
        self.context = context
        self.options = options
        renderer = ConsoleRenderer(
            format: options.format, template: try options.template.map { try LineTemplate($0) },
            headline: context.headline)
    }

    public func open() { _ = standardOutput() }

    private func standardOutput() -> OutputFile {
        if let output { return output }
        let output = OutputFile.standardOutput(on: context.host)
        self.output = output
        renderer.isTerminal = output.isTerminal
        renderer.isColored =
            switch options.color {
            case .always: true
            case .never: false
            case .auto: output.isTerminal && environment("NO_COLOR").isEmpty && environment("TERM") != "dumb"
            }
        return output
    }

    public func write(_ events: Chunk<Event>) async throws {
        let output = standardOutput()
        // Asked for each time: a window changes its size.
        renderer.columns = output.isTerminal ? terminalColumns() : nil
        let now = context.clock.wallTime
        var writer = ByteWriter(capacity: events.reduce(0) { $0 + $1.data.count + 320 })
        // What was left of a line by a failed write is not a part of the next one.
        if isTorn { writer.append(UInt8(ascii: "\n")) }
        for event in events { renderer.append(event, now: now, to: &writer) }
        let text = writer.finish()
        do throws(FileError) {
            try await OutputTurn.standardOutput { () throws(FileError) in try await print(text, on: output) }
        } catch {
            guard error.errno != EPIPE else { throw SinkFinished("the reader of standard output has gone") }
            throw FeedbusError(
                "console.write", "cannot write to standard output: \(error.description)", isRetriable: true,
                cause: error)
        }
    }

    private func print(_ text: Bytes, on output: OutputFile) async throws(FileError) {
        var written = 0
        while written < text.count {
            do throws(FileError) {
                written += try await output.write(text[written..<text.count])
            } catch {
                if written > 0 { isTorn = text[written - 1] != UInt8(ascii: "\n") }
                throw error
            }
        }
        isTorn = false
    }

    private func environment(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }

    /// The width of the terminal on standard output; nil where it has none.
    private func terminalColumns() -> Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
