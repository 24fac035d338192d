// feedbus: URLs, read by the same parser that libcurl connects by.

import CCurl
import FeedbusBase

/// An absolute `http` or `https` URL.
///
/// It is libcurl's parser that reads it: two parsers that disagree about the host of a URL are how credentials leak.
struct HTTPURL: Sendable, Hashable {
    /// The whole URL, normalised, without fragment.
    let text: String
    /// `http` or `https`.
    let scheme: String
    let port: Int
    /// Scheme, host and port. Stored, as every request needs it several times.
    let origin: String
    /// Bytes of `text` in front of the path.
    private let pathStart: Int

    /// Reads a URL, or a reference relative to `base` (RFC 3986, section 5).
    /// - Throws: `FeedbusError` (`http.url`), not retriable.
    init(_ reference: String, relativeTo base: HTTPURL? = nil) throws(FeedbusError) {
        if base == nil, let plain = HTTPURL(plain: reference) {
            self = plain
            return
        }
        // The same document (RFC 3986, section 4.4): libcurl takes it for the folder.
        if let base, reference.isEmpty || reference.utf8.first == UInt8(ascii: "#") {
            self = base
            return
        }
        guard let handle = curl_url() else { throw FeedbusError(.httpURL, "no memory for a URL") }
        defer { curl_url_cleanup(handle) }
        if let base { _ = curl_url_set(handle, CURLUPART_URL, base.text, 0) }
        // Encoding copies byte by byte; nearly every URL is encoded already.
        let isEncoded = reference.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        let code = curl_url_set(handle, CURLUPART_URL, reference, isEncoded ? 0 : UInt32(CURLU_URLENCODE))
        if !isEncoded || reference.utf8.contains(UInt8(ascii: "#")) {
            _ = curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        }
        func part(_ what: CURLUPart, _ flags: Int32 = 0) -> String? {
            var found: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, what, &found, UInt32(flags)) == CURLUE_OK, let found else { return nil }
            defer { curl_free(found) }
            return String(cString: found)
        }
        guard code == CURLUE_OK, let scheme = part(CURLUPART_SCHEME), ["http", "https"].contains(scheme),
            let host = part(CURLUPART_HOST), !host.isEmpty,
            let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap({ Int($0) })
        else { throw FeedbusError(.httpURL, "not an http or https URL: \(reference)") }
        guard let text = part(CURLUPART_URL) else { throw FeedbusError(.httpURL, "no memory for a URL") }
        let isLower = !host.utf8.contains { (0x41...0x5A).contains($0) || $0 > 0x7F }
        self.init(
            text: text, scheme: scheme, origin: "\(scheme)://\(isLower ? host : host.lowercased()):\(port)", port: port)
    }

    /// - Parameter text: with a slash behind host and port.
    private init(text: String, scheme: String, origin: String, port: Int) {
        self.text = text
        self.scheme = scheme
        self.origin = origin
        self.port = port
        let authority = scheme.utf8.count + 3
        pathStart =
            text.utf8.dropFirst(authority).firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
            .map { text.utf8.distance(from: text.utf8.startIndex, to: $0) } ?? text.utf8.count
    }

    /// Reads a URL of such plain form that no two parsers can disagree about it, in a tenth of the time: nearly all are.
    /// Nil for all others, be they URLs or not: those are left to libcurl.
    private init?(plain reference: String) {
        var text = reference
        let isHTTPS = reference.hasPrefix("https://")
        guard isHTTPS || reference.hasPrefix("http://") else { return nil }
        let scheme = isHTTPS ? "https" : "http"
        let found = text.withUTF8 { bytes in
            PlainURL.read(bytes, after: scheme.utf8.count + 3).map { port, path in
                (port, path, origin: String(decoding: UnsafeBufferPointer(rebasing: bytes[..<path]), as: UTF8.self))
            }
        }
        guard let (port, path, origin) = found else { return nil }
        self.text = reference
        self.scheme = scheme
        self.origin = port == nil ? origin + (isHTTPS ? ":443" : ":80") : origin
        self.port = port ?? (isHTTPS ? 443 : 80)
        pathStart = path
    }

    /// From the slash on, without the query.
    var path: String { String(decoding: text.utf8.dropFirst(pathStart).prefix { $0 != 0x3F }, as: UTF8.self) }

    /// A name, with a password or without, stands in front of the host.
    var namesUser: Bool { text.utf8.prefix(pathStart).contains(UInt8(ascii: "@")) }

    /// Without the question mark; nil where there is none. An empty one asks for nothing: it is none.
    var query: String? {
        guard let mark = text.utf8.firstIndex(of: 0x3F) else { return nil }
        let query = text[text.utf8.index(after: mark)...]
        return query.isEmpty ? nil : String(query)
    }

    /// In lower case.
    var host: Substring {
        let host = origin.dropFirst(scheme.count + 3)
        return host[..<(host.lastIndex(of: ":") ?? host.endIndex)]
    }

    /// Where it points, without what is asked there: one endpoint of a service.
    var endpoint: String { origin + path }

    /// The items of the query, in order, as they are written (percent-encoded).
    var queryItems: [(name: String, value: String)] {
        (query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
        }
    }

    /// True where what is secret between us and that origin may go on to another: the same host, the same port, or the
    /// step from plain HTTP to TLS on their usual ports.
    func maySendCredentials(on next: HTTPURL) -> Bool {
        guard host == next.host else { return false }
        if scheme == next.scheme && port == next.port { return true }
        return scheme == "http" && port == 80 && next.scheme == "https" && next.port == 443
    }
}
