// feedbus: one page of a list.

import FeedbusPlugin
import Polling

/// A page, in the service's order.
struct ItemsPage: Sendable {
    var items: [Item]
    /// Elements without a usable id.
    var unusable: Int
    var next: NextPage

    /// Reads an answer.
    /// - Throws: where the body is no JSON, has nothing where the list should be, or elements of which none has an id.
    init(_ response: HTTPResponse, options: HTTPPollOptions) throws {
        let body = try JSONBody(response)
        guard let list = body.root[options.fields.items] else {
            throw FeedbusError.shape("the answer has nothing at items \"\(options.fields.items)\"")
        }
        let elements: [JSONValue]
        switch list.kind {
        case .array: elements = Array(list.elements)
        case .object: elements = [list]
        default:
            throw FeedbusError.shape(
                "the answer has no list at items \"\(options.fields.items)\", but \(list.kind.rawValue)")
        }
        items = elements.compactMap { Item($0, of: body, options: options) }
        unusable = elements.count - items.count
        try FeedbusError.requireUsable(
            items.count, unusable: unusable,
            what: "an item with an id at \"\(options.fields.id?.description ?? "")\"")
        if let pointer = options.fields.next {
            let target = body.root[pointer]?.string ?? ""
            next = target.isEmpty ? .none : NextPage(target, from: response.url, service: options.fields.url)
        } else {
            next = NextPage(response.headers, from: response.url, service: options.fields.url)
        }
    }
}
