// feedbus: the options of EONET.

public import FeedbusPlugin
public import Polling

public struct EONETOptions: PollingOptions {
    enum API: String, Sendable, CaseIterable {
        case v3
        case v2 = "v2.1"
    }

    enum Status: String, Sendable, CaseIterable {
        case both, open, closed
    }

    /// How the events are asked for: with one request a status, or one a category.
    enum Division: String, Sendable, CaseIterable { case status, category }

    var givenBaseURL: String?
    var api = API.v3
    var days = 360
    var status = Status.both
    var categories: [String]?
    var by = Division.status
    var maxConcurrent = 2
    var limit: Int?
    public var every: Duration = .seconds(900)
    public var timeout: Duration = .seconds(30)
    public var maxBody = 16 << 20
    public var revalidateAfter = 30

    public init() {}

    public static let options: [Option<EONETOptions>] =
        [
            .url(
                "base_url", \.givenBaseURL, help: "where the API is; by default NASA's, in the version of \"api\"",
                example: "\"https://eonet.gsfc.nasa.gov/api/v3\""
            ).synonyms("url", "host", "endpoint"),
            .choice("api", \.api, help: "the version of the API").synonyms("version"),
            .integer(
                "days", \.days, in: 1...36_500, help: "events of the last so many days, today included"
            ).synonyms("since", "history"),
            .choice("status", \.status, help: "open events, closed ones, or both").synonyms("state"),
            categoriesOption,
            .choice(
                "by", \.by, help: "ask with one request a status, or with one a category and report the progress"
            ).synonyms("split"),
            .integer("max_concurrent", \.maxConcurrent, in: 1...16, help: "requests for events at one time")
                .synonyms("concurrency", "parallel"),
            .integer("limit", \.limit, in: 1...100_000, help: "at most so many events an answer").synonyms("count"),
        ] + pollingOptions

    var baseURL: String { givenBaseURL ?? "https://eonet.gsfc.nasa.gov/api/\(api.rawValue)" }

    private static func unshown(_ categories: [String]?) -> String? { nil }

    /// Ids are text in v3 and numbers in v2.1; both can be written either way.
    private static let categoriesOption: Option<EONETOptions> = .custom(
        "categories", \.categories, kind: .list(.either([.string, .integer(0...Int.max)])),
        help: "only the categories with these ids", example: "[\"wildfires\", \"volcanoes\"]", show: unshown
    ) { value, _ in
        let wanted = "a list of category ids such as \"wildfires\" (v3) or 8 (v2.1)"
        guard let elements = value.elements else {
            return .problems([
                value.problem("\"categories\" must be \(wanted), found \(value.kindName)", code: "wrong-type")
            ])
        }
        var ids: [String] = []
        var problems: [ConfigProblem] = []
        for element in elements {
            switch element.content {
            case .string(let id), .number(let id):
                let isID = !id.isEmpty && id.utf8.allSatisfy(isLetterOrDigit)
                if isID {
                    ids.append(id)
                } else {
                    problems.append(
                        element.problem("\"categories\" must be \(wanted), found \"\(id)\"", code: "out-of-range"))
                }
            default:
                problems.append(
                    element.problem("\"categories\" must be \(wanted), found \(element.kindName)", code: "wrong-type"))
            }
        }
        if elements.isEmpty {
            problems.append(value.problem("\"categories\" must not be an empty list", code: "out-of-range"))
        }
        return problems.isEmpty ? .value(ids) : .problems(problems)
    }
}

/// ASCII letters and digits: what category ids are made of, and what needs no escaping in an address.
func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
}
