// feedbus: the JSON text of an answer, made compact once, so that the data of its events are slices of it.

public import FeedbusPlugin

/// An answer's body, parsed. Every value's `raw` is a slice of one minified text.
public struct JSONBody: Sendable {
    public let root: JSONValue
    /// True where invalid UTF-8 was replaced by U+FFFD.
    public let isRepaired: Bool
    /// True where the answer came from a recording.
    public let isRecorded: Bool

    /// - Throws: `FeedbusError` with the code `http.decode`; asking again may help, as answers are cut at times.
    public init(_ response: HTTPResponse) throws {
        let (text, isRepaired) = JSON.repairUTF8(response.body)
        do {
            root = try JSON.parse(try JSON.minify(text))
        } catch {
            // An element that nests too deeply becomes null, which no source takes for an item, and counts.
            if let rest = JSON.withoutDeepElements(text), let saved = try? JSON.parse(try JSON.minify(rest)) {
                root = saved
                self.isRepaired = isRepaired
                isRecorded = response.recorded
                return
            }
            throw FeedbusError.shape("the answer is no JSON: \(error)", cause: error)
        }
        self.isRepaired = isRepaired
        isRecorded = response.recorded
    }

    /// The mark of an event whose text had to be repaired: the extension attribute `repairedutf8`.
    public func attributes(of text: Bytes) -> [Event.Attribute] {
        isRepaired && text.holdsReplacement ? [Event.Attribute(name: "repairedutf8", value: "true")] : []
    }
}

extension Bytes {
    /// U+FFFD is somewhere in the text.
    fileprivate var holdsReplacement: Bool {
        withUnsafeBytes { text in
            text.indices.dropLast(2).contains { text[$0] == 0xEF && text[$0 + 1] == 0xBF && text[$0 + 2] == 0xBD }
        }
    }
}

extension FeedbusError {
    /// The answer has not the shape that the service documents.
    public static func shape(_ message: String, cause: (any Error)? = nil) -> FeedbusError {
        FeedbusError(.httpDecode, message, isRetriable: true, cause: cause)
    }

    /// A list that has elements must have one that is what it should be: anything else is a message of the service, and
    /// taken for an answer it would count as the first poll, make what is known forgotten, and keep its validators. An
    /// empty list is an answer.
    /// - Parameter what: what an element should be: `an event`.
    public static func requireUsable(_ usable: Int, unusable: Int, what: String) throws {
        guard usable == 0 && unusable > 0 else { return }
        throw shape("none of the \(counted(unusable, "element")) of the list is \(what)")
    }
}

extension JSONValue {
    /// An identifier: a string that is not empty, or an integer's digits; nil for anything else.
    public var identifier: String? {
        switch kind {
        case .string: string.flatMap { $0.isEmpty ? nil : $0 }
        case .number: int == nil ? nil : raw.string
        default: nil
        }
    }

    /// A string that is an RFC 3339 time; nil for anything else.
    public var timeText: Bytes? {
        guard let text = stringBytes, WallTime(rfc3339: text) != nil else { return nil }
        return text
    }
}
