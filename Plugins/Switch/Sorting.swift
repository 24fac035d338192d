// feedbus: which events of a chunk take which route.

import FeedbusPlugin

/// The work on one chunk. An event on which a condition fails takes no route at all, not even one that has taken it.
struct Sorting {
    private enum Fate { case open, taken, failed }

    private let events: Chunk<Event>
    private var fates: [Fate]
    /// For each route the indices of the events that it takes.
    private var takers: [[Int]]
    /// The indices of the events that the next condition is asked about.
    private(set) var open: [Int]
    /// The indices of the events on which a condition failed, and why.
    private(set) var failures: [(index: Int, reason: String)] = []

    init(_ events: Chunk<Event>, routes: Int) {
        self.events = events
        fates = Array(repeating: .open, count: events.count)
        takers = Array(repeating: [], count: routes)
        open = Array(events.indices)
    }

    var openEvents: Chunk<Event> { chunk(open) }

    mutating func take(_ index: Int, by route: Int) {
        takers[route].append(index)
        fates[index] = .taken
    }

    mutating func fail(_ index: Int, _ reason: String) {
        fates[index] = .failed
        failures.append((index, reason))
    }

    /// All events have been asked about one route.
    /// - Parameter takesAway: what has a route is not asked about another.
    mutating func closeRoute(takesAway: Bool) {
        open.removeAll { fates[$0] == .failed || (takesAway && fates[$0] == .taken) }
    }

    /// For each route its events, then those of no route.
    var parts: [Chunk<Event>] {
        let routes = failures.isEmpty ? takers : takers.map { $0.filter { fates[$0] != .failed } }
        return routes.map(chunk) + [chunk(events.indices.filter { fates[$0] == .open })]
    }

    /// The chunk itself where it is all of it.
    private func chunk(_ indices: [Int]) -> Chunk<Event> {
        indices.count == events.count ? events : Chunk(indices.map { events[$0] })
    }
}
