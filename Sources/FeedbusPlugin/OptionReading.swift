// feedbus: reads one value of a config as text, number, duration, size, pointer or secret.

import FeedbusBase
import FeedbusJSON
import Synchronization

/// Text as a JSON string.
package func jsonText(_ text: String) -> String { JSON.quote(text).string }

func oneOf(_ words: [String]) -> String { "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ") }

func wrong(_ name: String, _ value: PositionedValue, _ expected: String) -> ConfigProblem {
    value.problem("\"\(name)\" must be \(expected), found \(value.kindName)", code: "wrong-type")
}

func readString(
    _ name: String, _ value: PositionedValue, _ pattern: String, _ accepts: (String) -> Bool
) -> OptionReading<String> {
    guard let text = value.string else { return .problems([wrong(name, value, pattern)]) }
    // In a path, the system would take what stands before a NUL for all of it.
    guard accepts(text), !text.utf8.contains(0) else {
        return .problems([
            value.problem("\"\(name)\" must be \(pattern), found \"\(text)\"", code: "out-of-range")
        ])
    }
    return .value(text)
}

func readInteger(_ name: String, _ value: PositionedValue, _ range: ClosedRange<Int>) -> OptionReading<Int> {
    let wanted =
        range.upperBound == .max
        ? "a whole number from \(range.lowerBound)" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let text) = value.content else { return .problems([wrong(name, value, wanted)]) }
    guard let number = Int(text), range.contains(number) else {
        return .problems([value.problem("\"\(name)\" must be \(wanted), found \(text)", code: "out-of-range")])
    }
    return .value(number)
}

func readDuration(
    _ name: String, _ value: PositionedValue, _ range: ClosedRange<Duration>
) -> OptionReading<Duration> {
    let wanted = "a duration such as \"250ms\", \"60s\", \"5m\", \"1h\" or \"1d\""
    guard let text = value.string else { return .problems([wrong(name, value, wanted)]) }
    guard let duration = Duration(text: text) else {
        return .problems([
            value.problem("\"\(name)\" must be \(wanted), found \"\(text)\"", code: "not-a-duration")
        ])
    }
    guard range.contains(duration) else {
        return .problems([
            value.problem(
                "\"\(name)\" must be from \"\(range.lowerBound.text)\" to \"\(range.upperBound.text)\", found \"\(text)\"",
                code: "out-of-range")
        ])
    }
    return .value(duration)
}

func readSize(_ name: String, _ value: PositionedValue, _ range: ClosedRange<Int>) -> OptionReading<Int> {
    let wanted = "a size such as \"64KiB\" or \"10MB\""
    guard let text = value.string else { return .problems([wrong(name, value, wanted)]) }
    guard let bytes = ByteSize.parse(text) else {
        return .problems([value.problem("\"\(name)\" must be \(wanted), found \"\(text)\"", code: "not-a-size")])
    }
    guard range.contains(bytes) else {
        return .problems([
            value.problem(
                "\"\(name)\" must be from \"\(ByteSize.text(range.lowerBound))\" to"
                    + " \"\(ByteSize.text(range.upperBound))\", found \"\(text)\"", code: "out-of-range")
        ])
    }
    return .value(bytes)
}

func readURL(_ name: String, _ value: PositionedValue, withQuery: Bool = false) -> OptionReading<String> {
    let wanted = "an http or https URL without user\(withQuery ? "" : ", query") or fragment"
    guard let text = value.string else { return .problems([wrong(name, value, wanted)]) }
    let lowered = text.lowercased()
    let scheme = lowered.hasPrefix("https://") ? "https://" : lowered.hasPrefix("http://") ? "http://" : ""
    let rest = text.dropFirst(scheme.count)
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    let refused = withQuery ? "#\\\"<>" : "?#\\\"<>"
    let plain = text.unicodeScalars.allSatisfy {
        $0.value > 0x20 && $0.value < 0x7F && !refused.unicodeScalars.contains($0)
    }
    guard !scheme.isEmpty, !host.isEmpty, !host.contains("@"), plain else {
        // The user may hold a password, the query a key.
        let shown = scheme + (host.lastIndex(of: "@").map { "…" + rest[$0...] } ?? rest).prefix { !"?#".contains($0) }
        return .problems([value.problem("\"\(name)\" must be \(wanted), found \"\(shown)\"", code: "not-a-url")])
    }
    return .value(text.hasSuffix("/") && !withQuery ? String(text.dropLast()) : text)
}

func readPointer(_ name: String, _ value: PositionedValue) -> OptionReading<JSONPointer> {
    let wanted = "a JSON pointer such as \"/value\""
    guard let text = value.string else { return .problems([wrong(name, value, wanted)]) }
    guard let pointer = sharedPointer(text) else {
        return .problems([value.problem("\"\(name)\" must be \(wanted), found \"\(text)\"", code: "not-a-pointer")])
    }
    return .value(pointer)
}

/// Thousands of nodes have the same few pointers: they share the memory of each.
private func sharedPointer(_ text: String) -> JSONPointer? {
    knownPointers.withLock { known in
        if let pointer = known[text] { return pointer }
        guard let pointer = JSONPointer(text) else { return nil }
        if known.count < 1_000 { known[text] = pointer }
        return pointer
    }
}

private let knownPointers = Mutex<[String: JSONPointer]>([:])

func readSecret(_ name: String, _ value: PositionedValue, _ context: OptionContext) -> OptionReading<Secret> {
    // A secret written into the config itself is refused, and not repeated in the message.
    let wanted = "{ \"secret\": \"env:NAME\" } or { \"secret\": \"file:PATH\" }"
    guard let members = value.members, members.count == 1, members[0].key == "secret",
        let place = members[0].value.string
    else {
        return .problems([value.problem("\"\(name)\" must be \(wanted)", code: "not-a-secret")])
    }
    let at = members[0].value
    let found: String
    if place.hasPrefix("env:") {
        let variable = String(place.dropFirst(4))
        guard let text = context.environment[variable] else {
            return .problems([
                at.problem("the environment variable \(variable) of \"\(name)\" is not set", code: "unset-variable")
            ])
        }
        found = text
    } else if place.hasPrefix("file:") {
        let path = String(place.dropFirst(5))
        guard let text = context.readFile(path) else {
            return .problems([
                at.problem("the file \(path) of \"\(name)\" cannot be read", code: "unreadable-file")
            ])
        }
        found = text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
    } else {
        return .problems([at.problem("\"\(name)\" must be \(wanted)", code: "not-a-secret")])
    }
    guard !found.isEmpty else {
        return .problems([at.problem("the secret of \"\(name)\" is empty", code: "not-a-secret")])
    }
    guard found.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
        return .problems([
            at.problem(
                "the secret of \"\(name)\" contains line breaks or control characters", code: "not-a-secret")
        ])
    }
    return .value(Secret(found))
}
