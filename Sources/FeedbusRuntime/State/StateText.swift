// feedbus: what is in the state folder, as text for people and for programs.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin
import FeedbusStore

/// The commands `state show`, `state export` and `state reset`. Each blocks.
package enum StateText {
    /// What the state folder has.
    /// - Parameters:
    ///   - node: only what is of that node.
    ///   - onlyDeadLetters: nothing else.
    /// - Throws: `FeedbusError` with a code of the state store.
    package static func show(
        folder: String, node: String?, isJSON: Bool, onlyDeadLetters: Bool = false
    ) throws -> String {
        guard var summary = try StateFile.open(folder: folder)?.summary(node: node) else {
            return isJSON
                ? "{\"cursors\":[],\"subjects\":[],\"dead_letters\":[],\"budgets\":[]}\n"
                : "no state in \(folder) yet\n"
        }
        if onlyDeadLetters { (summary.cursors, summary.subjects, summary.budgets) = ([], [], []) }
        return isJSON ? json(summary) : text(summary)
    }

    private static func text(_ summary: StateSummary) -> String {
        var lines = ["\(summary.path): \(size(summary.fileSize))"]
        if !summary.cursors.isEmpty { lines.append("cursors:") }
        for cursor in summary.cursors { lines.append("  \(cursor.node): \(cursor.key), \(size(cursor.size))") }
        if !summary.subjects.isEmpty { lines.append("subjects:") }
        for subject in summary.subjects {
            let since = subject.oldest.map { ", the oldest of \($0.rfc3339())" } ?? ""
            lines.append("  \(subject.name): \(counted(subject.events, "event")), \(size(subject.bytes))\(since)")
            for reader in subject.readers {
                let behind = subject.toCome(reader.acked)
                lines.append(
                    "    \(reader.name): " + (behind == 0 ? "has had all" : "\(counted(behind, "event")) to come"))
            }
        }
        if !summary.letters.isEmpty { lines.append("dead letters:") }
        for letters in summary.letters {
            lines.append(
                "  \(letters.node): \(letters.count), \(size(letters.bytes)), \(letters.oldest.rfc3339()) to"
                    + " \(letters.newest.rfc3339()); the last one: \(letters.reason)")
        }
        if !summary.budgets.isEmpty { lines.append("budgets:") }
        for budget in summary.budgets {
            let limit = budget.limit.map { " of \($0)" } ?? ""
            let reset = budget.resetsAt.map { ", whole again at \($0.rfc3339())" } ?? ""
            lines.append(
                "  \(budget.service) \(budget.resource) (credential: \(budget.credential)): \(budget.remaining)\(limit) left\(reset);"
                    + " as of \(budget.seenAt.rfc3339())")
        }
        if lines.count == 1 { lines.append("nothing") }
        // A service's words, and what a node says of an event, are printed as the log prints them.
        return lines.map(LogText.oneLine).joined(separator: "\n") + "\n"
    }

    /// `1.5 kB`
    private static func size(_ bytes: Int) -> String {
        var (value, unit) = (Double(bytes), "bytes")
        for next in ["kB", "MB", "GB", "TB"] where value >= 1_000 { (value, unit) = (value / 1_000, next) }
        return unit == "bytes" ? counted(bytes, "byte") : "\((value * 10).rounded() / 10) \(unit)"
    }

    private static func json(_ summary: StateSummary) -> String {
        let cursors = summary.cursors.map { cursor in
            "{\"node\":\(quoted(cursor.node)),\"key\":\(quoted(cursor.key)),\"bytes\":\(cursor.size)}"
        }
        let subjects = summary.subjects.map { subject in
            let readers = subject.readers.map { reader in
                "{\"name\":\(quoted(reader.name)),\"acked\":\(reader.acked),\"behind\":\(subject.toCome(reader.acked))}"
            }
            return "{\"name\":\(quoted(subject.name)),\"events\":\(subject.events),\"bytes\":\(subject.bytes),"
                + "\"next\":\(subject.next),\"oldest\":\(subject.oldest.map { quoted($0.rfc3339(milliseconds: true)) } ?? "null"),"
                + "\"readers\":[\(readers.joined(separator: ","))]}"
        }
        let letters = summary.letters.map { letters in
            "{\"node\":\(quoted(letters.node)),\"count\":\(letters.count),\"bytes\":\(letters.bytes),"
                + "\"oldest\":\(quoted(letters.oldest.rfc3339(milliseconds: true))),"
                + "\"newest\":\(quoted(letters.newest.rfc3339(milliseconds: true))),\"reason\":\(quoted(letters.reason))}"
        }
        return
            "{\"file\":\(quoted(summary.path)),\"bytes\":\(summary.fileSize),\"cursors\":[\(cursors.joined(separator: ","))],"
            + "\"subjects\":[\(subjects.joined(separator: ","))],\"dead_letters\":[\(letters.joined(separator: ","))],"
            + "\"budgets\":[\(summary.budgets.map(json).joined(separator: ","))]}\n"
    }

    private static func json(_ budget: ServiceBudget) -> String {
        "{\"service\":\(quoted(budget.service)),\"credential\":\(quoted(budget.credential)),"
            + "\"resource\":\(quoted(budget.resource)),\"limit\":\(budget.limit.map(String.init) ?? "null"),"
            + "\"remaining\":\(budget.remaining),"
            + "\"resets\":\(budget.resetsAt.map { quoted($0.rfc3339()) } ?? "null"),\"seen\":\(quoted(budget.seenAt.rfc3339()))}"
    }

    static func quoted(_ text: String) -> String {
        var writer = ByteWriter(capacity: text.utf8.count + 2)
        writer.appendJSONString(Bytes(text))
        return writer.finish().string
    }

    // MARK: - Taking out

    /// Everything, one JSON object a line: `{"cursor":…}`, `{"reader":…}`, `{"event":…}`, `{"dead_letter":…}`,
    /// `{"budget":…}`.
    /// - Parameter write: takes some lines; false ends it.
    package static func export(folder: String, node: String?, write: (Bytes) -> Bool) throws {
        guard let file = try StateFile.open(folder: folder) else { return }
        let summary = try file.summary(node: node)
        var codec = EventCodec()
        var writer = ByteWriter(capacity: 1 << 16)
        var goesOn = true
        func line(_ body: (inout ByteWriter) -> Void) {
            body(&writer)
            writer.append(UInt8(ascii: "\n"))
            if writer.count > 1 << 16 { goesOn = write(writer.finish()) }
        }
        try file.cursors { owner, key, value in
            guard node == nil || owner == node else { return true }
            line { writer in
                writer.append("{\"cursor\":{\"node\":\(quoted(owner)),\"key\":\(quoted(key)),\"value\":" as String)
                writer.appendJSONString(value)
                writer.append("}}" as StaticString)
            }
            return goesOn
        }
        for budget in summary.budgets where goesOn {
            line { $0.append("{\"budget\":\(json(budget))}" as String) }
        }
        for subject in summary.subjects where goesOn {
            for reader in subject.readers {
                line { writer in
                    writer.append(
                        "{\"reader\":{\"subject\":\(quoted(subject.name)),\"name\":\(quoted(reader.name)),\"acked\":\(reader.acked)}}"
                            as String)
                }
            }
            guard node == nil || subject.name == node else { continue }
            var at: Int64 = 0
            while goesOn, let part = try file.events(of: subject.name, from: at) {
                at = part.first
                for event in codec.decode(part.events) {
                    line { writer in
                        writer.append(
                            "{\"event\":{\"subject\":\(quoted(subject.name)),\"number\":\(at),\"event\":" as String)
                        event.appendCloudEvent(to: &writer)
                        writer.append("}}" as StaticString)
                    }
                    at += 1
                }
            }
        }
        var last: Int64 = 0
        while goesOn {
            let letters = try file.deadLetters(after: last, node: node)
            guard let final = letters.last else { break }
            last = final.number
            for letter in letters {
                line { writer in
                    writer.append(
                        "{\"dead_letter\":{\"number\":\(letter.number),\"node\":\(quoted(letter.node)),\"reason\":\(quoted(letter.reason)),\"at\":\(quoted(letter.at.rfc3339(milliseconds: true))),"
                            as String)
                    switch letter.body {
                    case .event(let event):
                        writer.append("\"event\":" as StaticString)
                        codec.decode(event).appendCloudEvent(to: &writer)
                    case .raw(let text):
                        writer.append("\"text\":" as StaticString)
                        writer.appendJSONString(text)
                    }
                    writer.append("}}" as StaticString)
                }
            }
        }
        if goesOn { _ = write(writer.finish()) }
    }

    // MARK: - Emptying

    /// Forgets what is of a node, or everything. No feedbus may run on the folder.
    package static func reset(folder: String, node: String?, onlyDeadLetters: Bool) throws {
        try StateFile.open(folder: folder, isWritten: true)?.reset(node: node, onlyDeadLetters: onlyDeadLetters)
    }
}
