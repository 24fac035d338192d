// feedbus: reads an HTTP archive, our own or a browser's.

import FeedbusBase
import FeedbusJSON

/// One answer of a recording, and to what.
struct RecordedExchange: Sendable {
    var method: String
    var url: HTTPURL
    var status: Int
    var headers: HTTPHeaders
    var body: Bytes
}

/// Reads HAR 1.2 (and 1.1). Browsers' additions and omissions are let through; entries that hold no answer (blocked,
/// failed, from a `data:` URL) are left out.
enum HARReader {
    /// - Throws: `FeedbusError` (`http.recording`) for what is no HAR file.
    static func exchanges(in file: Bytes, name: String) throws(FeedbusError) -> [RecordedExchange] {
        // Some tools put a byte order mark in front.
        let text = file.count >= 3 && file[0..<3] == Bytes([0xEF, 0xBB, 0xBF]) ? file[3..<file.count] : file
        let root: JSONValue
        do {
            root = try JSON.parse(text)
        } catch {
            let position = error.position(in: text)
            throw FeedbusError(
                .httpRecording,
                "\(name):\(position.line):\(position.column): the recording is no JSON: \(error.message)", cause: error)
        }
        guard let entries = root["log"]?["entries"], entries.kind == .array else {
            throw FeedbusError(.httpRecording, "\(name): not a HAR file: it has no log.entries")
        }
        var found: [RecordedExchange] = []
        for (index, entry) in entries.elements.enumerated() {
            guard let exchange = try exchange(entry, at: index, name: name) else { continue }
            found.append(exchange)
        }
        return found
    }

    private static func exchange(_ entry: JSONValue, at index: Int, name: String) throws(FeedbusError)
        -> RecordedExchange?
    {
        guard let status = entry["response"]?["status"]?.int, status >= 200,
            let method = entry["request"]?["method"]?.string,
            let url = entry["request"]?["url"]?.string.flatMap({ try? HTTPURL($0) })
        else { return nil }
        var headers = HTTPHeaders()
        if let fields = entry["response"]?["headers"], fields.kind == .array {
            for field in fields.elements {
                // HTTP/2's pseudo-fields are none of the answer's.
                guard let name = field["name"]?.string, !name.hasPrefix(":") else { continue }
                headers.append(name, field["value"]?.string ?? "")
            }
        }
        let content = entry["response"]?["content"]
        var body = content?["text"]?.stringBytes?.compacted() ?? Bytes()
        if let encoding = content?["encoding"]?.string, equalNames(encoding, "base64") {
            guard let decoded = Base64.decode(body) else {
                throw FeedbusError(.httpRecording, "\(name): log.entries[\(index)]: the body is no Base64")
            }
            body = decoded
        }
        return RecordedExchange(method: method.uppercased(), url: url, status: status, headers: headers, body: body)
    }
}
