// feedbus: example program: the natural events that NASA's EONET lists, by category.

import Feedbus

/// Fetches categories, open and closed events side by side, joins them, and shares the result: whoever comes late gets it
/// from memory.
package struct NaturalEvents: Sendable {
    let app: App
    let days: Int

    private let api = "https://eonet.gsfc.nasa.gov/api/v3"

    package init(_ app: App, days: Int) {
        self.app = app
        self.days = days
    }

    package func run() async throws {
        let events = events()
        try await events.collect { events in
            for event in events { try await app.print("\(event)") }
        }
        // Late subscribers: nothing is fetched again.
        let counts = try await events.reduce([:]) { counts, event in
            counts.merging([event.category: 1], uniquingKeysWith: +)
        }.first()
        for (category, count) in (counts ?? [:]).sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            try await app.print("\(category): \(count)")
        }
    }

    /// Each event of the last `days` once, with its category's title; as soon as the categories and one of the two lists are
    /// there (`scan`: the first list must not be lost to `combineLatest` when the categories are the last to come). One fetch
    /// for all who collect it, however late.
    package func events() -> Flow<NaturalEvent> {
        titles()
            .combineLatest(.merge([list("open"), list("closed")]).scan([], +))
            .concatMap { titles, events in .from(events.map { $0.joined(with: titles) }) }
            .distinct(by: \.id)
            .share(replay: 1_000, scope: .forever)
    }

    /// The categories' titles by id; none where they cannot be had: events then show what they say themselves.
    private func titles() -> Flow<[String: String]> {
        app.fetch(HTTPRequest("\(api)/categories")) { answer in
            let categories = try JSON.parse(answer.body)["categories"]?.elements.map { $0 } ?? []
            return Dictionary(
                categories.compactMap { category in
                    guard let id = category["id"]?.string, let title = category["title"]?.string else { return nil }
                    return (id, title)
                }, uniquingKeysWith: { first, _ in first })
        }
        .retry(attempts: 2)
        .catch { error in
            app.log.warning("no categories: \(describeError(error))")
            return .just([:])
        }
    }

    /// The events with one status that are recent enough; none where they cannot be had, so that the others are still shown.
    private func list(_ status: String) -> Flow<[NaturalEvent]> {
        app.fetch(HTTPRequest("\(api)/events?status=\(status)&days=\(days)")) { answer in
            // By the service's own clock, which is right in a recording too.
            let now = answer.date ?? app.clock.wallTime
            return try JSON.parse(answer.body)["events"]?.elements.compactMap(NaturalEvent.init)
                .filter { now - $0.time <= .seconds(days * 86_400) } ?? []
        }
        .retry(attempts: 2)
        .catch { error in
            app.log.warning("no \(status) events: \(describeError(error))")
            return .empty
        }
    }
}
