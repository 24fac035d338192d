// feedbus: validators beside what else a source saves.

public import FeedbusPlugin

extension Validators {
    /// Reads validators out of a larger text.
    public init?(saved value: JSONValue?) {
        guard let value, value.kind == .object else { return nil }
        self.init(json: value.raw)
    }

    /// The same validators, whatever their counters say: nothing that has to be saved.
    public func isSame(as other: Validators?) -> Bool { etag == other?.etag && lastModified == other?.lastModified }
}

extension Fetched {
    /// Answers of 304 had denied it, and a request without validators brought an answer after all: where there is news
    /// in it, the validators are stuck.
    public func revalidates(_ validators: Validators?) -> Bool {
        isRevalidation && (validators?.notModifiedInARow ?? 0) > 0
    }
}
