// feedbus: how the events that came differ from those that were expected.

/// A readable difference between two lists of events.
struct EventComparison {
    /// Lines for a person; none where all is as expected.
    private(set) var lines: [String] = []
    private(set) var missing = 0
    private(set) var unexpected = 0
    private(set) var changed = 0
    private(set) var moved = 0

    /// So many differences are shown.
    private static let most = 20

    /// - Parameters:
    ///   - label: where an expected event stands: `expected.jsonl:4`.
    ///   - inOrder: whether they must come in this order.
    init(expected: [FlatEvent], found: [FlatEvent], inOrder: Bool, label: (Int) -> String) {
        var lost: [(at: Int, event: FlatEvent)] = []
        var extra: [(at: Int, event: FlatEvent)] = []
        if inOrder {
            for change in found.difference(from: expected) {
                switch change {
                case .remove(let at, let event, _): lost.append((at, event))
                case .insert(let at, let event, _): extra.append((at, event))
                }
            }
        } else {
            var left = Dictionary(grouping: expected.indices, by: { expected[$0] })
            for (at, event) in found.enumerated() {
                if left[event]?.isEmpty ?? true { extra.append((at, event)) } else { left[event]!.removeFirst() }
            }
            lost = left.values.joined().sorted().map { ($0, expected[$0]) }
        }
        lost.sort { $0.at < $1.at }
        extra.sort { $0.at < $1.at }
        var all: [(at: Int, lines: [String])] = []
        for (at, event) in lost {
            if let index = extra.firstIndex(where: { $0.event == event }) {
                moved += 1
                let place = extra.remove(at: index).at + 1
                all.append((at, ["~ \(label(at)): out of order, it came as number \(place): \(event.shown)"]))
            } else if !event.name.isEmpty, let index = extra.firstIndex(where: { $0.event.name == event.name }) {
                changed += 1
                let other = extra.remove(at: index).event
                all.append(
                    (at, ["! \(label(at)): \(event.shown)"] + other.differences(from: event).map { "      \($0)" }))
            } else {
                missing += 1
                all.append((at, ["- \(label(at)): did not come: \(event.shown)"]))
            }
        }
        for (at, event) in extra {
            unexpected += 1
            all.append((at, ["+ number \(at + 1) was not expected: \(event.shown)"]))
        }
        all.sort { $0.at < $1.at }
        lines = all.prefix(Self.most).flatMap(\.lines)
        if all.count > Self.most { lines.append("… and \(all.count - Self.most) more differences") }
    }

    /// `2 missing, 1 changed`
    var summary: String {
        [(missing, "missing"), (unexpected, "unexpected"), (changed, "changed"), (moved, "out of order")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
