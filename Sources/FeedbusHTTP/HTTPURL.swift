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
    /// In lower case.
    let host: String
    let port: Int
    /// Scheme, host and port. Stored, as every request needs it several times.
    let origin: String
    /// From the slash on.
    let path: String
    /// Without the question mark; nil where there is none.
    let query: String?

    /// Reads a URL, or a reference relative to `base` (RFC 3986, section 5).
    /// - Throws: `FeedbusError` (`http.url`), not retriable.
    init(_ reference: String, relativeTo base: HTTPURL? = nil) throws(FeedbusError) {
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
        let path = part(CURLUPART_PATH) ?? "/"
        // An empty query asks for nothing: it is none, as in the text that libcurl makes of it.
        let query = part(CURLUPART_QUERY).flatMap { $0.isEmpty ? nil : $0 }
        // What becomes of the question mark of an empty query is left to libcurl.
        let isBare =
            isEncoded && (query != nil) == reference.utf8.contains(UInt8(ascii: "?"))
            && !reference.utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "[") }
        if base == nil && isBare {
            // As libcurl puts it together, in less time: every request needs it.
            text =
                scheme + "://" + host + (part(CURLUPART_PORT).map { ":" + $0 } ?? "") + path
                + (query.map { "?" + $0 } ?? "")
        } else {
            guard let whole = part(CURLUPART_URL) else { throw FeedbusError(.httpURL, "no memory for a URL") }
            text = whole
        }
        self.scheme = scheme
        self.host = host.utf8.contains { (0x41...0x5A).contains($0) || $0 > 0x7F } ? host.lowercased() : host
        self.port = port
        origin = scheme + "://" + self.host + ":" + String(port)
        self.path = path
        self.query = query
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
