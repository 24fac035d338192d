// feedbus: the categories that were emitted, and their titles.

import FeedbusPlugin
import Polling

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
