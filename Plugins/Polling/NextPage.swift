// feedbus: where the next page of a list is, and whether it may be asked for.

public import FeedbusPlugin

/// Where the next page of a list is.
public enum NextPage: Sendable, Hashable {
    case none
    case page(String)
    /// Another scheme, host or port: the token must not go there, so it is not followed.
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
        let absolute = Self.resolve(target, from: url)
        self = Self.origin(absolute) == Self.origin(service) ? .page(absolute) : .foreign(absolute)
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

    private static func resolve(_ target: String, from url: String) -> String {
        if target.contains("://") { return target }
        if target.hasPrefix("//") { return String(url.prefix { $0 != ":" }) + ":" + target }
        if target.hasPrefix("?") { return String(url.prefix { $0 != "?" }) + target }
        let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
        let host = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
        return scheme + host + (target.hasPrefix("/") ? target : "/" + target)
    }

    /// Scheme, host and port in lower case, the port always named; nil for what is no http(s) URL or names a user.
    private static func origin(_ url: String) -> String? {
        let lowered = url.lowercased()
        guard let mark = lowered.firstRange(of: "://") else { return nil }
        let scheme = lowered[..<mark.lowerBound]
        guard scheme == "https" || scheme == "http" else { return nil }
        let host = lowered[mark.upperBound...].prefix { !"/?#\\".contains($0) }
        guard !host.isEmpty, !host.contains("@") else { return nil }
        let colon = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 }
        return colon == nil ? "\(scheme)://\(host):\(scheme == "https" ? 443 : 80)" : "\(scheme)://\(host)"
    }
}
