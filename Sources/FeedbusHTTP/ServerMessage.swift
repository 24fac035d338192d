// feedbus: the server's own words about an error.

import FeedbusBase
import FeedbusJSON

/// Finds the sentence in an error's body that a person can read.
enum ServerMessage {
    private static let longest = 200

    /// JSON `message` (and the `explanation` beside it), `error` or `error.message`, or the first line of text; empty where
    /// there is none. Without the secrets of the request, which the service may quote.
    static func find(in response: HTTPResponse, to request: HTTPRequest) -> String {
        if response.body.isEmpty { return "" }
        if let json = try? JSON.parse(response.body) {
            return tidy(Redaction.text(words(in: json) ?? "", of: request))
        }
        let text = Redaction.beginning(of: response.body, most: 4_096, of: request).string
        let isHTML = response.headers["Content-Type"]?.lowercased().contains("html") == true || text.hasPrefix("<")
        let plain = isHTML ? withoutTags(text) : text
        return plain.split(whereSeparator: \.isNewline).lazy.map { tidy(String($0)) }.first { !$0.isEmpty } ?? ""
    }

    private static func words(in json: JSONValue) -> String? {
        if let text = json.string { return text }
        if let text = json["message"]?.string {
            // Apertium's message is the status's name alone.
            return json["explanation"]?.string.map { "\(text): \($0)" } ?? text
        }
        if let text = json["error"]?.string { return text }
        return json["error"]?["message"]?.string
    }

    /// One line, without control characters, not too long.
    private static func tidy(_ text: String) -> String {
        var words = text.split {
            $0.isWhitespace || $0.unicodeScalars.allSatisfy { $0.value < 0x20 || $0.value == 0x7F }
        }
        .joined(separator: " ")
        if words.count > longest { words = words.prefix(longest) + "…" }
        return words
    }

    private static func withoutTags(_ html: String) -> String {
        var shown = ""
        var depth = 0
        for character in html {
            if character == "<" { depth += 1 }
            if depth == 0 { shown.append(character) } else if character == ">" { (depth, shown) = (0, shown + " ") }
        }
        return shown
    }
}
