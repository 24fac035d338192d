// feedbus: which items a source has emitted, so that each comes once.

public import FeedbusPlugin

/// The newest identifiers that were seen, compared as text, bounded in number. They are a set: neither their order nor
/// their size says which item is newer.
public struct SeenIDs: Sendable, Equatable {
    public let limit: Int
    /// In the order in which they were seen.
    private var order: [String] = []
    private var members: Set<String> = []

    /// - Parameter limit: how many are kept; must be more than the service can give again.
    public init(limit: Int, _ ids: some Sequence<String> = []) {
        self.limit = limit
        insert(ids)
    }

    public var isEmpty: Bool { order.isEmpty }
    public var count: Int { order.count }

    public func contains(_ id: String) -> Bool { members.contains(id) }

    /// Takes what is listed now: it counts as newest, the last one most of all, also where it was there already, and the
    /// oldest beyond the limit are forgotten. Where nothing is new, nothing changes.
    /// - Parameter ids: oldest first. With those that are known and still listed, they are not forgotten before what no
    ///   longer comes; each counts where it comes first.
    public mutating func insert(_ ids: some Sequence<String>) {
        var listed: Set<String> = []
        let distinct = ids.filter { listed.insert($0).inserted }
        guard !listed.isSubset(of: members) else { return }
        if !listed.isDisjoint(with: members) { order.removeAll { listed.contains($0) } }
        order += distinct
        members.formUnion(listed)
        guard order.count > limit else { return }
        for id in order.prefix(order.count - limit) { members.remove(id) }
        order.removeFirst(order.count - limit)
    }

    /// Appends them as a JSON array, oldest first.
    public func append(to writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "["))
        for (index, id) in order.enumerated() {
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            writer.appendJSONString(id)
        }
        writer.append(UInt8(ascii: "]"))
    }

    /// Reads what `append(to:)` wrote; nil for another value.
    public init?(limit: Int, json: JSONValue?) {
        guard let json, json.kind == .array else { return nil }
        self.init(limit: limit, json.elements.lazy.compactMap(\.string))
    }
}
