// feedbus: what must not be shown, and how the rest is shown.

import FeedbusBase
import FeedbusJSON

/// Hides the secrets of a request in everything that is shown or kept.
enum Redaction {
    /// In the place of a secret. Plain ASCII: it stands in URLs, headers and JSON.
    static let mark: StaticString = "REDACTED"

    private static let secretHeaders = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token",
        "private-token", "x-goog-api-key",
    ]

    static func isSecretHeader(_ name: String, of request: HTTPRequest) -> Bool {
        secretHeaders.contains { equalNames($0, name) } || request.secretHeaders.contains { equalNames($0, name) }
    }

    /// The URL without user and password, and with the values of secret query items hidden; else as it is.
    static func url(_ url: String, secretQuery: [String]) -> String {
        var rest = url[...]
        var shown = ""
        let afterScheme = rest.drop { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
        if afterScheme.hasPrefix("://") {
            rest = afterScheme.dropFirst(3)
            shown += url[..<rest.startIndex]
            let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        }
        guard !secretQuery.isEmpty, let mark = rest.firstIndex(of: "?") else { return shown + rest }
        let query = rest[rest.index(after: mark)...].prefix { $0 != "#" }
        return shown + rest[...mark] + items(query, secretQuery: secretQuery) + rest[query.endIndex...]
    }

    /// A query or a form with the values of secret items hidden.
    private static func items(_ query: Substring, secretQuery: [String]) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            return secretQuery.contains(Percent.decoded(String(name))) ? "\(name)=\(mark)" : String(item)
        }.joined(separator: "&")
    }

    /// Text of a service, which may quote what was sent to it. What is cut is cut afterwards: the first part of a secret
    /// is not known as one.
    static func text(_ text: String, of request: HTTPRequest) -> String {
        let finder = SecretFinder(secrets(of: request))
        guard !finder.isEmpty else { return text }
        var text = text
        return text.withUTF8 { finder.hiding(UnsafeRawBufferPointer($0), as: mark) }?.string ?? text
    }

    /// The same for bytes; where nothing is hidden they stay as they are.
    static func text(_ text: Bytes, of request: HTTPRequest) -> Bytes {
        let finder = SecretFinder(secrets(of: request))
        guard !finder.isEmpty else { return text }
        return text.withUnsafeBytes { finder.hiding($0, as: mark) } ?? text
    }

    /// The first `most` bytes of that. A body may have any length, and only its beginning is shown.
    static func beginning(of text: Bytes, most: Int, of request: HTTPRequest) -> Bytes {
        let shown =
            text.withUnsafeBytes {
                SecretFinder(secrets(of: request)).hiding($0, as: mark, most: most)
            } ?? text
        return shown.count > most ? shown[0..<most] : shown
    }

    /// A request's body with the form fields or top-level JSON members hidden that are named as `secretQuery`.
    static func body(_ body: Bytes, of request: HTTPRequest) -> Bytes {
        var shown = body
        if !request.secretQuery.isEmpty {
            if let json = try? JSON.parse(body) {
                let hidden = request.secretQuery.filter { json[$0] != nil }.map { ($0, Bytes("\"\(mark)\"")) }
                if !hidden.isEmpty { shown = JSONEdit.append(hidden.map { (key: $0.0, value: $0.1) }, to: json) }
            } else {
                // A form is written like a query.
                shown = Bytes(items(body.string[...], secretQuery: request.secretQuery))
            }
        }
        return text(shown, of: request)
    }

    /// Where a redirect leads to.
    static func location(_ location: String, of request: HTTPRequest) -> String {
        text(url(location, secretQuery: request.secretQuery), of: request)
    }

    /// All texts of a request that must not be shown, without any encoding.
    static func secrets(of request: HTTPRequest) -> [String] {
        var found = request.earlierSecrets
        found += request.headers.filter { isSecretHeader($0.name, of: request) }.map(\.value)
        // "Bearer x" is quoted back without its first word.
        found += found.compactMap { $0.split(separator: " ").last.map(String.init) }
        found += bodySecrets(of: request)
        if let bearer = request.bearer { found.append(bearer.reveal()) }
        if !request.secretQuery.isEmpty, let url = try? HTTPURL(request.url) {
            found += url.queryItems.filter { request.secretQuery.contains(Percent.decoded($0.name)) }.map {
                Percent.decoded($0.value)
            }
        }
        return found
    }

    /// The values of the form fields or top-level JSON members of a body that are named as `secretQuery`.
    private static func bodySecrets(of request: HTTPRequest) -> [String] {
        guard !request.secretQuery.isEmpty, let body = request.body else { return [] }
        if let json = try? JSON.parse(body) { return request.secretQuery.compactMap { json[$0]?.string } }
        return body.string.split(separator: "&").compactMap { item in
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, request.secretQuery.contains(Percent.decoded(String(parts[0]))) else { return nil }
            return Percent.decoded(String(parts[1]))
        }
    }
}

extension HTTPRequest {
    /// `GET https://…`, fit to be shown.
    package var shown: String { "\(method) \(Redaction.location(url, of: self))" }
}
