// feedbus: a category of EONET's.

import FeedbusPlugin
import Polling

/// One category, as far as feedbus looks into it.
struct Category: Sendable, Equatable {
    /// Text in v3 (`wildfires`), the digits of a number in v2.1 (`8`).
    let id: String
    let title: String
    /// Changes with the category's text.
    let revision: String
}

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
                category: Category(id: id, title: title, revision: value.raw.contentHash), data: value.raw,
                attributes: body.attributes(of: value.raw))
        }
        items = found.sorted { ($0.category.title, $0.category.id) < ($1.category.title, $1.category.id) }
        unusable = list.count - items.count
        isRecorded = body.isRecorded
    }
}

/// The categories of the last answer: what the events are joined with, and what was emitted.
struct CategoryMemory: Sendable, Equatable {
    private(set) var categories: [Category] = []
    private(set) var validators: Validators?
    private let url: String

    /// - Parameters:
    ///   - url: of the list; validators belong to it.
    ///   - saved: the cursor, if there is one.
    init(url: String, saved: JSONValue?) {
        self.url = url
        guard let list = saved?["categories"], list.kind == .array, saved?["url"]?.string == url else { return }
        categories = list.elements.compactMap { value in
            guard let id = value["id"]?.string, let title = value["title"]?.string,
                let revision = value["revision"]?.string
            else { return nil }
            return Category(id: id, title: title, revision: revision)
        }
        validators = Validators(saved: saved?["validators"])
    }

    /// Titles by id.
    var titles: [String: String] {
        Dictionary(categories.map { ($0.id, $0.title) }, uniquingKeysWith: { first, _ in first })
    }

    /// Takes an answer, and returns those that are new or have changed, by title.
    mutating func take(_ answer: CategoriesAnswer) -> [CategoriesAnswer.Item] {
        let before = categories
        categories = answer.items.map(\.category)
        return answer.items.filter { !before.contains($0.category) }
    }

    mutating func keep(_ validators: Validators) { self.validators = validators }

    /// True where there is something to save after the poll that led from `earlier` to this.
    func differs(from earlier: CategoryMemory) -> Bool {
        categories != earlier.categories || validators?.isSame(as: earlier.validators) != true
    }

    /// The cursor.
    var saved: Bytes {
        let list = categories.map { category in
            SavedText.object([
                (key: "id", value: JSON.quote(category.id)), (key: "title", value: JSON.quote(category.title)),
                (key: "revision", value: JSON.quote(category.revision)),
            ])
        }
        var members = [(key: "url", value: JSON.quote(url)), (key: "categories", value: SavedText.array(list))]
        if let validators { members.append((key: "validators", value: validators.json)) }
        return SavedText.make(members)
    }
}
