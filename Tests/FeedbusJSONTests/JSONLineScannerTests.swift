// feedbus: a block of lines is judged as its lines are one by one.

import FeedbusBase
import FeedbusJSON
import Testing

struct JSONLineScannerTests {
    private static let conformance = SharedData.conformance + "/test_parsing/"

    /// What the scanner finds in a text, as text.
    private func found(_ text: [UInt8], _ scanner: JSONLineScanner = JSONLineScanner()) throws -> [String] {
        try text.withUnsafeBytes { bytes in
            try scanner.scan(bytes)
            return (0..<scanner.count).map { index in
                let line = scanner[index]
                return "\(line.kind == .bad ? "bad" : "ok") \(String(decoding: bytes[line.range], as: UTF8.self))"
            }
        }
    }

    private func numbers(_ text: [UInt8]) throws -> [Int] {
        try text.withUnsafeBytes { bytes in
            let scanner = JSONLineScanner()
            try scanner.scan(bytes)
            #expect(scanner.lineFeeds == text.count { $0 == 0x0A })
            return (0..<scanner.count).map { scanner[$0].number }
        }
    }

    /// What the parser of single texts says of each line.
    private func expected(_ text: [UInt8]) -> [String] {
        var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.compactMap { line in
            let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]
            let trimmed = line.drop { blanks.contains($0) }
            guard !trimmed.isEmpty else { return nil }
            if let value = try? JSON.parse(Bytes(Array(line))) { return "ok \(value.raw.string)" }
            return "bad \(String(decoding: line, as: UTF8.self))"
        }
    }

    @Test func linesOfAllKinds() throws {
        let text = Array(
            "{\"a\":1}\r\n\n  [1, 2] \n\"x\"\ntrue\nnul\n-1.5e3\n{}{}\n1 2\n[1,\n2]\n\u{FEFF}{}\n\"\u{2028}\"".utf8)
        #expect(try found(text) == expected(text))
        #expect(try found(text).count == 12)
        #expect(try found(text).filter { $0.hasPrefix("bad") }.count == 6)
        #expect(try numbers(text) == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(try found([]).isEmpty)
        #expect(try found(Array("\n \n\t\r\n".utf8)).isEmpty)
    }

    @Test func aStringThatIsNotClosedCostsItsLineOnly() throws {
        let text = Array(
            "{\"a\":\"x}\n{\"b\":\"y\"}\n\\\"\n{\"c\":1}\nabc\\\n\"d\"\n{\"e\":\"\\x\"}\n[\"\\u00e9\"]\n".utf8)
        #expect(try found(text) == expected(text))
        #expect(try found(text).filter { $0.hasPrefix("ok") }.count == 4)
    }

    @Test func cloudEventsAreSeen() throws {
        let kinds = try Array(
            "{\"specversion\":\"1.0\"}\n{\"a\":{\"specversion\":1}}\n{\"\\u0073pecversion\":1}\n{\"x\":\"specversion\"}\n"
                .utf8
        ).withUnsafeBytes { bytes in
            let scanner = JSONLineScanner()
            try scanner.scan(bytes)
            return (0..<scanner.count).map { scanner[$0].kind }
        }
        #expect(kinds == [.maybeEvent, .value, .maybeEvent, .value])
    }

    @Test(
        "The conformance suite, each text a line between good ones",
        .enabled(if: SharedData.exists(SharedData.conformance), "data/json-conformance is missing: set FEEDBUS_SHARED"))
    func conformance() throws {
        let scanner = JSONLineScanner()
        var whole: [UInt8] = []
        for name in SharedData.files(in: Self.conformance) {
            let line = SharedData.read(Self.conformance + name)
            let text = Array("{\"before\":1}\n".utf8) + line + Array("\n{\"behind\":[2]}\n".utf8)
            #expect(try found(text, scanner) == expected(text), "\(name)")
            whole += text
        }
        #expect(try found(whole, scanner) == expected(whole))
    }

    @Test(
        "The odd files",
        .enabled(if: SharedData.exists(SharedData.oddLines), "data/jsonl-odd is missing: set FEEDBUS_SHARED"))
    func oddFiles() throws {
        let scanner = JSONLineScanner()
        for name in SharedData.files(in: SharedData.oddLines) {
            let text = SharedData.read(SharedData.oddLines + "/" + name)
            #expect(try found(text, scanner) == expected(text), "\(name)")
        }
    }

    @Test func brokenBlocksAreJudgedLineByLine() throws {
        var random = SplitMix64(seed: 7)
        let pieces: [String] = [
            "{\"a\":1}", "[1,2,{\"b\":null}]", "\"text\"", "\n", "\n", "\n", " ", "\\", "\"", "{", "}", "[", "]", ",",
            ":",
            "1e5", "-0", "true", "\u{e9}", "\\u12", "\r\n", "{\"specversion\":\"1.0\",\"x\":[]}",
        ]
        let scanner = JSONLineScanner()
        for _ in 0..<3_000 {
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                text += Array(pieces.randomElement(using: &random)!.utf8)
                if Int.random(in: 0..<60, using: &random) == 0 {
                    text.append(UInt8.random(in: 0...255, using: &random))
                }
            }
            let (mine, theirs) = (try found(text, scanner), expected(text))
            #expect(mine == theirs, "\(text)")
            if mine != theirs { break }
        }
    }

    @Test func linesOfManyPiecesAreAllFound() throws {
        var random = SplitMix64(seed: 11)
        var text: [UInt8] = []
        while text.count < 600_000 {
            let size = Int.random(in: 0..<10, using: &random) == 0 ? 150_000 : Int.random(in: 0...3_000, using: &random)
            text += Array("[\"\(String(repeating: "x", count: size))\"]".utf8)
            if Int.random(in: 0..<20, using: &random) == 0 { text += [0x22] }
            text.append(0x0A)
        }
        text += Array("{}".utf8)
        #expect(try found(text) == expected(text))
        #expect(try numbers(text) == Array(0..<text.count { $0 == 0x0A } + 1))
    }

    @Test func deepLinesAreRefusedAlone() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        let text = Array("\(nested(1_000))\n\(nested(1_001))\n1\n".utf8)
        #expect(try found(text).map { String($0.prefix(3)) } == ["ok ", "bad", "ok "])
    }

    @Test func placesOfPlainValuesEndAtAnyOtherLine() throws {
        let text = Array(" 1 \n[2]\n{\"specversion\":1}\n3\n\"long\"\n4".utf8)
        let scanner = JSONLineScanner()
        try text.withUnsafeBytes { bytes in
            try scanner.scan(bytes)
            var places: [TextPlace] = []
            var areFollowed = true
            #expect(scanner.appendValues(of: 0..<6, offset: 10, longest: 5, to: &places, &areFollowed) == 2)
            // A blank stands between the first and its line feed.
            #expect(places == [TextPlace(11, 12), TextPlace(14, 17)] && !areFollowed)
            (places, areFollowed) = ([], true)
            #expect(scanner.appendValues(of: 1..<2, offset: 0, longest: 5, to: &places, &areFollowed) == 2)
            #expect(areFollowed)
            (places, areFollowed) = ([], true)
            #expect(scanner.appendValues(of: 3..<6, offset: 0, longest: 5, to: &places, &areFollowed) == 4)
            #expect(places.count == 1 && areFollowed)
            // Nothing stands behind the last one.
            #expect(scanner.appendValues(of: 5..<6, offset: 0, longest: 5, to: &places, &areFollowed) == 6)
            #expect(!areFollowed)
        }
    }

    @Test func idsDependOnContentAndPlaceAndNothingElse() throws {
        let text = Array("{\"a\":1}\n{\"a\":1}\n{\"a\":2}\n".utf8)
        let buffer = Bytes(text).buffer
        let places = try text.withUnsafeBytes { bytes in
            let scanner = JSONLineScanner()
            try scanner.scan(bytes)
            var places: [TextPlace] = []
            var areFollowed = true
            #expect(scanner.appendValues(of: 0..<3, offset: 0, longest: 7, to: &places, &areFollowed) == 3)
            #expect(areFollowed)
            return places
        }
        let ids = [100, 101].map { Bytes(buffer: StableHash.ids(of: places[...], in: buffer, position: $0)) }
        let names = ids.flatMap { all in (0..<3).map { all[16 * $0..<16 * $0 + 16].string } }
        #expect(Set(names).count == 6)
        #expect(names[0] == StableHash.id("{\"a\":1}", position: 100).string)
        // Ids are kept in stores: they must be the same in every version.
        #expect(StableHash.id("{\"a\":1}", position: 0).string == "e5fd40bd8599d2bd")
        #expect(
            StableHash.id(Bytes(String(repeating: "0123456789", count: 20)), position: 7).string == "a8af9f3f68858e26")
    }
}
