// feedbus: answers from a recording.

package import FeedbusBase
package import FeedbusLoop
import Synchronization

/// Answers requests from a HAR 1.2 file, its own or one of a browser's devtools. A service that was asked several times
/// answers in the recorded order, and then with its last answer again; to a request that has the answer's validators
/// with 304.
package final class RecordedTransport: HTTPTransport {
    /// What must be equal to match, the query aside.
    private struct Key: Hashable {
        var method: String
        var endpoint: String
    }

    /// For messages: the path of the recording.
    package let name: String
    private let exchanges: [Key: [RecordedExchange]]
    /// How often each request was answered; the key is the request without its secrets.
    private let played = Mutex<[String: Int]>([:])

    /// - Throws: `FeedbusError` (`http.recording`) for what is no HAR file.
    package init(har: Bytes, name: String) throws(FeedbusError) {
        self.name = name
        exchanges = Dictionary(grouping: try HARReader.exchanges(in: har, name: name)) {
            Key(method: $0.method, endpoint: $0.url.endpoint)
        }
    }

    private init(name: String, exchanges: [Key: [RecordedExchange]]) {
        self.name = name
        self.exchanges = exchanges
    }

    /// The same recording, from its beginning.
    package func rewound() -> RecordedTransport { RecordedTransport(name: name, exchanges: exchanges) }

    /// Reads a recording of at most 1 GiB.
    /// - Throws: `FeedbusError` (`http.recording`) where it cannot be read.
    /// - Parameter name: what the recording is called in messages; its path where nil.
    package static func load(_ path: String, named name: String? = nil, on host: any LoopHost) async throws
        -> RecordedTransport
    {
        let file: Bytes
        do {
            file = try await readWholeFile(path, limit: 1 << 30, on: host)
        } catch {
            throw FeedbusError(.httpRecording, "the recording cannot be read: \(error)", cause: error)
        }
        return try await host.offload { try RecordedTransport(har: file, name: name ?? path) }
    }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        guard let answer = try answer(to: request) else {
            throw FeedbusError(.httpNotRecorded, "\(request.shown): the recording \(name) holds no answer to it")
        }
        return answer
    }

    /// The next answer to a request; nil where none was recorded.
    func answer(to request: HTTPRequest) throws(FeedbusError) -> HTTPResponse? {
        let url = try HTTPURL(request.url)
        let query = RecordedTransport.query(of: url, without: request.secretQuery)
        let key = Key(method: request.method.uppercased(), endpoint: url.endpoint)
        let matching = (exchanges[key] ?? []).filter {
            RecordedTransport.query(of: $0.url, without: request.secretQuery) == query
        }
        guard !matching.isEmpty else { return nil }
        let identity = "\(key.method) \(key.endpoint)?\(query.joined(separator: "&"))"
        let turn = played.withLock { played in
            defer { played[identity, default: 0] += 1 }
            return played[identity, default: 0]
        }
        return RecordedTransport.play(matching, turn: turn, for: request)
    }

    private static func play(_ matching: [RecordedExchange], turn: Int, for request: HTTPRequest) -> HTTPResponse {
        let etag = request.headers["If-None-Match"]
        let since = request.headers["If-Modified-Since"]
        var chosen = min(turn, matching.count - 1)
        if matching[chosen].status == 304 && etag == nil && since == nil {
            // A 304 was the answer to validators. Who has none gets what it stands for: the whole answer before it.
            chosen =
                matching[...chosen].lastIndex { $0.status != 304 } ?? matching.firstIndex { $0.status != 304 } ?? chosen
        }
        let exchange = matching[chosen]
        let isKnown: Bool
        if let etag {
            isKnown = exchange.headers["ETag"].map { listed in contains(etag, listed) } ?? false
        } else if let since {
            isKnown = exchange.headers["Last-Modified"] == since
        } else {
            isKnown = false
        }
        let isUnchanged = exchange.status == 200 && isKnown
        return HTTPResponse(
            status: isUnchanged ? 304 : exchange.status, headers: exchange.headers,
            body: isUnchanged ? Bytes() : exchange.body, url: request.url, recorded: true)
    }

    /// `If-None-Match` is a list of ETags; they are compared without `W/`.
    private static func contains(_ list: String, _ etag: String) -> Bool {
        if list == "*" || Validators.isSameETag(list, etag) { return true }
        return list.split(separator: ",").contains { one in
            Validators.isSameETag(String(one.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()), etag)
        }
    }

    /// The query as a set, however it was encoded and ordered.
    private static func query(of url: HTTPURL, without secrets: [String]) -> [String] {
        url.queryItems.map { (Percent.decoded($0.name), Percent.decoded($0.value)) }
            .filter { !secrets.contains($0.0) }.map { "\($0.0)=\($0.1)" }.sorted()
    }
}

extension FeedbusError.Code {
    /// A recording that cannot be read or written.
    package static let httpRecording = FeedbusError.Code("http.recording")
}
