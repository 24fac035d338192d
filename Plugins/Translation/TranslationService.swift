// feedbus: what the translation services are asked, and how their answers are read.

import FeedbusPlugin

/// A translation service behind HTTP. Making requests and reading answers touches no network.
struct TranslationService: Sendable {
    let name: ProviderName
    let baseURL: String
    let key: Secret?

    init(_ options: ProviderOptions) {
        name = options.name
        key = options.apiKey
        baseURL = options.baseURL ?? TranslationService.publicAddress(options.name, key: options.apiKey)
    }

    private static func publicAddress(_ name: ProviderName, key: Secret?) -> String {
        switch name {
        case .apertium, .apertiumAPy: "https://apertium.org/apy"
        case .libretranslate: "https://libretranslate.com"
        case .google: "https://translation.googleapis.com"
        // Keys of the free plan end in :fx, and are good at this host only.
        case .deepl: key?.reveal().hasSuffix(":fx") == true ? "https://api-free.deepl.com" : "https://api.deepl.com"
        case .yandex: "https://translate.yandex.net"
        }
    }

    /// True for services that answer nobody without a key.
    static func needsKey(_ name: ProviderName) -> Bool {
        switch name {
        case .google, .deepl, .yandex: true
        case .apertium, .apertiumAPy, .libretranslate: false
        }
    }

    func request(_ text: String, from: String, to: String, timeout: Duration) -> HTTPRequest {
        var request = HTTPRequest(baseURL, method: "POST", timeout: timeout)
        request.headers["Accept"] = "application/json"
        switch name {
        case .libretranslate:
            var members = [("q", text), ("source", from), ("target", to), ("format", "text")]
            if let key { members.append(("api_key", key.reveal())) }
            request.url += "/translate"
            request.secretQuery = ["api_key"]
            setJSON(members.map { ($0.0, JSON.quote($0.1)) }, &request)
        case .google:
            request.url += "/language/translate/v2" + (key.map { "?key=\(FormText.encoded($0.reveal()))" } ?? "")
            request.secretQuery = ["key"]
            // Without "text" it would answer with HTML entities.
            let members = [("q", text), ("source", from), ("target", to), ("format", "text")]
            setJSON(members.map { ($0.0, JSON.quote($0.1)) }, &request)
        case .deepl:
            request.url += "/v2/translate"
            if let key { request.headers["Authorization"] = "DeepL-Auth-Key \(key.reveal())" }
            setJSON(
                [
                    ("text", Bytes("[\(JSON.quote(text).string)]")),
                    // Only target languages have variants there.
                    ("source_lang", JSON.quote(LanguageCodes.primary(from).uppercased())),
                    ("target_lang", JSON.quote(to.uppercased())),
                ], &request)
        case .yandex:
            request.url += "/api/v1.5/tr.json/translate"
            request.secretQuery = ["key"]
            var fields = [("text", text), ("lang", "\(from)-\(to)"), ("format", "plain")]
            if let key { fields.append(("key", key.reveal())) }
            setForm(fields, &request)
        case .apertium, .apertiumAPy:
            request.url += "/translate"
            let pair = "\(LanguageCodes.three(from))|\(apertiumTarget(to))"
            setForm([("q", text), ("langpair", pair), ("markUnknown", "no"), ("format", "txt")], &request)
        }
        return request
    }

    /// `eng`, or `eng_US` for a variant.
    private func apertiumTarget(_ to: String) -> String {
        LanguageCodes.three(to) + (LanguageCodes.region(to).map { "_\($0)" } ?? "")
    }

    /// The translation in an answer.
    /// - Parameter request: whose answer it is; an error quotes the answer without its secrets.
    /// - Throws: `FeedbusError` where the answer holds none.
    func translation(in response: HTTPResponse, to request: HTTPRequest) throws -> String {
        let answer: JSONValue
        do throws(JSONError) {
            answer = try JSON.parse(response.body)
        } catch {
            throw FeedbusError("translation.answer", "the answer is not JSON: \(error.description)", isRetriable: true)
        }
        let found: String? =
            switch name {
            case .libretranslate: answer["translatedText"]?.string
            case .google: answer["data"]?["translations"]?.elements.first { _ in true }?["translatedText"]?.string
            case .deepl: answer["translations"]?.elements.first { _ in true }?["text"]?.string
            case .yandex: try yandexText(answer)
            case .apertium, .apertiumAPy:
                answer["responseData"]?["translatedText"]?.string.map(ApertiumText.withoutMarks)
            }
        guard let found else {
            throw FeedbusError(
                "translation.answer", "the answer has no translation: \(request.quoting(response.body))",
                isRetriable: true)
        }
        return found
    }

    /// The status in the body counts: that of HTTP was often another.
    private func yandexText(_ answer: JSONValue) throws -> String? {
        guard let code = answer["code"]?.int, code != 200 else {
            return answer["text"]?.elements.first { _ in true }?.string
        }
        throw FeedbusError(
            "translation.refused", "refused with code \(code): \(answer["message"]?.string ?? "no reason given")")
    }

    private func setJSON(_ members: [(key: String, value: Bytes)], _ request: inout HTTPRequest) {
        var writer = ByteWriter(capacity: members.reduce(16) { $0 + $1.key.utf8.count + $1.value.count + 8 })
        for (index, member) in members.enumerated() {
            writer.append(UInt8(ascii: index == 0 ? "{" : ","))
            writer.appendJSONString(member.key)
            writer.append(UInt8(ascii: ":"))
            writer.append(member.value)
        }
        writer.append(UInt8(ascii: "}"))
        request.body = writer.finish()
        request.headers["Content-Type"] = "application/json"
    }

    private func setForm(_ fields: [(name: String, value: String)], _ request: inout HTTPRequest) {
        request.body = Bytes(fields.map { "\($0.name)=\(FormText.encoded($0.value))" }.joined(separator: "&"))
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    }
}
