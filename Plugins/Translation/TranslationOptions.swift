// feedbus: what is translated, from and into which language, and by whom.

import FeedbusPlugin

/// Who translates.
enum ProviderName: String, CaseIterable, Sendable {
    /// The program on this machine: no network, no key.
    case apertium
    case apertiumAPy = "apertium-apy"
    case libretranslate
    case google
    case deepl
    case yandex
}

struct ProviderOptions: PluginOptions {
    var name = ProviderName.apertium
    var baseURL: String?
    var apiKey: Secret?

    static let options: [Option<ProviderOptions>] = [
        .choice("name", \.name, help: "who translates", example: "\"libretranslate\"").synonyms("type", "service"),
        .url(
            "base_url", \.baseURL, help: "where the service is; else its public address",
            example: "\"http://localhost:5000\""
        ).synonyms("url"),
        .secret("api_key", \.apiKey, help: "the key that the service asks for").synonyms("key", "token"),
    ]
}

public struct TranslationOptions: PluginOptions {
    var to = ""
    var from = "en"
    var text = JSONPointer("/value")!
    var into = JSONPointer("/translatedValue")!
    var provider = ProviderOptions()
    var maxConcurrent = 4
    var cache = 10_000
    var timeout = Duration.seconds(30)

    public init() {}

    public static let options: [Option<TranslationOptions>] = [
        .string(
            "to", \.to, required: true, pattern: languagePattern, accepts: isLanguage,
            help: "the language to translate into",
            example: "\"es\""
        ).synonyms("target", "language"),
        .string(
            "from", \.from, pattern: languagePattern, accepts: isLanguage,
            help: "the language of texts that do not say theirs (/languageCode)", example: "\"en\""
        ).synonyms("source"),
        .pointer("text", \.text, defaultText: "/value", help: "where the text stands in data").synonyms("field"),
        .pointer("into", \.into, defaultText: "/translatedValue", help: "where the translation goes in data"),
        .object(
            "provider", \.provider, help: "who translates: the local program apertium, or a service",
            example: "{ \"name\": \"libretranslate\", \"base_url\": \"http://localhost:5000\" }"
        ).synonyms("service", "engine"),
        .integer(
            "max_concurrent", \.maxConcurrent, in: 1...64, help: "texts that are translated at once; order is kept"),
        .integer("cache", \.cache, in: 0...1_000_000, help: "how many translations are remembered"),
        .duration(
            "timeout", \.timeout, in: .seconds(1)...Duration.seconds(600),
            help: "for one text, as long as the provider may take"),
    ]

    private static let languagePattern = "a language code such as \"es\" or \"pt-BR\""

    @Sendable private static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, (2...3).contains(first.count) else { return false }
        return parts.allSatisfy { part in
            (2...8).contains(part.count)
                && part.utf8.allSatisfy { byte in
                    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
                }
        }
    }
}
