// feedbus: a natural event.

import FeedbusPlugin
import Polling

/// One natural event, as far as feedbus looks into it. The forms of v3 and v2.1 are both read.
struct NaturalEvent: Sendable {
    /// `EONET_5359`
    let id: String
    /// Changes with what the event says; blanks, the order of keys and how a number is written do not count. Nor do titles
    /// that are joined later: an event is not news because its category was renamed.
    let revision: String
    /// The date of the newest geometry; where there is none, the date on which it was closed; else empty.
    let time: Bytes
    let categoryIDs: [String]
    let isRecorded: Bool
    let attributes: [Event.Attribute]
    private let value: JSONValue

    /// Nil where the value is no object or has no id.
    init?(_ value: JSONValue, of body: JSONBody) {
        guard value.kind == .object, let id = value["id"]?.identifier else { return nil }
        self.id = id
        self.value = value
        revision = value.meaning.contentHashText
        categoryIDs = value["categories"]?.elements.compactMap { $0["id"]?.identifier } ?? []
        // `geometry` in v3, `geometries` in v2.1.
        let places = (value["geometry"] ?? value["geometries"]).map { Array($0.elements) } ?? []
        var newest: (text: Bytes, time: WallTime)?
        for place in places {
            guard let text = place["date"]?.stringBytes, let time = WallTime(rfc3339: text) else { continue }
            if newest.map({ time >= $0.time }) ?? true { newest = (text, time) }
        }
        time = newest?.text ?? value["closed"]?.timeText ?? Bytes()
        attributes = body.attributes(of: value.raw)
        isRecorded = body.isRecorded
    }

    /// The event's text, its categories with these titles. A title that is not listed stays; all else stays byte for byte.
    func data(titles: [String: String]) -> Bytes {
        guard let categories = value["categories"], categories.kind == .array else { return value.raw }
        var isChanged = false
        let joined = categories.elements.map { category -> Bytes in
            guard category.kind == .object, let id = category["id"]?.identifier, let title = titles[id],
                category["title"]?.string != title
            else { return category.raw }
            isChanged = true
            return JSONEdit.append([("title", JSON.quote(title))], to: category)
        }
        guard isChanged else { return value.raw }
        return JSONEdit.append([("categories", SavedText.array(joined))], to: value)
    }
}
