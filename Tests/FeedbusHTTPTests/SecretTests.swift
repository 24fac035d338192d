// feedbus: tests of secrets that a service quotes.

import FeedbusBase
import FeedbusJSON
import FeedbusTestKit
import Testing

@testable import FeedbusHTTP

@Suite struct SecretTests {
    private static let secret = "p@ss/w rd+1&x\"\\é😀%41"

    private func request(_ secret: String = secret) -> HTTPRequest {
        HTTPRequest("http://h/", headers: ["X-Secret": secret], secretHeaders: ["X-Secret"])
    }

    private func hidden(_ text: String, _ secret: String = secret) -> String {
        Redaction.text(text, of: request(secret))
    }

    @Test(arguments: [
        secret, "p%40ss%2Fw%20rd%2B1%26x%22%5C%C3%A9%F0%9F%98%80%2541",
        "p%40ss%2fw+rd%2b1%26x%22%5c%c3%a9%f0%9f%98%80%2541", "p@ss/w%20rd%2B1%26x%22%5Cé😀%2541",
        "p%2540ss%252Fw%2520rd%252B1%2526x%2522%255C%25C3%25A9%25F0%259F%2598%2580%252541",
        #"p@ss\/w rd+1&x\"\\é😀%41"#, #"p@ss/w rd+1&x\u0022\u005c\u00E9\uD83D\ude00%41"#,
        #"p@ss\\/w rd+1&x\\\"\\\\é😀%41"#, #"p\u0040ss/w\u0020rd\u002b1\u0026x\u0022\u005C\u00e9\ud83d\uDE00\u002541"#,
    ]) func everyFormIsFound(_ form: String) {
        #expect(hidden("bad key \(form)!") == "bad key REDACTED!")
        #expect(hidden("\(form)\(form)e\u{301}") == "REDACTEDREDACTEDe\u{301}")
        #expect(hidden("%\(form)%25") == "%REDACTED%25")
    }

    @Test(arguments: [
        "p@ss/w rd", "p%40ss%2Fw%20rd%2B1%26x%22", "", "%", "%2", "\\", "\\u", "\\u00", "p%4", "p\\u004", "p%25",
    ])
    func whatIsNoSecretStays(_ text: String) { #expect(hidden(text) == text) }

    @Test func theLongerOfTwoSecretsIsHidden() {
        let request = HTTPRequest("http://h/?a=abcd&b=abcdef", secretQuery: ["a", "b"])
        #expect(Redaction.text("abcdef abcd", of: request) == "REDACTED REDACTED")
    }

    @Test func aMarkOnTheLastLetterHidesNoSecret() { #expect(!hidden("hush\u{301}", "hush").contains("hush")) }

    @Test func aKeyOfTheQueryIsHiddenDecodedToo() {
        let request = HTTPRequest("http://h/?key=p%40ss%2Fw%20rd%2B1", secretQuery: ["key"])
        for quoted in ["p@ss/w rd+1", "p%40ss%2fw+rd%2b1", "p%40ss%2Fw%20rd%2B1"] {
            #expect(Redaction.text("bad key \(quoted).", of: request) == "bad key REDACTED.")
        }
    }

    /// Where the look ends early, nothing else is seen than the beginning of the whole.
    @Test func theBeginningIsThatOfTheWhole() {
        let request = request("SECRETSECRETSECRET")
        let text = Bytes(
            "a SECRETSECRETSECRET, bSECRETSECRETSECRET%53ECRETSECRETSECRET and SECRETSECRET\nSECRETSECRETSECRET c")
        let whole = Redaction.text(text, of: request)
        for most in 0...text.count {
            let expected = whole[0..<min(most, whole.count)]
            #expect(Redaction.beginning(of: text, most: most, of: request) == expected, "\(most)")
            #expect(Redaction.beginning(of: text, most: most, of: HTTPRequest("http://h/")) == text[0..<most])
        }
    }

    /// Cut in the middle, a secret would no longer be known as one.
    @Test(arguments: [true, false]) func aMessageIsCutAfterItsSecretsAreHidden(_ isJSON: Bool) {
        let request = request("SECRETSECRETSECRET")
        for length in 175...205 {
            let words = String(repeating: "x", count: length) + " SECRETSECRETSECRET"
            let response = HTTPResponse(
                status: 404, body: Bytes(isJSON ? "{\"message\":\"\(words)\"}" : words), url: "http://h/")
            #expect(!ServerMessage.find(in: response, to: request).contains("SE"), "\(length)")
            #expect(!request.quoting(response.body).contains("SECRETS"), "\(length)")
        }
    }

    @Test func aLongPageIsCutAfterItsSecretsAreHidden() {
        let body = String(repeating: "\n", count: 4_090) + "SECRETSECRETSECRET"
        let response = HTTPResponse(status: 404, body: Bytes(body), url: "http://h/")
        #expect(!ServerMessage.find(in: response, to: request("SECRETSECRETSECRET")).contains("SECRET"))
    }

    @Test func aRecordingHoldsAKeyInNoForm() throws {
        let sent = HTTPRequest(
            "http://h/?key=p%40ss%2Fw%20rd", method: "POST", body: Bytes("key=p%40ss%2Fw%20rd&q=p%40ss/w+rd"),
            secretQuery: ["key"])
        let quoted = #"p%40ss%2fw+rd p@ss\/w rd p%40ss%2Fw%20rd"#
        for tail in ["", "\u{0}"] {
            var body = [UInt8](quoted.utf8)
            if !tail.isEmpty { body.append(0xFF) }  // no text, which is written as base64
            let answer = HTTPResponse(
                status: 302, headers: ["Location": "/x?again=p%40ss%2fw+rd", "X-Echo": quoted], body: Bytes(body),
                url: "http://h/")
            let entry = HARWriter.entry(
                sent, .success(answer), startedAt: WallTime(rfc3339: "2026-03-01T12:00:00Z")!, took: .seconds(1))
            let content = try JSON.parse(entry)["response"]?["content"]
            let text = content?["text"]?.string ?? ""
            let kept = content?["encoding"] == nil ? text : Base64.decode(Bytes(text))?.string ?? "?"
            #expect(kept.hasPrefix("REDACTED REDACTED REDACTED"))
            for part in ["p@ss", "p%40ss", "w rd", "w+rd", "w%20rd"] {
                #expect(!entry.string.contains(part) && !kept.contains(part), "\(part)")
            }
        }
    }

    @Test func aByteOrderMarkIsNoPartOfTheAnswer() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(200, [:], "\u{FEFF}[1]"), .answer(200, [:], "\u{FEFF}"),
                .answer(404, [:], "\u{FEFF}{\"message\":\"gone\"}"))
            let client = bed.client()
            let list = try await client.fetch(HTTPRequest(feed)) { try JSON.parse($0.body).count }
            #expect(list.value == 1)
            let empty = try await client.fetch(HTTPRequest(feed), decode: text)
            #expect(empty.value == "")
            let error = await failure { try await client.fetch(HTTPRequest(feed), decode: text) }
            #expect(error?.message.hasSuffix("404 Not Found: \"gone\"") == true)
        }
    }
}
