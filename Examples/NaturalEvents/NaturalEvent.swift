// feedbus: example program: one natural event.

import Feedbus

/// A fire, a storm, a volcano.
package struct NaturalEvent: Sendable, CustomStringConvertible {
    package let id: String
    let title: String
    /// When it was last seen.
    let time: WallTime
    let isClosed: Bool
    let categoryID: String
    var category: String

    package var description: String {
        "\(time.rfc3339().prefix(10)) \(category): \(title)\(isClosed ? " (closed)" : "")"
    }

    /// Nil where the service sends no event, or one without time and place.
    init?(_ value: JSONValue) {
        let category = value["categories"]?.elements.first { _ in true }
        let times = value["geometry"]?.elements.compactMap { $0["date"]?.string.flatMap { WallTime(rfc3339: $0) } }
        guard let id = value["id"]?.string, let title = value["title"]?.string, let time = times?.max() else {
            return nil
        }
        self.id = id
        self.title = title.split(separator: " ").joined(separator: " ")
        self.time = time
        isClosed = value["closed"]?.string != nil
        categoryID = category?["id"]?.string ?? ""
        self.category = category?["title"]?.string ?? "Other"
    }

    /// The event with its category's title as the list of categories has it.
    func joined(with titles: [String: String]) -> NaturalEvent {
        var event = self
        event.category = titles[categoryID] ?? category
        return event
    }
}
