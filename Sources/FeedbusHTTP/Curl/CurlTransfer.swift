// feedbus: one exchange inside libcurl.

import CCurl
import FeedbusBase

/// An easy handle at work: what it sends, and what has come in so far. Lives on the loop.
final class CurlTransfer {
    let id: UInt64
    let request: HTTPRequest
    let handle: UnsafeMutableRawPointer
    private let continuation: CheckedContinuation<HTTPResponse, any Error>
    /// The header lines that libcurl reads while the transfer is under way; freed with the transfer.
    private var list: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>

    private var headers = HTTPHeaders()
    private var body = ByteWriter()
    private var isInBody = false
    private var isTooLarge = false
    /// Something of an answer has come.
    private var hasAnswer = false
    /// How long this attempt may take; an attempt after the first has what the first left.
    private var timeLeft: Duration
    private var isRepeat = false

    init(
        id: UInt64, request: HTTPRequest, handle: UnsafeMutableRawPointer,
        continuation: CheckedContinuation<HTTPResponse, any Error>
    ) {
        self.id = id
        self.request = request
        self.handle = handle
        self.continuation = continuation
        timeLeft = request.timeout
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(to: 0)  // empty; libcurl ends what it writes
    }

    deinit {
        curl_slist_free_all(list)
        errorText.deallocate()
    }

    static let connectTimeout = Duration.seconds(8)

    /// Tells libcurl what is the same for all requests, once for a handle that is fresh or reset.
    static func configure(_ handle: UnsafeMutableRawPointer) {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            // Or a cancelled look-up would hold up the loop until its thread has given up.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), (CURLOPT_TCP_KEEPALIVE, 1),
        ]
        for (option, value) in numbers { _ = feedbus_curl_set_long(handle, option, value) }
        _ = feedbus_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = feedbus_curl_set_string(handle, CURLOPT_ACCEPT_ENCODING, "")
        _ = feedbus_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION, receiveBody)
        _ = feedbus_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION, receiveHeader)
    }

    /// True where a handle is as good for the next request as after `configure`: `prepare` sets anew all that it has set.
    var leavesHandlePlain: Bool { request.method == "GET" && request.body == nil && !request.url.utf8.contains(0x40) }

    /// Tells libcurl all about the request. The handle is configured, or has served the same request.
    /// - Throws: `FeedbusError` where the request cannot be sent as it is.
    func prepare(userAgent: String) throws(FeedbusError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_FRESH_CONNECT, isRepeat ? 1 : 0)
        set(CURLOPT_URL, request.url)
        set(CURLOPT_TIMEOUT_MS, milliseconds(timeLeft))
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(min(timeLeft, CurlTransfer.connectTimeout)))
        if request.headers["User-Agent"] == nil {
            set(CURLOPT_USERAGENT, userAgent)
        } else {
            _ = feedbus_curl_set_string(handle, CURLOPT_USERAGENT, nil)
        }
        _ = feedbus_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        _ = feedbus_curl_set_pointer(handle, CURLOPT_PRIVATE, context)
        _ = feedbus_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = feedbus_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        setMethod()
        try setHeaders()
    }

    /// Takes out of the handle what lives no longer than the transfer.
    static func forget(_ handle: UnsafeMutableRawPointer) {
        _ = feedbus_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
        _ = feedbus_curl_set_list(handle, CURLOPT_HTTPHEADER, nil)
    }

    private func setMethod() {
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
            return
        }
        _ = feedbus_curl_set_size(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(request.maxBody))
        if request.method == "GET" && request.body == nil { return }
        if request.method == "POST" || request.body != nil {
            let body = request.body ?? Bytes()
            set(CURLOPT_POST, 1)
            _ = feedbus_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            body.withUnsafeBytes { bytes in
                // Copied: the request's own bytes may move before libcurl reads them.
                _ = feedbus_curl_set_pointer(
                    handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
        }
        if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
    }

    private func setHeaders() throws(FeedbusError) {
        // No waiting for "100 Continue" before a body: our bodies are small.
        var lines = ["Expect:"]
        for field in request.headers {
            guard isSendable(field.name), !field.name.isEmpty, isSendable(field.value) else {
                throw FeedbusError(
                    FeedbusError.Code("http.header"), "\(request.shown): a header has a line break in it")
            }
            lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        if let bearer = request.bearer?.reveal() {
            guard isSendable(bearer) else {
                throw FeedbusError(
                    FeedbusError.Code("http.header"), "\(request.shown): the token has a line break in it")
            }
            lines.append("Authorization: Bearer \(bearer)")
        }
        curl_slist_free_all(list)
        list = nil
        for line in lines { list = curl_slist_append(list, line) }
        _ = feedbus_curl_set_list(handle, CURLOPT_HTTPHEADER, list)
    }

    private func isSendable(_ text: String) -> Bool { !text.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }

    /// Whether the request is to be sent once more, on a connection of its own: a kept connection ended before any of
    /// the answer had come, most likely because the service closed it just then (RFC 9112, 9.3.1), and the method can be
    /// repeated without harm. Call it after libcurl has ended the transfer, and `prepare` next where it says yes.
    ///
    /// libcurl does the same where it reads the end of the connection, with any method; not where it fails to send, and
    /// after a few tries, which may all meet dead connections.
    func beginRepeat(after code: CURLcode) -> Bool {
        let diedEarly = [CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2].contains(code)
        guard diedEarly, !isRepeat, !hasAnswer, request.isIdempotent, wasOnKeptConnection else { return false }
        timeLeft -= .microseconds(time(CURLINFO_TOTAL_TIME_T))
        guard timeLeft > .zero else { return false }
        isRepeat = true
        errorText.pointee = 0
        return true
    }

    private var wasOnKeptConnection: Bool {
        var made = 0
        return feedbus_curl_get_long(handle, CURLINFO_NUM_CONNECTS, &made) == CURLE_OK && made == 0
    }

    /// libcurl has ended the transfer: the one who waits gets the answer, or the reason why there is none.
    func finish(_ code: CURLcode) {
        guard code == CURLE_OK else {
            let failure = CurlFailure(
                code: code, detail: String(cString: errorText), wasConnected: time(CURLINFO_PRETRANSFER_TIME_T) > 0,
                wasResolved: time(CURLINFO_NAMELOOKUP_TIME_T) > 0, isTooLarge: isTooLarge)
            return continuation.resume(throwing: failure.error(for: request))
        }
        var status = 0
        _ = feedbus_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        continuation.resume(
            returning: HTTPResponse(status: status, headers: headers, body: body.finish(), url: request.url))
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }

    // MARK: - What comes in

    /// Takes a piece of unpacked body; false ends the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if !isInBody {
            isInBody = true
            // Of a packed body, the length says little about what comes out.
            if headers["Content-Encoding"] == nil, let length = headers["Content-Length"].flatMap({ Int($0) }) {
                body = ByteWriter(capacity: min(max(length, 0), request.maxBody))
            }
        }
        guard body.count + bytes.count <= request.maxBody else {
            isTooLarge = true
            return false
        }
        body.append(bytes)
        return true
    }

    /// Takes one header line with its line end.
    func receiveHeaderLine(_ bytes: UnsafeRawBufferPointer) {
        hasAnswer = true
        // Fields behind the body are not part of what feedbus knows of an answer.
        guard !isInBody else { return }
        // By bytes: it is done for every line of every answer, and characters are many times as slow.
        var line = bytes[...]
        while let last = line.last, last == 10 || last == 13 { line.removeLast() }
        if line.starts(with: "HTTP/".utf8) {
            // Another head: what came before was an interim answer (1xx).
            headers = HTTPHeaders()
        } else if let first = line.first, isBlank(first) {
            headers.continueLast(with: text(line.drop(while: isBlank)))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            var value = line[line.index(after: colon)...].drop(while: isBlank)
            while let last = value.last, isBlank(last) { value.removeLast() }
            headers.append(text(line[..<colon]), text(value))
        }
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String { String(decoding: bytes, as: UTF8.self) }

    // MARK: - Options

    private func set(_ option: CURLoption, _ value: Int) { _ = feedbus_curl_set_long(handle, option, value) }

    private func set(_ option: CURLoption, _ value: String) { _ = feedbus_curl_set_string(handle, option, value) }

    private func time(_ info: CURLINFO) -> Int64 {
        var microseconds = curl_off_t(0)
        _ = feedbus_curl_get_size(handle, info, &microseconds)
        return Int64(microseconds)
    }

    private func milliseconds(_ duration: Duration) -> Int {
        Int(clamping: min(max(duration.nanoseconds / 1_000_000, 1), 1_000_000_000))
    }
}

/// libcurl's write callback. Returning less than was given ends the transfer.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
    let total = size * count
    return transfer.receive(UnsafeRawBufferPointer(start: bytes, count: total)) ? total : 0
}

/// libcurl's header callback.
private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
    let total = size * count
    transfer.receiveHeaderLine(UnsafeRawBufferPointer(start: bytes, count: total))
    return total
}
