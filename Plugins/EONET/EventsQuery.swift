// feedbus: the requests that EONET's events are asked for with.

/// One request for events.
struct EventsQuery: Sendable, Hashable {
    /// Names its memory: `open`, `drought`, `8/closed`.
    let key: String
    let url: String
    /// For messages: `open events`, `category Drought`.
    let name: String

    /// The requests of one poll.
    /// - Parameter categories: those that the service has; needed for `by: "category"` only. Where none are known the
    ///   events are asked for by status.
    static func all(_ options: EONETOptions, categories: [Category]) -> [EventsQuery] {
        let wanted = options.categories
        let listed = categories.filter { wanted?.contains($0.id) ?? true && $0.id.utf8.allSatisfy(isLetterOrDigit) }
        guard options.by == .category, !listed.isEmpty else { return byStatus(options) }
        return listed.flatMap { byCategory($0, options) }
    }

    private static func byStatus(_ options: EONETOptions) -> [EventsQuery] {
        // v2.1 has no such filter for all events; they are filtered here in any case.
        let only = options.api == .v3 ? options.categories.map { "&category=" + $0.joined(separator: ",") } ?? "" : ""
        return statuses(options).map { status in
            EventsQuery(
                key: status, url: "\(options.baseURL)/events?status=\(status)\(common(options))\(only)",
                name: "\(status) events")
        }
    }

    private static func byCategory(_ category: Category, _ options: EONETOptions) -> [EventsQuery] {
        switch options.api {
        case .v3:
            let status = options.status == .both ? "all" : options.status.rawValue
            return [
                EventsQuery(
                    key: category.id,
                    url: "\(options.baseURL)/events?category=\(category.id)&status=\(status)\(common(options))",
                    name: "category \(category.title)")
            ]
        case .v2:
            // There is no "all": two requests.
            return statuses(options).map { status in
                EventsQuery(
                    key: "\(category.id)/\(status)",
                    url: "\(options.baseURL)/categories/\(category.id)?status=\(status)\(common(options))",
                    name: "category \(category.title), \(status) events")
            }
        }
    }

    private static func statuses(_ options: EONETOptions) -> [String] {
        options.status == .both ? ["open", "closed"] : [options.status.rawValue]
    }

    private static func common(_ options: EONETOptions) -> String {
        "&days=\(options.days)" + (options.limit.map { "&limit=\($0)" } ?? "")
    }
}
