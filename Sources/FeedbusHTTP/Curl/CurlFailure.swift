// feedbus: libcurl's errors in feedbus's words.

import CCurl
import FeedbusBase

/// Why a transfer ended without a whole answer.
struct CurlFailure {
    var code: CURLcode
    /// What libcurl says about this very transfer; may be empty.
    var detail: String
    /// The name was looked up, the connection made: the request could be sent.
    var wasConnected: Bool
    var wasResolved: Bool
    var isTooLarge: Bool

    /// The error for the one who asked.
    func error(for request: HTTPRequest) -> FeedbusError {
        let (kind, words, isRetriable) = meaning(for: request)
        return FeedbusError(kind, "\(request.shown): \(words)", isRetriable: isRetriable)
    }

    private func meaning(for request: HTTPRequest) -> (FeedbusError.Code, String, Bool) {
        let told = Redaction.text(detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail, of: request)
        if isTooLarge || code == CURLE_FILESIZE_EXCEEDED {
            return (.httpBodyTooLarge, "the body is larger than \(ByteSize.text(request.maxBody)) (max_body)", false)
        }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return (.httpDNS, "no address: \(told)", true)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            return (.httpConnect, "no connection: \(told)", true)
        case CURLE_OPERATION_TIMEDOUT where !wasResolved:
            return (.httpDNS, "no address in time: \(told)", true)
        case CURLE_OPERATION_TIMEDOUT where !wasConnected:
            return (.httpConnect, "no connection in time: \(told)", true)
        case CURLE_OPERATION_TIMEDOUT:
            return (.httpTimeout, "timed out: no whole answer within \(request.timeout.text) (timeout)", true)
        case CURLE_SSL_CONNECT_ERROR:
            return (.httpTLS, "the TLS handshake failed: \(told)", true)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED:
            return (.httpTLS, "the service's certificate or TLS is not to be trusted: \(told)", false)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return (.httpReset, "the connection ended before the answer was complete: \(told)", true)
        // Once connected, this is an answer without a status line, which HTTP/0.9 allowed.
        case CURLE_URL_MALFORMAT,
            CURLE_UNSUPPORTED_PROTOCOL where !wasConnected:
            return (.httpURL, "not an http or https URL: \(told)", false)
        case CURLE_OUT_OF_MEMORY:
            return (FeedbusError.Code("http.curl"), told, true)
        default:
            return (.httpProtocol, "not a proper answer: \(told)", true)
        }
    }
}
