// feedbus: an answer with categories.

import FeedbusPlugin
import Polling

/// The answer of `/categories`.
struct CategoriesAnswer: Sendable {
    struct Item: Sendable {
        let category: Category
        let data: Bytes
        let attributes: [Event.Attribute]
    }

    /// By title.
    let items: [Item]
    /// Elements without an id or a title, and repeated ones.
    let unusable: Int
    let isRecorded: Bool

    /// - Throws: where the answer has not the documented shape.
    init(_ response: HTTPResponse) throws {
        let body = try JSONBody(response)
        guard let list = body.root["categories"], list.kind == .array else {
            throw FeedbusError.shape("the answer has no list \"categories\"")
        }
        var ids: Set<String> = []
        let found: [Item] = list.elements.compactMap { value in
            guard let id = value["id"]?.identifier, let title = value["title"]?.string, ids.insert(id).inserted else {
                return nil
            }
            return Item(
                category: Category(id: id, title: title, revision: value.meaning.contentHashText), data: value.raw,
                attributes: body.attributes(of: value.raw))
        }
        items = found.sorted { ($0.category.title, $0.category.id) < ($1.category.title, $1.category.id) }
        unusable = list.count - items.count
        try FeedbusError.requireUsable(items.count, unusable: unusable, what: "a category")
        isRecorded = body.isRecorded
    }
}
