// feedbus: the parts of the translation stage, on values.

import FeedbusPlugin
import Testing

@testable import TranslationPlugin

struct LRUCacheTests {
    @Test func whatWasNotUsedForLongestGoes() {
        var cache = LRUCache<Int, Int>(capacity: 3)
        for key in 0..<3 { cache.insert(key, key * 10) }
        #expect(cache.value(0) == 0)
        cache.insert(3, 30)
        #expect(cache.value(1) == nil)
        cache.insert(2, 21)
        cache.insert(4, 40)
        #expect(cache.value(0) == nil)
        #expect([2, 3, 4].map { cache.value($0) } == [21, 30, 40])
        #expect(cache.count == 3)
    }

    @Test func itAgreesWithAPlainList() {
        var random = SplitMix64(seed: 3)
        var cache = LRUCache<UInt64, UInt64>(capacity: 5)
        var list: [(key: UInt64, value: UInt64)] = []
        for step in 0..<2_000 {
            let key = random.next() % 9
            let index = list.firstIndex { $0.key == key }
            if random.next() % 2 == 0 {
                #expect(cache.value(key) == index.map { list[$0].value })
                if let index { list.append(list.remove(at: index)) }
            } else {
                cache.insert(key, UInt64(step))
                if let index { list.remove(at: index) } else if list.count == 5 { list.removeFirst() }
                list.append((key, UInt64(step)))
            }
        }
    }

    @Test func noneAreKeptWhereNoneMayBe() {
        var cache = LRUCache<Int, Int>(capacity: 0)
        cache.insert(1, 1)
        #expect(cache.value(1) == nil)
    }
}

struct LanguageCodesTests {
    @Test func bothKindsOfCodesMeanTheSame() {
        #expect(LanguageCodes.three("en") == "eng")
        #expect(LanguageCodes.three("EN-us") == "eng")
        #expect(LanguageCodes.three("eng") == "eng")
        #expect(LanguageCodes.isSame("es-MX", "es"))
        #expect(!LanguageCodes.isSame("es", "es-MX"))
        #expect(LanguageCodes.isSame("spa", "es"))
    }

    @Test func apertiumsModesAreFound() {
        let installed = ["eng-spa", "spa-eng", "spa-eng_US"]
        #expect(ApertiumTranslator.mode(from: "en", to: "es", of: installed) == "eng-spa")
        #expect(ApertiumTranslator.mode(from: "es", to: "en-US", of: installed) == "spa-eng_US")
        #expect(ApertiumTranslator.mode(from: "es", to: "en-GB", of: installed) == "spa-eng")
        #expect(ApertiumTranslator.mode(from: "en", to: "fr", of: installed) == nil)
    }
}

struct ApertiumTextTests {
    /// What `apertium-destxt` makes of the same texts.
    @Test(arguments: [
        ("Twice", "Twice.[]"), ("Hi!", "Hi!.[]"), ("a  b\tc\nd", "a[  ]b[\t]c[\n]d.[]"),
        ("[x] ^y$ / <b> @ {a} \\ *", "\\[x\\] \\^y\\$ \\/ \\<b\\> \\@ \\{a\\} \\\\ *.[]"), ("  padded\n", "padded.[]"),
        ("a\0b", "ab.[]"),
    ])
    func textIsEncoded(text: String, stream: String) {
        #expect(ApertiumText.encoded(text) == stream)
    }

    @Test(arguments: [
        "Twice", "a  b\tc\n\nd", "[x] ^y$ / <b> @ {a} \\ *", " \n padded\t\r\n", "😀 [[]] \\[ ..", "", " ",
    ])
    func anEngineThatChangesNothingGivesItBack(text: String) {
        #expect(ApertiumText.decoded(ApertiumText.encoded(text), original: text) == text)
    }

    @Test(arguments: [
        ("*zzgrblx casa", "zzgrblx casa"), ("¿*Qué? (*foo)", "¿Qué? (foo)"), ("f*ck 2*x a**b", "f*ck 2*x a**b"),
        ("* item", "* item"),
        ("no marks", "no marks"),
    ])
    func marksOfUnknownWordsAreRemoved(text: String, plain: String) {
        #expect(ApertiumText.withoutMarks(text) == plain)
    }
}

struct TranslationServiceTests {
    private func service(_ name: String, key: Bool = false) throws -> TranslationService {
        let key = key ? ", \"api_key\": {\"secret\": \"env:KEY\"}" : ""
        return TranslationService(
            try options(ProviderOptions.self, "{\"name\": \"\(name)\", \"base_url\": \"http://h\"\(key)}"))
    }

    private func request(_ name: String, key: Bool = false, to: String = "es") throws -> HTTPRequest {
        try service(name, key: key).request("a \"b\" & ü", from: "en", to: to, timeout: .seconds(5))
    }

    private func answer(_ name: String, _ body: String) throws -> String {
        try service(name).translation(
            in: HTTPResponse(status: 200, body: Bytes(body), url: "http://h"), to: HTTPRequest("http://h"))
    }

    @Test func libretranslate() throws {
        let request = try request("libretranslate", key: true)
        #expect(request.url == "http://h/translate")
        #expect(
            request.body
                == "{\"q\":\"a \\\"b\\\" & ü\",\"source\":\"en\",\"target\":\"es\",\"format\":\"text\",\"api_key\":\"the-key\"}"
        )
        #expect(request.secretQuery == ["api_key"])
        #expect(try answer("libretranslate", "{\"translatedText\": \"¡Hola!\"}") == "¡Hola!")
    }

    @Test func google() throws {
        let request = try request("google", key: true)
        #expect(request.url == "http://h/language/translate/v2?key=the-key")
        #expect(request.secretQuery == ["key"])
        #expect(request.body?.string.contains("\"format\":\"text\"") == true)
        #expect(try answer("google", "{\"data\":{\"translations\":[{\"translatedText\":\"Hola\"}]}}") == "Hola")
    }

    @Test func deepl() throws {
        let request = try request("deepl", key: true, to: "pt-br")
        #expect(request.url == "http://h/v2/translate")
        #expect(request.headers["Authorization"] == "DeepL-Auth-Key the-key")
        #expect(request.body == "{\"text\":[\"a \\\"b\\\" & ü\"],\"source_lang\":\"EN\",\"target_lang\":\"PT-BR\"}")
        let body = "{\"translations\":[{\"detected_source_language\":\"EN\",\"text\":\"Texto de muestra\"}]}"
        #expect(try answer("deepl", body) == "Texto de muestra")
    }

    @Test func yandex() throws {
        let request = try request("yandex", key: true)
        #expect(request.url == "http://h/api/v1.5/tr.json/translate")
        #expect(request.body == "text=a%20%22b%22%20%26%20%C3%BC&lang=en-es&format=plain&key=the-key")
        #expect(try answer("yandex", "{\"code\": 200, \"lang\": \"en-es\", \"text\": [\"La barba\"]}") == "La barba")
        #expect {
            _ = try answer("yandex", "{\"code\":401,\"message\":\"API key is invalid\"}")
        } throws: { error in
            describeError(error).contains("API key is invalid")
        }
    }

    @Test func apertiumAPy() throws {
        let request = try request("apertium-apy")
        #expect(request.url == "http://h/translate")
        #expect(request.body?.string.contains("langpair=eng%7Cspa&markUnknown=no") == true)
        let body =
            "{\"responseData\": {\"translatedText\": \"*foo Gobierno\"}, \"responseDetails\": null, \"responseStatus\": 200}"
        #expect(try answer("apertium-apy", body) == "foo Gobierno")
    }

    @Test(arguments: ["{}", "[]", "{\"translatedText\":5}", "<html>", ""])
    func anAnswerWithoutATranslationIsAnError(body: String) {
        #expect(throws: FeedbusError.self) { _ = try answer("libretranslate", body) }
    }

    @Test func freeKeysOfDeepLGoToTheFreeHost() throws {
        var options = ProviderOptions()
        options.name = .deepl
        options.apiKey = Secret("abc:fx")
        #expect(TranslationService(options).baseURL == "https://api-free.deepl.com")
        options.apiKey = Secret("abc")
        #expect(TranslationService(options).baseURL == "https://api.deepl.com")
    }
}

struct TextToTranslateTests {
    private func work(_ data: String, to: String = "es") -> TextToTranslate? {
        TextToTranslate(event(data), text: JSONPointer("/value")!, from: "en", to: to)
    }

    @Test(arguments: [
        "{\"value\":\"x\",\"languageCode\":\"es\"}", "{\"value\":\"x\",\"languageCode\":\"es-MX\"}", "{\"other\":1}",
        "{\"value\":5}",
        "{\"value\":\" \\n\"}", "[1]", "\"x\"",
    ])
    func thereIsNothingToDo(data: String) {
        #expect(work(data) == nil)
    }

    @Test func whatIsThereStaysAndTheRestComesBehind() {
        let text = work("{\"b\":1.00,\"value\":\"x\",\"a\":[{\"c\":\"\\u00e9\"}]}")
        #expect(
            text?.translated("y \"z\"", into: JSONPointer("/translatedValue")!, to: "es")
                == "{\"b\":1.00,\"value\":\"x\",\"a\":[{\"c\":\"\\u00e9\"}],\"translatedValue\":\"y \\\"z\\\"\",\"translationLanguageCode\":\"es\",\"languageCode\":\"en\"}"
        )
    }

    @Test func theLanguageOfTheTextIsItsOwn() {
        let text = work("{\"value\":\"x\",\"languageCode\":\"fr\"}")
        #expect(text?.language == "fr")
        #expect(
            text?.translated("y", into: JSONPointer("/t")!, to: "es")
                == "{\"value\":\"x\",\"languageCode\":\"fr\",\"t\":\"y\",\"translationLanguageCode\":\"es\"}")
    }

    @Test func theTranslationMayGoDeeper() {
        let text = work("{\"value\":\"x\",\"in\":{\"k\":1}}")
        #expect(
            text?.translated("y", into: JSONPointer("/in/es")!, to: "es")
                == "{\"value\":\"x\",\"in\":{\"k\":1,\"es\":\"y\"},\"translationLanguageCode\":\"es\",\"languageCode\":\"en\"}"
        )
        #expect(text?.translated("y", into: JSONPointer("/out/es")!, to: "es") == nil)
    }
}
