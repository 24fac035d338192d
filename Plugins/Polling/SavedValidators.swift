// feedbus: validators beside what else a source saves.

public import FeedbusPlugin

extension Validators {
    /// Reads validators out of a larger text.
    public init?(saved value: JSONValue?) {
        guard let value, value.kind == .object else { return nil }
        self.init(json: value.raw)
    }

    /// The same validators, and of about the same whole answer: nothing that has to be saved. How often a 304 came does
    /// not count. Where the time of the whole answer were left as it was saved, the runs of `--once` would find an hour
    /// over each time, and never send the validators again.
    public func isSame(as saved: Validators?) -> Bool {
        guard etag == saved?.etag && lastModified == saved?.lastModified else { return false }
        guard let saved, etag != nil || lastModified != nil else { return true }
        let moved = lastFull - saved.lastFull
        return moved > .zero - Self.savedEvery && moved < Self.savedEvery
    }

    /// A service that gives whole answers with the same validators costs a saving once in so long: ten minutes.
    private static let savedEvery = Duration.seconds(600)
}

extension Fetched {
    /// Answers of 304 had denied it, and a request without validators brought an answer after all: where there is news
    /// in it, the validators are stuck.
    public func revalidates(_ validators: Validators?) -> Bool {
        isRevalidation && (validators?.notModifiedInARow ?? 0) > 0
    }
}
