// feedbus: where the next page of a list is, and whether it may be asked for.

public import FeedbusPlugin

/// Where the next page of a list is.
public enum NextPage: Sendable, Hashable {
    case none
    case page(String)
    /// Not followed, as the token must not go there. In words for the log, which hold nothing of the address but its
    /// origin: `on another server (https://api.example.com:443)`.
    case foreign(String)

    /// Where a `Link: <...>; rel="next"` leads (RFC 8288).
    /// - Parameters:
    ///   - headers: of the answer.
    ///   - url: where the answer came from; relative targets count from there.
    ///   - service: the address to which links may lead.
    public init(_ headers: HTTPHeaders, from url: String, service: String) {
        guard let target = headers.all("Link").lazy.compactMap(Self.next).first else {
            self = .none
            return
        }
        self.init(target, from: url, service: service)
    }

    /// Where an address in the answer's text leads; it may be relative to `url`.
    public init(_ target: String, from url: String, service: String) {
        self =
            switch LinkTarget(target, from: url, service: service) {
            case .own(let url): .page(url)
            case .elsewhere(let origin): .foreign("on another server (\(origin))")
            case .unusable: .foreign("at an address that cannot be trusted or read")
            }
    }

    /// The target of the first link with the relation `next`. Targets may hold commas and semicolons.
    private static func next(_ header: String) -> String? {
        var rest = header[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let target = rest[rest.index(after: open)..<close]
            rest = rest[rest.index(after: close)...]
            // The parameters end at the comma in front of the next link; quoted commas are no end.
            var isQuoted = false
            let end =
                rest.firstIndex { character in
                    if character == "\"" { isQuoted.toggle() }
                    return character == "," && !isQuoted
                } ?? rest.endIndex
            if isNext(rest[..<end]) { return String(target) }
            rest = rest[end...]
        }
        return nil
    }

    private static func isNext(_ parameters: Substring) -> Bool {
        parameters.split(separator: ";").contains { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]).lowercased() == "rel" else { return false }
            // Several relations may stand in one value, separated by blanks.
            return trimmed(parts[1]).filter { $0 != "\"" }.lowercased().split(separator: " ").contains("next")
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
