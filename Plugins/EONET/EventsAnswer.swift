// feedbus: an answer with natural events.

import FeedbusPlugin
import Polling

/// The answer of `/events` or `/categories/<id>`.
struct EventsAnswer: Sendable {
    /// As the service ordered them: by the date of the first geometry, newest first.
    let events: [NaturalEvent]
    /// Elements that are no objects or have no id.
    let unusable: Int

    /// - Throws: where the answer has not the documented shape.
    init(_ response: HTTPResponse) throws {
        let body = try JSONBody(response)
        guard let list = body.root["events"], list.kind == .array else {
            throw FeedbusError.shape("the answer has no list \"events\"")
        }
        events = list.elements.compactMap { NaturalEvent($0, of: body) }
        unusable = list.count - events.count
        try FeedbusError.requireUsable(events.count, unusable: unusable, what: "an event")
    }
}
