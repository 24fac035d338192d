// feedbus: one exchange inside libcurl.

import CCurl
import FeedbusBase

/// A request at work: what it sends, and what has come in so far. Lives on the loop.
final class CurlTransfer {
    let id: UInt64
    let request: HTTPRequest
    /// Whose place it takes in the line.
    let origin: String
    let handle: CurlHandle
    private let continuation: UnsafeContinuation<HTTPResponse, any Error>

    private var headers = HTTPHeaders()
    private var body: ReceivedBody
    private var isInBody = false
    private var isTooLarge = false
    /// Something of an answer has come.
    private var hasAnswer = false
    /// How long this attempt may take; an attempt after the first has what the first left.
    private var timeLeft: Duration
    private var isRepeat = false

    init(
        id: UInt64, request: HTTPRequest, origin: String, handle: CurlHandle, pool: BodyPool,
        continuation: UnsafeContinuation<HTTPResponse, any Error>
    ) {
        self.id = id
        self.request = request
        self.origin = origin
        self.handle = handle
        self.continuation = continuation
        body = ReceivedBody(pool: pool)
        timeLeft = request.timeout
    }

    /// Tells the handle all about the request.
    /// - Throws: `FeedbusError` where the request cannot be sent as it is.
    func prepare(userAgent: String) throws(FeedbusError) {
        handle.transfer = self
        try handle.prepare(request, userAgent: userAgent, timeLeft: timeLeft, isFresh: isRepeat)
    }

    /// Whether the request is to be sent once more, on a connection of its own: a kept connection ended before any of
    /// the answer had come, most likely because the service closed it just then (RFC 9112, 9.3.1), and the method can be
    /// repeated without harm. Call it after libcurl has ended the transfer, and `prepare` next where it says yes.
    ///
    /// libcurl does the same where it reads the end of the connection, with any method; not where it fails to send, and
    /// after a few tries, which may all meet dead connections.
    func beginRepeat(after code: CURLcode) -> Bool {
        let diedEarly = [CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2].contains(code)
        guard diedEarly, !isRepeat, !hasAnswer, request.isIdempotent, handle.wasOnKeptConnection else { return false }
        timeLeft -= .microseconds(handle.time(CURLINFO_TOTAL_TIME_T))
        guard timeLeft > .zero else { return false }
        isRepeat = true
        return true
    }

    /// libcurl has ended the transfer: the one who waits gets the answer, or the reason why there is none.
    func finish(_ code: CURLcode) {
        guard code == CURLE_OK else {
            let failure = CurlFailure(
                code: code, detail: handle.detail, wasConnected: handle.time(CURLINFO_PRETRANSFER_TIME_T) > 0,
                wasResolved: handle.time(CURLINFO_NAMELOOKUP_TIME_T) > 0, isTooLarge: isTooLarge)
            return continuation.resume(throwing: failure.error(for: request))
        }
        var response = HTTPResponse(
            status: handle.status, headers: headers, body: body.finish(), url: request.url)
        response.took = request.timeout - timeLeft + .microseconds(handle.time(CURLINFO_TOTAL_TIME_T))
        continuation.resume(returning: response)
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }

    // MARK: - What comes in

    /// Takes a piece of unpacked body; false ends the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if !isInBody {
            isInBody = true
            // Of a packed body, the length says little about what comes out.
            if headers["Content-Encoding"] == nil, let length = headers["Content-Length"].flatMap({ Int($0) }) {
                body.expect(min(max(length, 0), request.maxBody))
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
        // By bytes and places: it is done for every line of every answer, and characters and slices are many times as slow.
        let end = trimmedEnd(bytes, 0, bytes.count) { $0 == 10 || $0 == 13 }
        if end >= 5, bytes[0] == UInt8(ascii: "H"), bytes[..<5].elementsEqual("HTTP/".utf8) {
            // Another head: what came before was an interim answer (1xx).
            headers = HTTPHeaders(capacity: 12)
        } else if end > 0, isBlank(bytes[0]) {
            headers.continueLast(with: text(bytes, trimmedStart(bytes, 0, end), end))
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon < end {
            let start = trimmedStart(bytes, colon + 1, end)
            headers.append(text(bytes, 0, colon), text(bytes, start, trimmedEnd(bytes, start, end, isBlank)))
        }
    }

    private func trimmedStart(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> Int {
        var at = start
        while at < end, isBlank(bytes[at]) { at += 1 }
        return at
    }

    private func trimmedEnd(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int, _ isLeftOut: (UInt8) -> Bool
    ) -> Int {
        var at = end
        while at > start, isLeftOut(bytes[at - 1]) { at -= 1 }
        return at
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private func text(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
    }
}
