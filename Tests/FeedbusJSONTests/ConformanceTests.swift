// feedbus: the JSON conformance suite (nst/JSONTestSuite), where it is at hand.

import FeedbusBase
import FeedbusJSON
import Testing

@Suite(
    "JSONTestSuite",
    .enabled(if: SharedData.exists(SharedData.conformance), "data/json-conformance is missing: set FEEDBUS_SHARED"))
struct ConformanceTests {
    private static func names(_ prefix: String) -> [String] {
        SharedData.files(in: SharedData.conformance + "/test_parsing").filter { $0.hasPrefix(prefix) }
    }

    private static func text(_ name: String) -> Bytes {
        Bytes(SharedData.read(SharedData.conformance + "/test_parsing/" + name))
    }

    @Test("There are files to check")
    func isThere() {
        #expect(Self.names("y_").count >= 10)
        #expect(Self.names("n_").count >= 10)
        #expect(Self.names("i_").count >= 10)
    }

    @Test("What must be accepted is, and its text survives", arguments: names("y_"))
    func accepted(_ name: String) throws {
        let text = Self.text(name)
        let value = try JSON.parse(text)
        #expect(trimmed(text) == value.raw)
        walkAll(value)
        try checkMinified(text)
    }

    @Test("What must be refused is, with a place and with words", arguments: names("n_"))
    func refused(_ name: String) {
        let text = Self.text(name)
        let error = mistake(in: text)
        #expect(error != nil)
        if let error {
            #expect(0...text.count ~= error.offset)
            #expect(error.message != "invalid JSON")
        }
        _ = ConfigText.parse(text)
    }

    @Test("What may be either never crashes", arguments: names("i_"))
    func undefined(_ name: String) throws {
        let text = Self.text(name)
        _ = ConfigText.parse(text)
        if let value = try? JSON.parse(text) {
            walkAll(value)
            try checkMinified(text)
        } else {
            walkAll(try JSON.parse(Bytes(JSON.quote(JSON.repairUTF8(text).0.string).string)))
        }
    }

    @Test("Texts that other readers change keep every byte")
    func transformed() throws {
        let folder = SharedData.conformance + "/test_transform"
        let names = SharedData.files(in: folder)
        #expect(names.count >= 5)
        for name in names {
            let text = Bytes(SharedData.read(folder + "/" + name))
            guard JSON.repairUTF8(text).repaired == false else {
                #expect(mistake(in: text) != nil, "\(name)")
                continue
            }
            let value = try JSON.parse(text)
            #expect(trimmed(text) == value.raw, "\(name)")
            #expect(
                JSONEdit.append([("added", "1")], to: value).string.hasPrefix(value.raw.string.dropLast()), "\(name)")
            try checkMinified(text)
        }
    }

    @Test("Odd lines: each accepted one keeps its bytes, none crashes")
    func oddLines() {
        for name in SharedData.files(in: SharedData.oddLines) where !name.hasSuffix(".gz") {
            for line in SharedData.read(SharedData.oddLines + "/" + name).split(separator: 0x0A) {
                let text = Bytes([UInt8](line))
                if let value = try? JSON.parse(text) {
                    #expect(value.raw == trimmed(text))
                    walkAll(value)
                }
            }
        }
    }
}
