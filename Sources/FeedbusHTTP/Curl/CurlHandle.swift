// feedbus: libcurl's easy handle, and what it has been told.

import CCurl
import FeedbusBase

/// An easy handle that serves one transfer after the other. It remembers what it was told last, and is told only what
/// differs: most requests of a poller are those that it has sent before. Lives on the loop.
final class CurlHandle {
    let raw: UnsafeMutableRawPointer
    /// The transfer that it serves now.
    unowned(unsafe) var transfer: CurlTransfer!
    private let errorText: UnsafeMutablePointer<CChar>
    private let configureSockets: (UnsafeMutableRawPointer) -> Void

    /// The header lines that libcurl reads while a transfer is under way.
    private var lines: UnsafeMutablePointer<curl_slist>?
    private var told = Told()

    private struct Told {
        var url = ""
        var fields: [HTTPHeaders.Field]?
        var bearer: Secret?
        var userAgent: String?
        var timeout = -1
        var connectTimeout = -1
        var maxBody = -1
        var isFresh = false
        /// It was told nothing else: the next request needs nothing undone.
        var isPlain = true
    }

    static let connectTimeout = Duration.seconds(8)

    /// Nil without memory.
    /// - Parameter configureSockets: tells a handle, fresh or reset, who opens and closes its sockets.
    init?(configureSockets: @escaping (UnsafeMutableRawPointer) -> Void) {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        self.configureSockets = configureSockets
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(to: 0)  // empty; libcurl ends what it writes
        configure()
    }

    deinit {
        curl_easy_cleanup(raw)
        curl_slist_free_all(lines)
        errorText.deallocate()
    }

    /// What libcurl has said about the transfer; may be empty.
    var detail: String { String(cString: errorText) }

    /// The URL that it was last told.
    var url: String { told.url }

    /// Makes it as good as new after a transfer. Its connection stays with the multi handle.
    /// - Parameter isWhole: the transfer came to its end by itself.
    func settle(isWhole: Bool) {
        if told.isPlain && isWhole { return }
        curl_easy_reset(raw)
        told = Told()
        configure()
    }

    /// Tells libcurl what is the same for all requests.
    private func configure() {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            // Or a cancelled look-up would hold up the loop until its thread has given up.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), (CURLOPT_TCP_KEEPALIVE, 1),
        ]
        for (option, value) in numbers { _ = feedbus_curl_set_long(raw, option, value) }
        _ = feedbus_curl_set_string(raw, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = feedbus_curl_set_string(raw, CURLOPT_ACCEPT_ENCODING, "")
        _ = feedbus_curl_set_receiver(raw, CURLOPT_WRITEFUNCTION, receiveBody)
        _ = feedbus_curl_set_receiver(raw, CURLOPT_HEADERFUNCTION, receiveHeader)
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = feedbus_curl_set_pointer(raw, CURLOPT_ERRORBUFFER, errorText)
        _ = feedbus_curl_set_pointer(raw, CURLOPT_PRIVATE, context)
        _ = feedbus_curl_set_pointer(raw, CURLOPT_WRITEDATA, context)
        _ = feedbus_curl_set_pointer(raw, CURLOPT_HEADERDATA, context)
        configureSockets(raw)
    }

    // MARK: - Requests

    /// Tells libcurl all about a request.
    /// - Parameters:
    ///   - timeLeft: for the whole transfer.
    ///   - isFresh: on a connection of its own.
    /// - Throws: `FeedbusError` where the request cannot be sent as it is.
    func prepare(
        _ request: HTTPRequest, userAgent: String, timeLeft: Duration, isFresh: Bool
    ) throws(FeedbusError) {
        errorText.pointee = 0
        tell(\.isFresh, isFresh) { set(CURLOPT_FRESH_CONNECT, $0 ? 1 : 0) }
        if told.url != request.url {
            told.url = request.url
            set(CURLOPT_URL, request.url)
        }
        tell(\.timeout, milliseconds(timeLeft)) { set(CURLOPT_TIMEOUT_MS, $0) }
        tell(\.connectTimeout, milliseconds(min(timeLeft, Self.connectTimeout))) { set(CURLOPT_CONNECTTIMEOUT_MS, $0) }
        if told.fields == nil || told.fields! != request.headers.fields || told.bearer != request.bearer {
            try setHeaders(request, userAgent)
        }
        try setMethod(request)
        // A name or password in the URL stays with the handle.
        if request.url.utf8.contains(UInt8(ascii: "@")) { told.isPlain = false }
    }

    private func tell<Value: Equatable>(
        _ what: WritableKeyPath<Told, Value>, _ value: Value, _ set: (Value) -> Void
    ) {
        guard told[keyPath: what] != value else { return }
        told[keyPath: what] = value
        set(value)
    }

    private func setMethod(_ request: HTTPRequest) throws(FeedbusError) {
        if request.method == "HEAD" {
            told.isPlain = false
            return set(CURLOPT_NOBODY, 1)
        }
        if told.maxBody != request.maxBody {
            told.maxBody = request.maxBody
            _ = feedbus_curl_set_size(raw, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(request.maxBody))
        }
        if request.method == "GET" && request.body == nil { return }
        told.isPlain = false
        if request.method == "POST" || request.body != nil {
            let body = request.body ?? Bytes()
            set(CURLOPT_POST, 1)
            _ = feedbus_curl_set_size(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            body.withUnsafeBytes { bytes in
                // Copied: the request's own bytes may move before libcurl reads them.
                _ = feedbus_curl_set_pointer(
                    raw, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
        }
        if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
    }

    private func setHeaders(_ request: HTTPRequest, _ userAgent: String) throws(FeedbusError) {
        told.fields = nil
        // No waiting for "100 Continue" before a body: our bodies are small.
        var next = curl_slist_append(nil, "Expect:")
        var hasUserAgent = false
        for field in request.headers {
            guard isSendable(field.name), !field.name.isEmpty, isSendable(field.value) else {
                curl_slist_free_all(next)
                throw FeedbusError(
                    FeedbusError.Code("http.header"), "\(request.shown): a header has a line break in it")
            }
            next = curl_slist_append(
                next, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
            if equalNames(field.name, "User-Agent") { hasUserAgent = true }
        }
        if let bearer = request.bearer?.reveal() {
            guard isSendable(bearer) else {
                curl_slist_free_all(next)
                throw FeedbusError(
                    FeedbusError.Code("http.header"), "\(request.shown): the token has a line break in it")
            }
            next = curl_slist_append(next, "Authorization: Bearer \(bearer)")
        }
        _ = feedbus_curl_set_list(raw, CURLOPT_HTTPHEADER, next)
        curl_slist_free_all(lines)
        lines = next
        let agent = hasUserAgent ? nil : userAgent
        _ = feedbus_curl_set_string(raw, CURLOPT_USERAGENT, agent)
        told.fields = request.headers.fields
        told.bearer = request.bearer
    }

    private func isSendable(_ text: String) -> Bool { !text.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }

    // MARK: - Figures

    var status: Int { number(CURLINFO_RESPONSE_CODE) ?? 0 }

    /// No connection was made for the transfer: it went over one that was kept.
    var wasOnKeptConnection: Bool { number(CURLINFO_NUM_CONNECTS) == 0 }

    private func number(_ info: CURLINFO) -> Int? {
        var value = 0
        return feedbus_curl_get_long(raw, info, &value) == CURLE_OK ? value : nil
    }

    /// Microseconds.
    func time(_ info: CURLINFO) -> Int64 {
        var microseconds = curl_off_t(0)
        _ = feedbus_curl_get_size(raw, info, &microseconds)
        return Int64(microseconds)
    }

    private func set(_ option: CURLoption, _ value: Int) { _ = feedbus_curl_set_long(raw, option, value) }

    private func set(_ option: CURLoption, _ value: String) { _ = feedbus_curl_set_string(raw, option, value) }

    private func milliseconds(_ duration: Duration) -> Int {
        Int(clamping: min(max(duration.nanoseconds / 1_000_000, 1), 1_000_000_000))
    }
}

/// libcurl's write callback. Returning less than was given ends the transfer.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let transfer = Unmanaged<CurlHandle>.fromOpaque(context!).takeUnretainedValue().transfer!
    let total = size * count
    return transfer.receive(UnsafeRawBufferPointer(start: bytes, count: total)) ? total : 0
}

/// libcurl's header callback.
private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let transfer = Unmanaged<CurlHandle>.fromOpaque(context!).takeUnretainedValue().transfer!
    let total = size * count
    transfer.receiveHeaderLine(UnsafeRawBufferPointer(start: bytes, count: total))
    return total
}
