// feedbus: which events count as repeats.

import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import DistinctPlugin

private func keyed(_ texts: [String]) -> [String] { texts.map { "{\"k\":\($0)}" } }

struct DistinctTests {
    @Test(arguments: [1, 2, .max])
    func aKeyPassesOnce(chunk: Int) throws {
        let trace = try run(
            Distinct.self, #"{"by": "/k"}"#, Script(keyed(["1", "2", "1", "3", "2", "1"]), chunk: chunk))
        #expect(trace.ids == ["1", "2", "4"])
        #expect(Set(trace.settled) == Set((1...6).map { "0:\($0)" }))
    }

    @Test func changeComparesWithTheLastOne() throws {
        let data = keyed([#""A""#, #""B""#, #""A""#])
        #expect(try run(Distinct.self, #"{"by": "/k"}"#, Script(data)).ids == ["1", "2"])
        #expect(try run(Distinct.self, #"{"mode": "change"}"#, Script(data)).ids == ["1", "2", "3"])
        #expect(
            try run(Distinct.self, #"{"mode": "change"}"#, Script(keyed(["1", "1", "2", "2", "1"]))).ids == [
                "1", "3", "5",
            ])
    }

    @Test func changeIsForEachKey() throws {
        let data = ["a:1", "b:1", "a:1", "b:2", "a:2", "b:2", "a:1"].map {
            "{\"k\":\"\($0.prefix(1))\",\"v\":\($0.suffix(1)),\"n\":\(Int.random(in: 0...1_000_000))}"
        }
        #expect(
            try run(Distinct.self, #"{"mode": "change", "by": "/k", "value": "/v"}"#, Script(data)).ids == [
                "1", "2", "4", "5", "7",
            ])
        #expect(try run(Distinct.self, #"{"mode": "change", "by": "/k"}"#, Script(data)).ids.count == 7)
        // A value that goes away has changed, once.
        let gone = [#"{"v":1}"#, "{}", "{}", #"{"v":1}"#]
        #expect(try run(Distinct.self, #"{"mode": "change", "value": "/v"}"#, Script(gone)).ids == ["1", "2", "4"])
    }

    @Test func theEventsIdIsTheKeyWithoutBy() throws {
        let trace = try run(
            Distinct.self, "{}", Script(["1", "2", "3", "4"]),
            event: { data, number in event(data, id: number > 2 ? "x" : "y\(number)") })
        #expect(trace.data == ["1", "2", "3"])
    }

    @Test func equalValuesAreEqualHoweverTheyAreWritten() throws {
        let data = keyed([
            "1", "1.0", #""1""#, "10e-1", #""a""#, #""\u0061""#, "true", #""true""#, "null", "[1]", "[1]", "[1.0]",
        ])
        #expect(
            try run(Distinct.self, #"{"by": "/k"}"#, Script(data)).ids == ["1", "3", "5", "7", "8", "9", "10", "12"])
    }

    @Test func anEventWithoutTheKeyPasses() throws {
        #expect(try run(Distinct.self, #"{"by": "/k"}"#, Script(["{}", "{}", "7"])).ids == ["1", "2", "3"])
    }

    @Test func aNumberOfKeysIsRemembered() throws {
        let data = keyed(["1", "2", "1", "3", "1", "2", "3"])
        // 3 pushes 1 out, 1 pushes 2 out, 2 pushes 3 out.
        #expect(
            try run(Distinct.self, #"{"by": "/k", "within": 2}"#, Script(data)).ids == ["1", "2", "4", "5", "6", "7"])
        #expect(
            try run(Distinct.self, #"{"by": "/k", "remember": 2}"#, Script(data)).ids == ["1", "2", "4", "5", "6", "7"])
    }

    @Test func aKeyIsForgottenAfterItsTime() throws {
        let script = Script(
            [
                (0, keyed(["1"])), (40, keyed(["1"])), (99, keyed(["1", "2"])), (100, keyed(["1"])),
                (199, keyed(["1", "2"])),
            ], end: 200)
        let trace = try run(Distinct.self, #"{"by": "/k", "within": "100ms"}"#, script)
        #expect(trace.output.map { $0.prefix { $0 != "{" } } == ["0:", "99:", "100:", "199:"])
        #expect(trace.messages == [])
    }

    @Test func tooManyKeysForTheTimeAreSaid() throws {
        let trace = try run(
            Distinct.self, #"{"by": "/k", "within": "1h", "remember": 2}"#, Script(keyed(["1", "2", "3", "1", "4"])))
        #expect(trace.ids == ["1", "2", "3", "4", "5"])
        #expect(trace.messages.count == 1)
        #expect(trace.messages.first?.hasPrefix("more than 2 keys within 1h") == true)
    }

    @Test func mistakesAreFoundWithTheirPlaces() throws {
        #expect(
            try mistakes(Distinct.self, #"{"value": "/v"}"#) == [
                #"2:11 contradiction "value" is for the mode "change" (Distinct at )"#
            ])
        #expect(
            try mistakes(Distinct.self, #"{"within": 5, "remember": 6}"#) == [
                #"2:27 contradiction "within" says already how many keys are remembered (Distinct at )"#
            ])
        #expect(
            try mistakes(Distinct.self, #"{"within": 0}"#).first?.hasPrefix(
                #"2:12 out-of-range "within" must be a whole number"#) == true)
        #expect(try mistakes(Distinct.self, #"{"within": "5 apples"}"#).first?.hasPrefix("2:12 not-a-duration") == true)
        #expect(try mistakes(Distinct.self, #"{"within": true}"#).first?.hasPrefix("2:12 wrong-type") == true)
    }
}

/// The memory beside a simple one that does the same.
struct KeyMemoryTests {
    private struct Plain {
        var entries: [(key: UInt64, value: UInt64, time: Int64)] = []
        let limit: Int
        let within: Int64?

        mutating func admit(_ key: UInt64, _ value: UInt64, _ now: Int64) -> Bool {
            if let within { entries.removeAll { now - $0.time >= within } }
            if let index = entries.firstIndex(where: { $0.key == key }) {
                if entries[index].value == value { return false }
                entries.remove(at: index)
            } else if entries.count == limit {
                entries.removeFirst()
            }
            entries.append((key, value, now))
            return true
        }
    }

    @Test(arguments: [(1, nil), (7, nil), (100, nil), (1000, 50), (20, 10)] as [(Int, Int64?)], [false, true])
    func agreesWithASimpleOne(_ bounds: (limit: Int, within: Int64?), _ keepsValues: Bool) {
        var random = SplitMix64(seed: 5)
        var plain = Plain(limit: bounds.limit, within: bounds.within)
        var memory = KeyMemory(limit: bounds.limit, within: bounds.within, keepsValues: keepsValues)
        for step in 0..<20_000 {
            // Few keys whose homes in the table are near each other.
            let key = UInt64.random(in: 0..<150, using: &random)
            let value = keepsValues ? UInt64.random(in: 0..<2, using: &random) : 0
            let now = Int64(step / 3)
            let expected = plain.admit(key, value, now)
            #expect(memory.admit(KeyHash(low: key / 5, high: key), value: value, at: now) == expected)
            #expect(memory.count == plain.entries.count)
        }
    }

    @Test func hashesAreSpread() {
        var seen: Set<KeyHash> = []
        for number in 0..<10_000 { seen.insert(Bytes("\(number)").withUnsafeBytes { KeyHash($0) }) }
        #expect(seen.count == 10_000)
        #expect(Set(seen.map { $0.low & 0xFFF }).count > 3_000)
        #expect(Set(seen.map { $0.high & 0xFFF }).count > 3_000)
    }
}
