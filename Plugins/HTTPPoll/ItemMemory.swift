// feedbus: which items were emitted, and what they were like, in 16 bytes an item.

import FeedbusPlugin

/// The newest items that were seen, bounded in number. It keeps hashes of 64 bits: of a million items, two are taken for
/// one with a chance of about one in forty million.
struct ItemMemory: Sendable, Equatable {
    /// An item, and its text.
    struct Key: Sendable, Hashable {
        var id: UInt64
        var content: UInt64
    }

    /// In the order in which they were last seen, oldest first.
    private(set) var keys: [Key]

    init() { keys = [] }

    /// The memory with what one poll listed: those count as newest, and beyond the limit the oldest are forgotten.
    /// - Parameters:
    ///   - listed: each item once, oldest first.
    ///   - limit: at least twice what the poll listed is kept, so that nothing that stays in the list is forgotten.
    func after(_ listed: [Key], limit: Int) -> ItemMemory {
        // A list that is known as it is costs no new memory, and needs no saving.
        if keys.count >= listed.count, keys.suffix(listed.count).elementsEqual(listed) { return self }
        let ids = Set(listed.lazy.map(\.id))
        var next = self
        next.keys.removeAll { ids.contains($0.id) }
        next.keys += listed
        let excess = next.keys.count - max(limit, 2 * listed.count)
        if excess > 0 { next.keys.removeFirst(excess) }
        return next
    }

    /// As JSON: a string of 32 hexadecimal digits an item.
    var json: Bytes {
        var writer = ByteWriter(capacity: keys.count * 32 + 2)
        writer.append(UInt8(ascii: "\""))
        for key in keys {
            for word in [key.id, key.content] {
                for shift in stride(from: 60, through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 0xF
                    writer.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
                }
            }
        }
        writer.append(UInt8(ascii: "\""))
        return writer.finish()
    }

    /// Reads what `json` wrote; nil for another value.
    init?(json: JSONValue?) {
        guard let digits = json?.stringBytes, digits.count % 32 == 0 else { return nil }
        var keys: [Key] = []
        keys.reserveCapacity(digits.count / 32)
        var word: UInt64 = 0
        var first: UInt64 = 0
        var count = 0
        for byte in digits.string.utf8 {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x61...0x66: digit = byte - 0x57
            default: return nil
            }
            word = word << 4 | UInt64(digit)
            count += 1
            if count == 16 { first = word }
            if count == 32 {
                keys.append(Key(id: first, content: word))
                count = 0
            }
        }
        self.keys = keys
    }
}
