// feedbus: comparisons of values as they stand in a text.

import FeedbusBase
import FeedbusJSON
import Testing

/// Below, at or above zero; nil where they cannot be compared.
private func compare(_ left: String, _ right: String) -> Int? {
    Bytes(left).withUnsafeBytes { a in Bytes(right).withUnsafeBytes { b in RawJSON(a).compareNumber(RawJSON(b)) } }
        .map { $0.signum() }
}

private func identity(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    Bytes(text).withUnsafeBytes { RawJSON($0).hash { bytes += Array($0) } }
    return bytes
}

private func with<Result>(_ text: String, _ wanted: String, _ body: (RawJSON, UnsafeRawBufferPointer) -> Result)
    -> Result
{
    Bytes(text).withUnsafeBytes { a in Bytes(wanted).withUnsafeBytes { b in body(RawJSON(a), b) } }
}

struct RawJSONTests {
    /// In order; equal ones side by side.
    static let numbers: [[String]] = [
        ["-1e400", "-10e399"], ["-1e308"], ["-100000000000000000000000000000000000001"],
        ["-100000000000000000000000000000000000000", "-1e38"], ["-10", "-1e1", "-10.0"], ["-1.5"],
        ["-0.001", "-1e-3", "-0.0010"], ["0", "-0", "0.0", "0e5", "-0.000e-7"], ["1e-400"], ["0.0009999"],
        ["0.001", "1E-3", "0.1e-2"], ["0.05", "5e-2"], ["0.1"],
        ["1", "1.0", "1e0", "1E+0", "0.1e1", "10e-1", "100e-2"], ["1.0000000000000000000000001"],
        ["9"], ["10", "1e1", "1.0e+1"], ["99"], ["100", "1e2", "10.0e1"], ["9007199254740992"], ["9007199254740993"],
        ["18446744073709551615"], ["18446744073709551616"], ["1e400", "10e399", "0.1e401"], ["1e401"],
    ]

    @Test func numbersCompareByTheirExactValue() {
        let all = Self.numbers.enumerated().flatMap { rank, texts in texts.map { (rank, $0) } }
        for (left, a) in all {
            for (right, b) in all {
                #expect(compare(a, b) == (left - right).signum(), "\(a) \(b)")
                #expect((identity(a) == identity(b)) == (left == right), "\(a) \(b)")
            }
        }
    }

    @Test func agreesWithDoublesOnRandomNumbers() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<20_000 {
            let a = Double(Int.random(in: -2000...2000, using: &random)) / 8
            let b = Double(Int.random(in: -2000...2000, using: &random)) / 8
            #expect(compare("\(a)", "\(b)") == (a < b ? -1 : a > b ? 1 : 0))
        }
    }

    @Test func hugeExponentsAreSurvived() {
        #expect(compare("1e99999999999999999999999", "1") == 1)
        #expect(compare("1e-99999999999999999999999", "1") == -1)
        #expect(compare("-1e99999999999999999999999", "-1e5") == -1)
        #expect(compare("0e99999999999999999999999", "0") == 0)
    }

    @Test func whatIsNoNumberDoesNotCompare() {
        #expect(compare("\"1\"", "1") == nil)
        #expect(compare("1", "null") == nil)
    }

    @Test(arguments: [
        (#""Push""#, "Push", 0), (#""\u0050ush""#, "Push", 0), (#""Push""#, "Pushe", -1), (#""Push""#, "Pus", 1),
        (#""""#, "", 0), (#""a""#, "", 1), (#""""#, "a", -1), (#""\ud83d\ude00""#, "😀", 0),
        (#""\ud800""#, "\u{FFFD}", 0),
        (#""\ud800\u0041""#, "\u{FFFD}A", 0), (#""\n\t\b\f\r\/\\\"""#, "\n\t\u{8}\u{C}\r/\\\"", 0),
        (#""é""#, "e\u{301}", 1),
        (#""\u00e9""#, "é", 0), (#""\u20ac""#, "€", 0), (#""z""#, "é", -1),
    ])
    func stringsCompareDecoded(_ text: String, _ wanted: String, _ order: Int) {
        #expect(with(text, wanted) { $0.compareString($1)?.signum() } == order)
        #expect(with(text, wanted) { $0.equalsString($1) } == (order == 0))
    }

    @Test func partsOfStrings() {
        #expect(with(#""\u0050ushEvent""#, "Push") { $0.hasPrefix($1) })
        #expect(with(#""PushEvent""#, "PushEvent") { $0.hasPrefix($1) })
        #expect(!with(#""Push""#, "PushEvent") { $0.hasPrefix($1) })
        #expect(with(#""a\u0062c""#, "bc") { $0.containsString($1) })
        #expect(with(#""abc""#, "") { $0.containsString($1) })
        #expect(!with(#""a\nb""#, "n") { $0.containsString($1) })
        #expect(!with("[\"a\"]", "a") { $0.containsString($1) })
    }

    @Test func identityOfStrings() {
        #expect(identity(#""a\u0062""#) == identity(#""ab""#))
        #expect(identity(#""1""#) != identity("1"))
        #expect(identity(#""true""#) != identity("true"))
    }
}
