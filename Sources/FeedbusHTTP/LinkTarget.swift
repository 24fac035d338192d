// feedbus: where a link in an answer leads, and whether what is secret may go there.

/// Where a link in a service's answer leads (RFC 3986, section 5).
///
/// It is read by the parser that requests are sent by: one that sees another host than libcurl does sends a token to it.
public enum LinkTarget: Sendable, Hashable {
    /// To the service's own origin: the absolute URL, without fragment.
    case own(String)
    /// To another scheme, host or port: the origin alone, as paths and queries may quote what is secret.
    case elsewhere(origin: String)
    /// No `http` or `https` URL, or one that is written as no honest one is: with a name or password, a backslash or a
    /// control character.
    case unusable

    /// - Parameters:
    ///   - reference: as the answer writes it, absolute or relative.
    ///   - base: the URL that the answer came from.
    ///   - service: the URL whose origin links may lead to.
    public init(_ reference: String, from base: String, service: String) {
        let isHonest = reference.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
        guard isHonest, let base = try? HTTPURL(base), let service = try? HTTPURL(service),
            let target = try? HTTPURL(Self.withoutBlanks(reference), relativeTo: base), !target.namesUser
        else {
            self = .unusable
            return
        }
        self = target.origin == service.origin ? .own(target.text) : .elsewhere(origin: target.origin)
    }

    /// Blanks around a URL are no part of it.
    private static func withoutBlanks(_ text: String) -> String {
        var rest = text[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
