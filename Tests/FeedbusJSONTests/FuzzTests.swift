// feedbus: changed and random texts: nothing crashes, and the readers agree with each other.

import FeedbusBase
import FeedbusJSON
import Testing

/// A generator with a seed (SplitMix64), so that a failure can be repeated.
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

@Suite("JSON fuzz")
struct FuzzTests {
    private static let scalars = [
        "0", "-1", "1.5e3", "12345678901234567890", "true", "false", "null", "\"\"", "\"a b\"", "\"é😀\"", #""\n\\\"""#,
        #""\ud83d\ude00""#, #""\ud800""#,
    ]
    private static let blanks = ["", "", "", " ", "\n", "\t ", "\r\n"]
    private static let bytes =
        [UInt8]("{}[]:,\"\\/'*#-+.0123456789eEtrufalsn \n\t\u{0}\u{C}ux".utf8) + [
            0x80, 0xC3, 0xA9, 0xED, 0xA0, 0xEF, 0xBB, 0xBF, 0xF0, 0xFF,
        ]

    private static func text(_ dice: inout Dice, depth: Int = 4) -> String {
        func blank(_ dice: inout Dice) -> String { blanks.randomElement(using: &dice)! }
        let kind = Int.random(in: 0..<(depth == 0 ? 1 : 3), using: &dice)
        let count = Int.random(in: 0...4, using: &dice)
        switch kind {
        case 1:
            let parts = (0..<count).map { _ in blank(&dice) + text(&dice, depth: depth - 1) + blank(&dice) }
            return "[" + parts.joined(separator: ",") + "]"
        case 2:
            let parts = (0..<count).map { number in
                let key =
                    blank(&dice) + "\"\(Bool.random(using: &dice) ? "k\(number)" : "\\u006b\\n\(number)")\""
                    + blank(&dice)
                return key + ":" + blank(&dice) + text(&dice, depth: depth - 1) + blank(&dice)
            }
            return "{" + parts.joined(separator: ",") + "}"
        default: return scalars.randomElement(using: &dice)!
        }
    }

    private static func change(_ text: inout [UInt8], _ dice: inout Dice) {
        let place = Int.random(in: 0...text.count, using: &dice)
        let byte = bytes.randomElement(using: &dice)!
        switch Int.random(in: 0..<5, using: &dice) {
        case 0 where place < text.count: text[place] = byte
        case 1 where place < text.count: text.remove(at: place)
        case 2: text.removeSubrange(place...)
        case 3 where place < text.count:
            let end = min(text.count, place + Int.random(in: 1...8, using: &dice))
            text.insert(contentsOf: text[place..<end], at: Int.random(in: 0...text.count, using: &dice))
        default: text.insert(byte, at: place)
        }
    }

    /// The reader of configs, without what it allows beyond JSON and with what it forbids, is a second opinion.
    private func checkAgainstConfig(_ text: Bytes, isValid: Bool) {
        let (value, problems) = ConfigText.parse(text)
        if isValid {
            #expect(value != nil)
            #expect(problems.allSatisfy { $0.code == "duplicate-key" }, "\(text): \(problems)")
        } else if problems.isEmpty {
            #expect(text.string.contains("//") || text.string.contains("/*"), "\(text)")
        }
        #expect(problems == problems.sorted { $0.position < $1.position })
    }

    @Test("Valid texts and changed ones", arguments: 0..<32 as Range<UInt64>)
    func mutate(_ seed: UInt64) throws {
        var dice = Dice(state: seed)
        for _ in 0..<250 {
            let valid = Bytes(Self.text(&dice))
            walkAll(try JSON.parse(valid))
            try checkMinified(valid)
            checkAgainstConfig(valid, isValid: true)

            var changed = valid.withUnsafeBytes { [UInt8]($0) }
            for _ in 0..<Int.random(in: 1...4, using: &dice) { Self.change(&changed, &dice) }
            let text = Bytes(changed)
            let error = mistake(in: text)
            checkAgainstConfig(text, isValid: error == nil)
            if let error {
                // The plain reader found the mistake that the fast one saw, and nothing in front of it is wrong.
                #expect(error.message != "invalid JSON", "\(text)")
                #expect(0...text.count ~= error.offset)
            } else {
                walkAll(try JSON.parse(text))
                try checkMinified(text)
            }
        }
    }

    @Test("Edits of random texts", arguments: 100..<108 as Range<UInt64>)
    func edit(_ seed: UInt64) throws {
        var dice = Dice(state: seed)
        for _ in 0..<200 {
            let value = try JSON.parse(Bytes("{\"r\":\(Self.text(&dice)),\"k1\":\(Self.text(&dice))}"))
            let edited = JSONEdit.append([("k1", "[0]"), ("new", "1")], to: value)
            let changed = try JSON.parse(edited)
            #expect(changed["r"]?.raw == value["r"]?.raw)
            #expect(changed["k1"]?.raw == "[0]")
            #expect(changed["new"]?.int == 1)
            for pointer in ["/r", "/r/k0", "/r/0/k1", "/r/k1/2", "/r/-"].compactMap({ JSONPointer($0) }) {
                guard let result = JSONEdit.set(pointer, to: "\"x\"", in: value) else { continue }
                let read = try JSON.parse(result)
                #expect(pointer.description == "/r/-" || read[pointer]?.string == "x")
                #expect(read["k1"]?.raw == value["k1"]?.raw)
            }
        }
    }

    @Test("Random bytes", arguments: 200..<208 as Range<UInt64>)
    func noise(_ seed: UInt64) {
        var dice = Dice(state: seed)
        for _ in 0..<1000 {
            let count = Int.random(in: 0...40, using: &dice)
            let text = Bytes((0..<count).map { _ in Self.bytes.randomElement(using: &dice)! })
            checkAgainstConfig(text, isValid: mistake(in: text) == nil)
            #expect(mistake(in: text)?.message != "invalid JSON")
        }
    }
}
