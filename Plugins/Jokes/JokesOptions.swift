// feedbus: the options of Jokes.

public import FeedbusPlugin
public import Polling

public struct JokesOptions: PollingOptions {
    var service = JokeService.chucknorris
    var givenBaseURL: String?
    var category: String?
    var count: Int?
    public var every: Duration = .seconds(10)
    public var timeout: Duration = .seconds(30)
    public var maxBody = 16 << 20
    public var revalidateAfter = 30

    public init() {}

    public static let options: [Option<JokesOptions>] =
        [
            .choice("service", \.service, help: "who tells the jokes").synonyms("provider", "from", "source"),
            .url(
                "base_url", \.givenBaseURL, help: "where the service is; by default its own address",
                example: "\"https://api.chucknorris.io\""
            ).synonyms("url", "host", "endpoint"),
            .string(
                "category", \.category, pattern: "a category such as \"dev\", or several as \"dev,movie\"",
                accepts: { text in
                    !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || ",-_".utf8.contains($0) }
                }, help: "only jokes of this category, in the service's words", example: "\"dev\""
            ).synonyms("categories", "type", "topic"),
            .integer(
                "count", \.count, in: 1...1_000_000, help: "complete after so many jokes; without it, never"
            ).synonyms("limit", "max"),
        ] + pollingOptions

    var baseURL: String { givenBaseURL ?? service.defaultBaseURL }
    var url: String { baseURL + service.path(category: category) }
}

/// ASCII letters and digits: what needs no escaping in an address.
private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
}
