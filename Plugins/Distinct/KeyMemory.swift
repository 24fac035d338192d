// feedbus: which keys were met, and with which value: bounded in number and in time.

/// The keys that were met last, at most so many, and for so long. 24 bytes a key, 8 more for each of value and time, and 8
/// to 16 for the table; no allocation for a key but when the memory grows.
///
/// Slots hold the keys; a table of slot numbers finds them (open addressing); a list through the slots, from the oldest to
/// the newest, says which is forgotten next.
struct KeyMemory {
    private static let none = UInt32.max

    /// Keys at most.
    let limit: Int
    /// Nanoseconds after which a key is forgotten; nil: never.
    let within: Int64?
    private let keepsValues: Bool

    private var keys: [KeyHash] = []
    private var values: [UInt64] = []
    private var times: [Int64] = []
    private var older: [UInt32] = []
    private var newer: [UInt32] = []
    private var oldest = KeyMemory.none
    private var newest = KeyMemory.none
    private var free = KeyMemory.none
    /// Slot numbers plus one; 0: empty. A power of two, at most half full.
    private var table: [UInt32] = [UInt32](repeating: 0, count: 64)
    /// Keys now.
    private(set) var count = 0
    /// Keys that had to go before their time because there were too many.
    private(set) var evictions = 0

    /// - Parameters:
    ///   - limit: 1...2^30.
    ///   - keepsValues: false where all values are 0.
    init(limit: Int, within: Int64?, keepsValues: Bool) {
        self.limit = limit
        self.within = within
        self.keepsValues = keepsValues
    }

    /// Notes a key with a value.
    /// - Returns: false where the key is remembered with this value. Then nothing changes: it is as old as before.
    mutating func admit(_ key: KeyHash, value: UInt64 = 0, at now: Int64) -> Bool {
        forget(before: now)
        if let slot = slot(of: key) {
            guard keepsValues, values[slot] != value else { return false }
            values[slot] = value
            unlink(slot)
            link(slot, at: now)
            return true
        }
        if count == limit {
            evictions += 1
            remove(Int(oldest))
        }
        insert(key, value, at: now)
        return true
    }

    private mutating func forget(before now: Int64) {
        guard let within else { return }
        while oldest != KeyMemory.none, now - times[Int(oldest)] >= within { remove(Int(oldest)) }
    }

    // MARK: - Slots

    private mutating func insert(_ key: KeyHash, _ value: UInt64, at now: Int64) {
        if (count + 1) * 2 > table.count { growTable() }
        let slot: Int
        if free != KeyMemory.none {
            slot = Int(free)
            free = newer[slot]
            keys[slot] = key
            if keepsValues { values[slot] = value }
        } else {
            slot = keys.count
            reserve()
            keys.append(key)
            older.append(0)
            newer.append(0)
            if keepsValues { values.append(value) }
            if within != nil { times.append(0) }
        }
        count += 1
        place(slot)
        link(slot, at: now)
    }

    /// Never more than the limit, which doubling alone might bring.
    private mutating func reserve() {
        guard keys.count == keys.capacity else { return }
        let capacity = min(limit, max(32, keys.count * 2))
        keys.reserveCapacity(capacity)
        older.reserveCapacity(capacity)
        newer.reserveCapacity(capacity)
        if keepsValues { values.reserveCapacity(capacity) }
        if within != nil { times.reserveCapacity(capacity) }
    }

    private mutating func link(_ slot: Int, at now: Int64) {
        if within != nil { times[slot] = now }
        older[slot] = newest
        newer[slot] = KeyMemory.none
        if newest != KeyMemory.none { newer[Int(newest)] = UInt32(slot) } else { oldest = UInt32(slot) }
        newest = UInt32(slot)
    }

    private mutating func unlink(_ slot: Int) {
        let (before, after) = (older[slot], newer[slot])
        if before != KeyMemory.none { newer[Int(before)] = after } else { oldest = after }
        if after != KeyMemory.none { older[Int(after)] = before } else { newest = before }
    }

    private mutating func remove(_ slot: Int) {
        unlink(slot)
        takeFromTable(slot)
        newer[slot] = free
        free = UInt32(slot)
        count -= 1
    }

    // MARK: - Table

    private func home(_ key: KeyHash) -> Int { Int(truncatingIfNeeded: key.low) & (table.count - 1) }

    private func slot(of key: KeyHash) -> Int? {
        var place = home(key)
        while table[place] != 0 {
            let slot = Int(table[place]) - 1
            if keys[slot] == key { return slot }
            place = (place + 1) & (table.count - 1)
        }
        return nil
    }

    private mutating func place(_ slot: Int) {
        var place = home(keys[slot])
        while table[place] != 0 { place = (place + 1) & (table.count - 1) }
        table[place] = UInt32(slot) + 1
    }

    private mutating func growTable() {
        let old = table
        table = [UInt32](repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 { place(Int(entry) - 1) }
    }

    /// Takes a slot out and moves up what had to stand behind it, so that no search ends too early.
    private mutating func takeFromTable(_ slot: Int) {
        let mask = table.count - 1
        var hole = home(keys[slot])
        while table[hole] != UInt32(slot) + 1 { hole = (hole + 1) & mask }
        var place = hole
        while true {
            place = (place + 1) & mask
            guard table[place] != 0 else { break }
            let home = home(keys[Int(table[place]) - 1])
            // It may move to the hole unless its home lies behind the hole, up to where it stands.
            if (place - home) & mask >= (place - hole) & mask {
                table[hole] = table[place]
                hole = place
            }
        }
        table[hole] = 0
    }
}
