// feedbus: why a text is no jq program.

/// Why a text is no jq program.
public struct JQCompileError: Error, Sendable, CustomStringConvertible {
    /// What jq says, on one line, without its "jq: error:".
    public var message: String
    public var description: String { message }

    init(_ message: String) { self.message = message }

    /// - Parameter output: what jq prints, line by line.
    init(jq output: String) {
        var lines: [Substring] = []
        for line in output.split(separator: "\n") {
            if line.hasPrefix("jq: "), line.contains("compile error") { continue }
            lines.append(line.hasPrefix("jq: error: ") ? line.dropFirst("jq: error: ".count) : line)
        }
        let text = lines.map { $0.trimmingBlanks() }.joined(separator: " ")
            .replacing(" (Unix shell quoting issues?)", with: "").replacing("<top-level>", with: "the expression")
        message = text.isEmpty ? "jq gives no reason" : text.limited(to: 400)
    }
}

extension Substring {
    fileprivate func trimmingBlanks() -> Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}

extension String {
    func limited(to length: Int) -> String { count > length ? prefix(length) + "…" : self }
}
