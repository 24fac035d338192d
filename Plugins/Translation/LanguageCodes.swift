// feedbus: language codes of two letters and of three.

/// Apertium names languages by ISO 639-3, everybody else by ISO 639-1.
enum LanguageCodes {
    /// The ISO 639-3 code for a code of either kind: `en` and `eng` both give `eng`. Unknown codes stay as they are.
    static func three(_ code: String) -> String {
        let main = primary(code)
        return threeOfTwo[main] ?? main
    }

    /// `pt` of `pt-BR`, in lower case.
    static func primary(_ code: String) -> String {
        String(code.prefix { $0 != "-" && $0 != "_" }).lowercased()
    }

    /// `BR` of `pt-BR`.
    static func region(_ code: String) -> String? {
        let parts = code.split { $0 == "-" || $0 == "_" }
        return parts.count > 1 ? parts[parts.count - 1].uppercased() : nil
    }

    /// True where a text in `language` needs no translation into `wanted`: `es-MX` is Spanish, but Spanish is not `es-MX`.
    static func isSame(_ language: String, _ wanted: String) -> Bool {
        guard three(language) == three(wanted) else { return false }
        return region(wanted) == nil || region(language) == region(wanted)
    }

    private static let threeOfTwo: [String: String] = [
        "af": "afr", "an": "arg", "ar": "ara", "az": "aze", "ba": "bak", "be": "bel", "bg": "bul", "br": "bre",
        "bs": "bos",
        "ca": "cat", "cs": "ces", "cv": "chv", "cy": "cym", "da": "dan", "de": "deu", "el": "ell", "en": "eng",
        "eo": "epo",
        "es": "spa", "et": "est", "eu": "eus", "fa": "fas", "fi": "fin", "fo": "fao", "fr": "fra", "ga": "gle",
        "gl": "glg",
        "gv": "glv", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "hy": "hye", "id": "ind", "is": "isl",
        "it": "ita",
        "ja": "jpn", "ka": "kat", "kk": "kaz", "ko": "kor", "ku": "kur", "ky": "kir", "la": "lat", "lt": "lit",
        "lv": "lav",
        "mk": "mkd", "mr": "mar", "ms": "msa", "mt": "mlt", "nb": "nob", "ne": "nep", "nl": "nld", "nn": "nno",
        "no": "nor",
        "oc": "oci", "pl": "pol", "pt": "por", "rm": "roh", "ro": "ron", "ru": "rus", "sc": "srd", "se": "sme",
        "sh": "hbs",
        "sk": "slk", "sl": "slv", "sq": "sqi", "sr": "srp", "sv": "swe", "ta": "tam", "te": "tel", "tg": "tgk",
        "th": "tha",
        "tk": "tuk", "tr": "tur", "tt": "tat", "ug": "uig", "uk": "ukr", "ur": "urd", "uz": "uzb", "vi": "vie",
        "zh": "zho",
    ]
}
