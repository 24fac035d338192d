// feedbus: when validators are sent, and what an answer makes of them.

import FeedbusBase

/// The rules for validators (RFC 9110, section 13; RFC 9111, section 4.3.4).
extension Validators {
    /// No answer of 304 is trusted for longer: an hour.
    static let longestTrust = Duration.seconds(3_600)

    var isEmpty: Bool { etag == nil && lastModified == nil }

    /// True where the next request goes without them, to see whether they are stuck: after so many 304 in a row, or an
    /// hour after the last whole answer.
    func areDueForRevalidation(after limit: Int, now: WallTime) -> Bool {
        guard !isEmpty else { return false }
        // A wall clock that was set back says nothing; the count still does.
        return notModifiedInARow >= limit || now - lastFull >= Validators.longestTrust
    }

    /// Makes a request conditional: by the ETag, and by the date only where there is no ETag, because dates lag behind
    /// on lists.
    func apply(to headers: inout HTTPHeaders) {
        if let etag {
            headers["If-None-Match"] = etag
        } else if let lastModified {
            headers["If-Modified-Since"] = lastModified
        }
    }

    /// The validators of a whole answer. One without any has none: the old ones were of another answer.
    init(of headers: HTTPHeaders, now: WallTime) {
        self.init(etag: headers["ETag"], lastModified: headers["Last-Modified"], lastFull: now)
    }

    /// The validators after a 304: those that it carries are new, the others stay. A 304 may carry the strong form of
    /// the weak ETag that was sent; that is the same one, and what was received first is kept.
    func afterNotModified(_ headers: HTTPHeaders) -> Validators {
        var next = self
        next.notModifiedInARow += 1
        if let received = headers["ETag"], etag.map({ !Validators.isSameETag($0, received) }) ?? true {
            next.etag = received
        }
        if let received = headers["Last-Modified"] { next.lastModified = received }
        return next
    }

    /// Weak comparison (RFC 9110, section 8.8.3.2): `W/` does not count.
    static func isSameETag(_ a: String, _ b: String) -> Bool { a == b || opaque(a) == opaque(b) }

    private static func opaque(_ etag: String) -> Substring {
        etag.hasPrefix("W/") || etag.hasPrefix("w/") ? etag.dropFirst(2) : etag[...]
    }
}
