// feedbus: what GitHubEvents remembers of one list of events, between polls and between runs.

import FeedbusPlugin
import GitHubAPI
import Polling

/// One list of events: where it is, what was emitted of it, and when it may be asked again.
struct EventList: Sendable {
    /// The address without a query: the events' `source`, and the key of the cursor.
    let url: String
    let firstPage: String
    /// The ids that were emitted, or left out on purpose.
    private(set) var seen: SeenIDs
    private(set) var validators: Validators?
    /// No poll has been completed yet, in this run or an earlier one.
    private(set) var isNew: Bool
    var rest = Rest()
    /// Elements of the last poll that could not be used.
    var unusable = 0

    /// - Parameter saved: the cursor; nil at the very first start.
    init(url: String, perPage: Int, maxPages: Int, saved: JSONValue?) {
        self.url = url
        firstPage = url + "?" + GitHubService.query(["per_page": String(perPage)])
        // Twice what one poll can read, and always far more than the 300 events that GitHub can give again.
        let limit = max(1_000, 2 * perPage * maxPages)
        let ids = SeenIDs(limit: limit, json: saved?["seen"])
        seen = ids ?? SeenIDs(limit: limit)
        isNew = ids == nil
        // Validators belong to an address: another page size is another one.
        validators = saved?["page"]?.string == firstPage ? Validators(saved: saved?["validators"]) : nil
    }

    /// The list after a poll.
    /// - Parameter ids: those that were listed, oldest first.
    func after(_ ids: some Sequence<String>, _ validators: Validators) -> EventList {
        var next = self
        next.seen.insert(ids)
        next.validators = validators
        next.isNew = false
        return next
    }

    /// True where there is something to save after the poll that led from `earlier` to this.
    func differs(from earlier: EventList) -> Bool {
        earlier.isNew || seen != earlier.seen || validators?.isSame(as: earlier.validators) != true
    }

    /// The cursor.
    var saved: Bytes {
        var ids = ByteWriter()
        seen.append(to: &ids)
        var members = [(key: "page", value: JSON.quote(firstPage)), (key: "seen", value: ids.finish())]
        if let validators { members.append((key: "validators", value: validators.json)) }
        return SavedText.make(members)
    }
}
