// feedbus: remembers what was used last.

/// A table of at most `capacity` values; the one that was not used for longest makes room.
struct LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var key: Key
        var value: Value
        var newer: Int
        var older: Int
    }

    let capacity: Int
    private var places: [Key: Int] = [:]
    private var entries: [Entry] = []
    // Ends of the list through `entries`; -1: none.
    private var newest = -1
    private var oldest = -1

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { entries.count }

    /// The value of a key, which becomes the one used last.
    mutating func value(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        touch(place)
        return entries[place].value
    }

    mutating func insert(_ key: Key, _ value: Value) {
        guard capacity > 0 else { return }
        if let place = places[key] {
            entries[place].value = value
            touch(place)
            return
        }
        let place: Int
        if entries.count < capacity {
            place = entries.count
            entries.append(Entry(key: key, value: value, newer: -1, older: -1))
        } else {
            place = oldest
            unlink(place)
            places[entries[place].key] = nil
            entries[place] = Entry(key: key, value: value, newer: -1, older: -1)
        }
        places[key] = place
        link(place)
    }

    private mutating func touch(_ place: Int) {
        guard place != newest else { return }
        unlink(place)
        link(place)
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (entries[place].newer, entries[place].older)
        if newer >= 0 { entries[newer].older = older } else { newest = older }
        if older >= 0 { entries[older].newer = newer } else { oldest = newer }
    }

    private mutating func link(_ place: Int) {
        entries[place].newer = -1
        entries[place].older = newest
        if newest >= 0 { entries[newest].newer = place } else { oldest = place }
        newest = place
    }
}
