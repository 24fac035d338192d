// feedbus: which redirects are followed, and with what.

import FeedbusBase

/// Follows redirects by the rules of RFC 9110, section 15.4: at most five, to `http` and `https` only, without
/// credentials or a body to another host.
enum Redirects {
    static let most = 5

    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    static func isPermanent(_ status: Int) -> Bool { status == 301 || status == 308 }

    /// The request that a redirect asks for.
    /// - Throws: `FeedbusError` (`http.redirect`), not retriable, where it leads nowhere we may go.
    static func next(
        after request: HTTPRequest, at url: HTTPURL, status: Int, location: String
    ) throws(FeedbusError) -> (request: HTTPRequest, url: HTTPURL) {
        let target: HTTPURL
        do {
            target = try HTTPURL(location, relativeTo: url)
        } catch {
            throw FeedbusError(
                .httpRedirect,
                "\(request.shown): redirected (\(status)) to what is no http or https URL: \(Redaction.location(location, of: request))"
            )
        }
        let becomesGet = status == 303 ? request.method != "HEAD" : (status <= 302 && request.method == "POST")
        let isTrusted = url.maySendCredentials(on: target)
        // A body may hold keys and what users wrote; some services want their key nowhere else.
        if !isTrusted && !becomesGet && request.body != nil {
            throw FeedbusError(
                .httpRedirect,
                "\(request.shown): redirected (\(status)) to another server (\(target.origin)), which must not get what was sent here"
            )
        }
        var next = request
        next.url = target.text
        next.earlierSecrets = Redaction.secrets(of: request)
        if !isTrusted {
            next.bearer = nil
            next.headers = HTTPHeaders(
                request.headers.fields.filter { !Redaction.isSecretHeader($0.name, of: request) })
        }
        if becomesGet && request.method != "GET" {
            next.method = "GET"
            next.body = nil
            next.headers = HTTPHeaders(next.headers.fields.filter { !$0.name.lowercased().hasPrefix("content-") })
        }
        return (next, target)
    }

    /// `301` and `308` that were met in this run, by the URL that was asked for.
    struct Memory: Sendable {
        private var known: [String: (status: Int, location: String)] = [:]

        func target(of request: HTTPRequest, at url: HTTPURL) -> (status: Int, location: String)? {
            if known.isEmpty { return nil }
            return request.method == "GET" || request.method == "HEAD" ? known[url.text] : nil
        }

        mutating func remember(_ request: HTTPRequest, at url: HTTPURL, status: Int, location: String) {
            guard isPermanent(status), request.method == "GET" || request.method == "HEAD", known.count < 1_000 else {
                return
            }
            known[url.text] = (status, location)
        }

        /// The chain did not lead anywhere: ask these URLs again next time.
        mutating func forget(_ urls: some Sequence<HTTPURL>) {
            if known.isEmpty { return }
            for url in urls { known[url.text] = nil }
        }
    }
}
