// feedbus: every recorded answer of the translation services.

import FeedbusHTTP
import FeedbusPlugin
import FeedbusTestKit
import Synchronization
import Testing

@testable import TranslationPlugin

/// Gives one answer, to whatever is asked.
private struct OneAnswer: HTTPTransport {
    let status: Int
    let body: Bytes

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: status, body: body, url: request.url)
    }
}

@Suite(.enabled(if: SharedData.exists, SharedData.missing))
struct TranslationRecordingsTests {
    private static let services = ["apertium", "apertium-apy", "libretranslate", "google", "deepl", "yandex"]

    private func service(_ name: String) throws -> TranslationService {
        TranslationService(try options(ProviderOptions.self, "{\"name\": \"\(name)\", \"base_url\": \"http://h\"}"))
    }

    /// The translation in an answer with status 200.
    private func text(_ name: String, _ body: Bytes) throws -> String {
        try service(name).translation(
            in: HTTPResponse(status: 200, body: body, url: "http://h"), to: HTTPRequest("http://h"))
    }

    /// What is said of an answer that the service gives to the only attempt.
    private func refusal(_ name: String, _ status: Int, _ body: Bytes) throws -> String {
        let service = try service(name)
        let words = Mutex("")
        try Simulation.run { simulation in
            let context = context(
                on: ManualHost(loop: simulation.loop), clock: simulation.clock,
                transport: OneAnswer(status: status, body: body))
            let translator = HTTPTranslator(
                service: service, http: context.http.with(retry: RetryPolicy(attempts: 1)), timeout: .seconds(5))
            do {
                let text = try await translator.translate("x", from: "en", to: "es")
                words.withLock { $0 = "translated: \(text)" }
            } catch {
                words.withLock { $0 = describeError(error) }
            }
        }
        return words.withLock(\.self)
    }

    private func exchanges(_ name: String) throws -> [(url: String, status: Int, body: Bytes)] {
        try SharedData.lines("translate/exchanges/\(name).jsonl").map { line in
            (
                try #require(line["request"]?["url"]?.string), try #require(line["response"]?["status"]?.int),
                try #require(line["response"]?["body"]?.stringBytes)
            )
        }
    }

    /// Every recording is here: a new one has to be looked at.
    @Test func theRecordingsAreKnown() {
        let files = SharedData.files(below: "translate")
        #expect(files.count == 23)
        #expect(
            Set(files.map { $0.split(separator: "/").first ?? "" })
                == [
                    "apertium", "deepl__openapi.json", "exchanges", "google-v2", "libretranslate", "watson-v3",
                    "yandex-v1.5",
                ])
    }

    // MARK: - Yandex

    @Test(arguments: [
        ("kodeco__TestTranslationResponse", "La barba de Chuck Norris puede escribir 140 wpm."),
        ("index11749957459__translate", "Москва"), ("index46402693589__translate-options1", "образец"),
    ])
    func yandexGivesAListOfTexts(_ name: String, _ expected: String) throws {
        let body = try SharedData.read("translate/yandex-v1.5/\(name).json")
        #expect(try JSON.parse(body)["text"]?.kind == .array)
        #expect(try text("yandex", body) == expected)
    }

    @Test(arguments: [200, 400, 401, 403]) func yandexSaysInTheBodyWhatIsWrong(_ status: Int) throws {
        let body = try SharedData.read("translate/yandex-v1.5/index15531571057__error-401.json")
        let said = try refusal("yandex", status, body)
        #expect(said.contains("code 401: API key is invalid"), "\(said)")
    }

    @Test func yandexsLanguagesAreNoTranslation() throws {
        let body = try SharedData.read("translate/yandex-v1.5/nickname55__getLangs-ru.json")
        #expect(body.string.contains("\n\t\"az-ru\""))
        let languages = try JSON.parse(body)
        #expect(languages["dirs"]?.count == 160 && languages["langs"]?["af"]?.string == "Afrikaans")
        #expect(try refusal("yandex", 200, body).contains("the answer has no translation"))
    }

    // MARK: - LibreTranslate

    @Test(arguments: [("docs__1", "¡Hola!"), ("docs__3", "<p class=\"green\">¡Hola!</p>")])
    func libreTranslate(_ name: String, _ expected: String) throws {
        #expect(try text("libretranslate", SharedData.read("translate/libretranslate/\(name).json")) == expected)
    }

    @Test func aListAtTheTopIsNoTranslation() throws {
        let body = try SharedData.read("translate/libretranslate/docs__5.json")
        #expect(try JSON.parse(body).kind == .array)
        #expect(try refusal("libretranslate", 200, body).contains("the answer has no translation"))
    }

    @Test func libreTranslatesErrorsAreSaidInItsWords() throws {
        let lines = try SharedData.lines("translate/libretranslate/reconstructed__errors.jsonl")
        #expect(lines.count == 5)
        for line in lines {
            let status = try #require(line["status"]?.int)
            let body = try #require(line["body"])
            let words = try #require(body["error"]?.string)
            if status == 429 {
                #expect(words.hasPrefix("Slowdown: "))  // a wait, not an error: TranslationTests
            } else {
                #expect(try refusal("libretranslate", status, body.raw).contains(words))
            }
        }
    }

    // MARK: - Google

    @Test func googleNamesTheLanguageOnlyWhereItFoundIt() throws {
        let given = try #require(try exchanges("google-v2__sher-github-1").first)
        #expect(!given.body.string.contains("detectedSourceLanguage"))
        #expect(try text("google", given.body) == "我住在台灣。")
        let found = try #require(
            try JSON.parse(SharedData.read("translate/google-v2/zulip__test_quotation.json"))["response"])
        #expect(found.raw.string.contains("detectedSourceLanguage"))
        #expect(try text("google", found.raw) == "this has \"quotation\" marks in")
    }

    @Test func whatGoogleDetectsIsNoTranslation() throws {
        let answer = try #require(try exchanges("google-v2__sher-github-3").first)
        let detections = try #require(JSON.parse(answer.body)["data"]?["detections"])
        #expect(detections.count == 3 && detections.elements.allSatisfy { $0.kind == .array })
        for detection in detections.elements.flatMap({ Array($0.elements) }) {
            #expect(detection["isReliable"]?.bool == false && detection["confidence"]?.int == 1)
        }
        #expect(try refusal("google", 200, answer.body).contains("the answer has no translation"))
    }

    @Test func googlesErrorsAndLanguages() throws {
        let denied = try JSON.parse(SharedData.read("translate/google-v2/zulip__test_403.json"))
        let status = try #require(denied["response-headers"]?["status"]?.int)
        let said = try refusal("google", status, try #require(denied["response"]).raw)
        #expect(said.contains("403 Forbidden: \"Invalid API Key.\""), "\(said)")
        let languages = try JSON.parse(SharedData.read("translate/google-v2/zulip__test_languages.json"))
        #expect(try refusal("google", 200, try #require(languages["response"]).raw).contains("has no translation"))
    }

    // MARK: - DeepL

    @Test func deepLTranslations() throws {
        let all = try exchanges("deepl-rb__deepl_translate") + exchanges("deepl-rb__translate_texts.part1")
        let translated = all.filter { $0.url.contains("/v2/translate") && $0.status == 200 }
        #expect(
            try translated.map { try text("deepl", $0.body) } == [
                "Muestra", "Hola Tierra", "Ojalá tuviéramos un auto.", "Texto de muestra", "<p>Texto de muestra</p>",
                "Bienvenido y <code>Hello great World</code> ¡Buenos días!",
            ])
        // Glossaries are no translations, and an answer of 204 is none at all.
        for other in all where !other.url.contains("/v2/translate") {
            #expect(throws: FeedbusError.self) { try text("deepl", other.body) }
        }
    }

    @Test func deepLsErrors() throws {
        let errors = try exchanges("deepl-rb__translate_texts.part1").filter { $0.status >= 400 }
        #expect(errors.map(\.status) == [403, 400, 413])
        #expect(errors[0].body.isEmpty && errors[2].body.string.hasPrefix("<html>"))
        let said = try errors.map { try refusal("deepl", $0.status, $0.body) }
        #expect(said[0].hasSuffix("403 Forbidden"), "\(said[0])")
        #expect(said[1].contains("Value for 'target_lang' not supported."), "\(said[1])")
        #expect(said[2].contains("413") && said[2].contains("Request Entity Too Large"), "\(said[2])")
        #expect(!said[2].contains("<"))
    }

    @Test(arguments: [("deepl-rb__languages", [200, 200, 400]), ("deepl-rb__deepl_languages", [200])])
    func deepLsLanguagesAreNoTranslation(_ name: String, _ statuses: [Int]) throws {
        let answers = try exchanges(name)
        #expect(answers.map(\.status) == statuses)
        for answer in answers {
            let said = try refusal("deepl", answer.status, answer.body)
            let words = answer.status == 200 ? "the answer has no translation" : "Parameter 'type' is invalid."
            #expect(said.contains(words), "\(said)")
        }
    }

    /// DeepL's own description: its example is read, and each of its errors is an error here.
    @Test func deepLsDescription() throws {
        let description = try JSON.parse(SharedData.read("translate/deepl__openapi.json"))
        let post = try #require(description["paths"]?["/v2/translate"]?["post"])
        let responses = try #require(post["responses"])
        let schema = responses["200"]?["content"]?["application/json"]?["schema"]?["properties"]?["translations"]
        let example = try #require(schema?["items"]?["properties"]?["text"]?["example"])
        #expect(try text("deepl", Bytes("{\"translations\":[{\"text\":\(example.raw.string)}]}")) == "Hallo, Welt!")
        let statuses = responses.members.compactMap { Int($0.key.string) }
        #expect(statuses == [200, 400, 403, 404, 413, 414, 429, 456, 500, 504, 529])
        for status in statuses where status >= 400 && status != 429 {
            let said = try refusal("deepl", status, "{\"message\":\"Quota Exceeded\"}")
            #expect(said.contains("\(status)") && said.contains("Quota Exceeded"), "\(said)")
        }
    }

    // MARK: - Apertium

    @Test func apertiumsErrorsHaveAnotherShapeThanItsAnswers() throws {
        let lines = try SharedData.lines("translate/apertium/reconstructed__answers.jsonl")
        #expect(lines.map { $0["status"]?.int } == [200, 400, 200])
        let bodies = try lines.map { try #require($0["body"]) }
        #expect(try text("apertium-apy", bodies[0].raw) == "Gobierno")
        #expect(bodies[1]["responseStatus"] == nil && bodies[1]["code"]?.int == 400)
        let said = try refusal("apertium-apy", 400, bodies[1].raw)
        #expect(said.contains("Bad Request") && said.contains("That pair is invalid, use e.g. eng|spa"), "\(said)")
        #expect(try refusal("apertium-apy", 200, bodies[2].raw).contains("the answer has no translation"))
    }

    // MARK: - A service that feedbus does not know

    @Test(arguments: services) func watsonsAnswersAreNobodyElses(_ name: String) throws {
        for file in ["identify_response", "model", "single_translation"] {
            let body = try SharedData.read("translate/watson-v3/java-sdk__\(file).json")
            #expect(try refusal(name, 200, body).contains("the answer has no translation"))
        }
        // Looks much like DeepL's.
        let near = try JSON.parse(SharedData.read("translate/watson-v3/java-sdk__single_translation.json"))
        #expect(near["translations"]?.kind == .array && near["word_count"]?.int == 6)
        let model = try JSON.parse(SharedData.read("translate/watson-v3/java-sdk__model.json"))
        #expect(model["train_log"]?.isNull == true && model["name"]?.string == "")
        let found = try SharedData.read("translate/watson-v3/java-sdk__identify_response.json")
        #expect(
            try JSON.parse(found)["languages"]?.elements.map { $0["confidence"]?.raw } == ["0.877159", "0.0752636"])
    }
}
