// feedbus: the pages of one poll, put together.

import Polling

/// Collects pages until one reaches what is known. Pages move while they are read, so the same event may come on two of
/// them; a page with a known event is read to its end, as events may be delivered late and stand anywhere.
public struct EventsPages: Sendable {
    private let known: SeenIDs
    private let maxPages: Int
    private var read = 0
    private var found: [GitHubEvent] = []
    private var knownIDs: [String] = []
    private var foundIDs: Set<String> = []
    private var addresses: Set<String> = []

    /// A page had an event that was known before this poll.
    public private(set) var reachedKnown = false
    /// Elements that could not be used.
    public private(set) var unusable = 0
    /// Where a link leads that was not followed, as `NextPage.foreign` says it.
    public private(set) var foreignLink: String?

    public init(known: SeenIDs, maxPages: Int) {
        self.known = known
        self.maxPages = maxPages
    }

    /// Takes the next page. Returns the address of the one after it, or nil when there is no more to read.
    public mutating func add(_ page: EventsPage) -> String? {
        read += 1
        unusable += page.unusable
        for event in page.events {
            if known.contains(event.id) {
                reachedKnown = true
                knownIDs.append(event.id)
            } else if foundIDs.insert(event.id).inserted {
                found.append(event)
            }
        }
        let isEmpty = page.events.isEmpty && page.unusable == 0
        guard !reachedKnown, !isEmpty, read < maxPages else { return nil }
        switch page.next {
        case .none: return nil
        case .page(let url):
            // A service that links in a circle is followed around it once.
            return addresses.insert(url).inserted ? url : nil
        case .foreign(let place):
            foreignLink = place
            return nil
        }
    }

    /// The events that were not known, each once, oldest first: the reverse of the service's order.
    public var news: [GitHubEvent] { found.reversed() }

    /// The ids of all that was listed, oldest first: those that were known before those that are new.
    public var listedIDs: [String] { knownIDs.reversed() + found.reversed().map(\.id) }

    /// Something was known, and none of all that can be had is it: events in between are lost.
    public var hasGap: Bool { !known.isEmpty && !reachedKnown && !found.isEmpty }
}
