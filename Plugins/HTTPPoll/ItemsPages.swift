// feedbus: the pages of one poll, put together.

import FeedbusPlugin
import Polling

/// Collects pages until there is no more to read. Pages move while they are read, so an item may come on two of them.
struct ItemsPages {
    private let known: [UInt64: UInt64]
    private let options: HTTPPollOptions
    private var read = 0
    /// Every item that was listed, each once, in the service's order.
    private var listed: [Item] = []
    private var ids: Set<UInt64> = []
    private var addresses: Set<String> = []

    /// An item was listed that was known before this poll.
    private(set) var reachedKnown = false
    /// There was another page, but `max_pages` did not allow it.
    private(set) var wasCut = false
    private(set) var unusable = 0
    /// Where a link leads that was not followed, as `NextPage.foreign` says it.
    private(set) var foreignLink: String?

    init(known: ItemMemory, options: HTTPPollOptions) {
        self.known = Dictionary(known.keys.lazy.map { ($0.id, $0.content) }) { _, last in last }
        self.options = options
    }

    /// Takes the next page. Returns the address of the one after it, or nil when there is no more to read.
    mutating func add(_ page: ItemsPage) -> String? {
        read += 1
        unusable += page.unusable
        for item in page.items {
            if known[item.key.id] != nil { reachedKnown = true }
            if ids.insert(item.key.id).inserted { listed.append(item) }
        }
        // What is new stands in front of what is known; what has changed may stand anywhere.
        if options.fields.on == .new && options.fields.order == .newestFirst && reachedKnown { return nil }
        switch page.next {
        case .none: return nil
        case .foreign(let place):
            foreignLink = place
            return nil
        case .page(let url):
            // A service that links in a circle is followed around it once.
            guard addresses.insert(url).inserted else { return nil }
            guard read < options.fields.maxPages else {
                wasCut = true
                return nil
            }
            return url
        }
    }

    private var oldestFirst: [Item] { options.fields.order == .newestFirst ? listed.reversed() : listed }

    /// What is emitted, oldest first.
    var news: [Item] {
        switch options.fields.on {
        case .new: oldestFirst.filter { known[$0.key.id] == nil }
        case .change: oldestFirst.filter { known[$0.key.id] != $0.key.content }
        case .poll: oldestFirst
        }
    }

    /// What is known from now on, oldest first.
    var keys: [ItemMemory.Key] { oldestFirst.map(\.key) }

    /// Something was known, and none of all that can be had is it: items in between may be lost.
    var hasGap: Bool {
        options.fields.on != .poll && options.fields.order == .newestFirst && !known.isEmpty && !reachedKnown
            && !listed.isEmpty
    }
}
