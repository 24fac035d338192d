// feedbus: the options of HTTPPoll: where a list is, and what in it is an item.

public import FeedbusPlugin
public import Polling

/// Which items of a poll are emitted.
enum Emission: String, Sendable, CaseIterable {
    /// An item whose id was not there before.
    case new
    /// Also an item whose text is not what it was.
    case change
    /// Every item of every poll.
    case poll
}

/// How the service orders its list.
enum ListOrder: String, Sendable, CaseIterable {
    case newestFirst = "newest_first"
    case oldestFirst = "oldest_first"
}

/// As small as a reference: of thousands of feeds, each has several copies.
public struct HTTPPollOptions: PollingOptions {
    struct Fields: Sendable {
        var url: String = ""
        var items: JSONPointer = JSONPointer("")!
        var id: JSONPointer?
        var time: JSONPointer?
        var subject: JSONPointer?
        var type: String = "dev.feedbus.item"
        var on: Emission = Emission.new
        var order: ListOrder = ListOrder.newestFirst
        var history: History = History.all
        var next: JSONPointer?
        var maxPages: Int = 10
        var remember: Int = 10_000
        var headers: [RequestValue] = []
        var query: [RequestValue] = []
        var token: Secret?
        var every: Duration = .seconds(60)
        var timeout: Duration = .seconds(30)
        var maxBody: Int = 16 << 20
        var revalidateAfter: Int = 30
    }

    private static let defaults = Boxed(Fields())

    private var box = HTTPPollOptions.defaults

    public init() {}

    /// What a config says; `every`, `timeout` and the other options of all that poll have names of their own too.
    var fields: Fields {
        get { box.value }
        _modify { yield &box.value }
    }

    public var every: Duration {
        get { fields.every }
        set { fields.every = newValue }
    }
    public var timeout: Duration {
        get { fields.timeout }
        set { fields.timeout = newValue }
    }
    public var maxBody: Int {
        get { fields.maxBody }
        set { fields.maxBody = newValue }
    }
    public var revalidateAfter: Int {
        get { fields.revalidateAfter }
        set { fields.revalidateAfter = newValue }
    }

    public static let options: [Option<HTTPPollOptions>] =
        [
            .url(
                "url", \.fields.url, required: true, withQuery: true, help: "what is asked for, its query included",
                example: "\"https://status.example.com/api/v2/incidents.json\""
            )
            .synonyms("base_url", "endpoint", "address", "uri"),
            .pointer(
                "items", \.fields.items, defaultText: "",
                help: "where in the answer the list is; an object there is a list of one"
            ).synonyms("list", "path", "root"),
            .pointer(
                "id", \.fields.id,
                help: "where in an item its id is, a string or integer; without it, a hash of the item's text"
            ).synonyms("key"),
            .pointer("time", \.fields.time, help: "where in an item its time is (RFC 3339)").synonyms(
                "timestamp", "date"),
            .pointer("subject", \.fields.subject, help: "where in an item the event's subject is, a string or integer"),
            .string(
                "type", \.fields.type, pattern: "a CloudEvents type such as \"com.example.incident\"",
                accepts: isTypeName,
                help: "the type of the events", example: "\"com.example.incident\""
            ).synonyms("event_type"),
            .choice(
                "on", \.fields.on,
                help:
                    "what is emitted: items with an id that is new, also known items that have changed, or all of each poll"
            ).synonyms("emit", "mode"),
            .choice("order", \.fields.order, help: "how the service orders its list; the events come oldest first")
                .synonyms("sort"),
            History.option("history", \.fields.history),
            .pointer(
                "next", \.fields.next,
                help:
                    "where in an answer the address of the next page is; else a Link header with rel=\"next\" is followed"
            ).synonyms("next_page", "paging"),
            .integer("max_pages", \.fields.maxPages, in: 1...1_000, help: "the most pages of one poll").synonyms(
                "pages"),
            .integer(
                "remember", \.fields.remember, in: 1...1_000_000,
                help: "how many items are known again, at least as many as two polls list; 16 bytes each"
            ).synonyms("history_size"),
            RequestValue.option(
                "headers", \.fields.headers, accepts: isHeaderName, help: "header fields, each a string or a secret",
                example: "{ \"X-Api-Key\": { \"secret\": \"env:KEY\" } }"
            ).synonyms("header"),
            RequestValue.option(
                "query", \.fields.query, accepts: { !$0.isEmpty },
                help: "further items of the query, each a string or a secret",
                example: "{ \"key\": { \"secret\": \"env:KEY\" } }"
            ).synonyms("params", "parameters"),
            .secret("token", \.fields.token, help: "sent as \"Authorization: Bearer\"").synonyms(
                "bearer", "auth", "api_key"),
        ] + pollingOptions

    /// The address of the first page, and the events' `source`: without a query, which may hold a secret.
    var source: String { String(fields.url.prefix { $0 != "?" }) }

    /// The request of a page.
    /// - Parameter url: of the same service; the credentials go with it.
    func request(_ url: String) -> HTTPRequest {
        var headers: HTTPHeaders = ["Accept": "application/json"]
        for header in fields.headers { headers[header.name] = header.text }
        return HTTPRequest(
            url, headers: headers, bearer: fields.token, timeout: timeout, maxBody: maxBody,
            secretQuery: fields.query.filter(\.isSecret).map(\.name),
            secretHeaders: fields.headers.filter(\.isSecret).map(\.name))
    }

    /// The address of the first page, with the items of `query`.
    var firstPage: String {
        let url = fields.url
        guard !fields.query.isEmpty else { return url }
        let items = QueryText.make(fields.query.map { (key: $0.name, value: $0.text) })
        return url + (url.contains("?") ? (url.hasSuffix("?") || url.hasSuffix("&") ? "" : "&") : "?") + items
    }
}

/// A token of RFC 9110, section 5.6.2.
@Sendable private func isHeaderName(_ name: String) -> Bool {
    !name.isEmpty
        && name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
}

@Sendable private func isTypeName(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
}
