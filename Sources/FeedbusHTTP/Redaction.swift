// feedbus: what must not be shown, and how the rest is shown.

import FeedbusBase

/// Hides the secrets of a request in everything that is shown or kept.
enum Redaction {
    /// In the place of a secret. Plain ASCII: it stands in URLs, headers and JSON.
    static let mark = "REDACTED"

    private static let secretHeaders = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token",
        "private-token", "x-goog-api-key",
    ]

    static func isSecretHeader(_ name: String) -> Bool {
        secretHeaders.contains { equalNames($0, name) }
    }

    /// The URL without user and password, and with the values of secret query items hidden; else as it is.
    static func url(_ url: String, secretQuery: [String]) -> String {
        var rest = url[...]
        var shown = ""
        if let scheme = rest.range(of: "://") {
            shown += rest[..<scheme.upperBound]
            rest = rest[scheme.upperBound...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        }
        guard !secretQuery.isEmpty, let mark = rest.firstIndex(of: "?") else { return shown + rest }
        let query = rest[rest.index(after: mark)...].prefix { $0 != "#" }
        shown += rest[...mark]
        shown += query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            return secretQuery.contains(String(name)) ? "\(name)=\(Redaction.mark)" : String(item)
        }.joined(separator: "&")
        return shown + rest[query.endIndex...]
    }

    /// Text of a service, which may quote what was sent to it.
    static func text(_ text: String, of request: HTTPRequest) -> String {
        var shown = text
        for secret in secrets(of: request) where secret.count >= 4 {
            shown = shown.split(separator: secret, omittingEmptySubsequences: false).joined(separator: mark)
        }
        return shown
    }

    private static func secrets(of request: HTTPRequest) -> [String] {
        var found = request.headers.filter { isSecretHeader($0.name) }.map(\.value)
        // "Bearer x" is quoted back without its first word.
        found += found.compactMap { $0.split(separator: " ").last.map(String.init) }
        if let bearer = request.bearer { found.append(bearer.reveal()) }
        if !request.secretQuery.isEmpty, let url = try? HTTPURL(request.url) {
            found += url.queryItems.filter { request.secretQuery.contains($0.name) }.map(\.value)
        }
        return found
    }
}

extension HTTPRequest {
    /// `GET https://…`, fit to be shown.
    var shown: String { "\(method) \(Redaction.url(url, secretQuery: secretQuery))" }
}

extension StringProtocol {
    /// Where a text occurs first.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
