// feedbus: who may go on, and who waits for a turn.

/// So many at one place, and so many in all: transfers to an origin, polls of a service. The others wait here, in the order
/// in which they came, and cost nothing but this. A value: it starts nothing itself.
///
/// Who has been admitted to a place keeps that while waiting for the bound of all, so that a busy place gets no more than
/// its share of that either.
package struct FairLine<Place: Hashable, Waiting> {
    private struct Entry {
        var waiting: Waiting
        var place: Place
        /// It waits for the bound of all only.
        var isAdmitted: Bool
    }

    private struct Counter {
        /// Those under way, and those that wait for the bound of all only.
        var admitted = 0
        var line = Line()
    }

    /// Numbers, first come, first served. Those who left meanwhile are passed over when their turn comes.
    private struct Line {
        private var numbers: [UInt64] = []
        private var head = 0

        mutating func append(_ number: UInt64) { numbers.append(number) }

        mutating func popFirst() -> UInt64? {
            guard head < numbers.count else { return nil }
            defer {
                head += 1
                if head == numbers.count {
                    numbers = []
                    head = 0
                } else if head >= 64, head * 2 >= numbers.count {
                    numbers.removeFirst(head)
                    head = 0
                }
            }
            return numbers[head]
        }
    }

    private let mostAtPlace: Int
    private let most: Int
    private var started = 0
    private var counters: [Place: Counter] = [:]
    private var admitted = Line()
    private var entries: [UInt64: Entry] = [:]

    /// - Parameters:
    ///   - mostAtPlace: at one place at a time, 1...
    ///   - most: at a time in all, 1...
    package init(mostAtPlace: Int, most: Int) {
        self.mostAtPlace = mostAtPlace
        self.most = most
    }

    /// How many wait.
    package var count: Int { entries.count }

    /// How many are under way.
    package var underWay: Int { started }

    /// Nobody is under way or waits.
    package var isIdle: Bool { counters.isEmpty }

    /// Somebody comes.
    /// - Parameter number: of nobody else who waits.
    /// - Returns: true where they may start at once; `leave` must follow the end.
    package mutating func enter(_ number: UInt64, at place: Place, _ waiting: @autoclosure () -> Waiting) -> Bool {
        var counter = counters[place] ?? Counter()
        defer { counters[place] = counter }
        let isAdmitted = counter.admitted < mostAtPlace
        if isAdmitted {
            counter.admitted += 1
            if started < most {
                started += 1
                return true
            }
            admitted.append(number)
        } else {
            counter.line.append(number)
        }
        entries[number] = Entry(waiting: waiting(), place: place, isAdmitted: isAdmitted)
        return false
    }

    /// Somebody who was under way has ended.
    /// - Returns: the one who may start instead; `leave` must follow the end.
    package mutating func leave(_ place: Place) -> (number: UInt64, waiting: Waiting)? {
        started -= 1
        release(place)
        guard started < most else { return nil }
        while let number = admitted.popFirst() {
            guard let entry = entries.removeValue(forKey: number) else { continue }
            started += 1
            return (number, entry.waiting)
        }
        return nil
    }

    /// Somebody waits no longer.
    /// - Returns: nil where nobody waits here under that number.
    package mutating func cancel(_ number: UInt64) -> Waiting? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        if entry.isAdmitted { release(entry.place) }
        return entry.waiting
    }

    /// Empties the line.
    /// - Returns: all that waited, in the order of their numbers.
    package mutating func removeAll() -> [Waiting] {
        let all = entries.sorted { $0.key < $1.key }.map(\.value)
        entries = [:]
        for entry in all where entry.isAdmitted { release(entry.place) }
        return all.map(\.waiting)
    }

    /// Gives a place to the next one that waits for it.
    private mutating func release(_ place: Place) {
        while let number = counters[place]!.line.popFirst() {
            guard entries[number] != nil else { continue }
            entries[number]!.isAdmitted = true
            admitted.append(number)
            return
        }
        counters[place]!.admitted -= 1
        if counters[place]!.admitted == 0 { counters[place] = nil }
    }
}
