// feedbus: exchanges as HAR 1.2.

import FeedbusBase
import FeedbusJSON

/// Writes the entries of an HTTP archive (HAR 1.2), without secrets.
enum HARWriter {
    /// What stands before the entries, which are separated by commas.
    static func head(creator: String) -> Bytes {
        var writer = ByteWriter(capacity: 256)
        let parts = creator.split(separator: " ", maxSplits: 1)
        writer.append("{\"log\":{\"version\":\"1.2\",\"creator\":{\"name\":")
        writer.appendJSONString(String(parts.first ?? "feedbus"))
        writer.append(",\"version\":")
        writer.appendJSONString(String(parts.count == 2 ? parts[1] : ""))
        writer.append("},\"entries\":[")
        return writer.finish()
    }

    /// What stands behind them.
    static let tail: Bytes = "\n]}}\n"

    /// One exchange.
    /// - Parameters:
    ///   - outcome: the answer, or in words why there was none (status 0 then, as browsers write it).
    ///   - userAgent: what was sent where the request named none itself.
    static func entry(
        _ request: HTTPRequest, _ outcome: Result<HTTPResponse, FeedbusError>, startedAt: WallTime, took: Duration
    ) -> Bytes {
        let milliseconds = (took.seconds * 1e6).rounded() / 1e3
        var writer = ByteWriter(capacity: 2_048)
        writer.append("{\"startedDateTime\":\"\(startedAt.rfc3339(milliseconds: true))\",\"time\":\(milliseconds),")
        writer.append("\"request\":")
        append(request, to: &writer)
        writer.append(",\"response\":")
        switch outcome {
        case .success(let response): append(response, of: request, to: &writer)
        case .failure(let error): append(error, of: request, to: &writer)
        }
        writer.append(",\"cache\":{},\"timings\":{\"send\":0,\"wait\":\(milliseconds),\"receive\":0}}")
        return writer.finish()
    }

    private static func append(_ request: HTTPRequest, to writer: inout ByteWriter) {
        let shown = Redaction.location(request.url, of: request)
        var headers = request.headers
        if request.bearer != nil { headers.append("Authorization", "\(Redaction.mark)") }
        writer.append("{\"method\":")
        writer.appendJSONString(request.method)
        writer.append(",\"url\":")
        writer.appendJSONString(shown)
        writer.append(",\"httpVersion\":\"unknown\",\"cookies\":[],\"headers\":")
        append(headers, of: request, to: &writer)
        writer.append(",\"queryString\":[")
        for (index, item) in ((try? HTTPURL(shown))?.queryItems ?? []).enumerated() {
            if index > 0 { writer.append(",") }
            append(name: Percent.decoded(item.name), value: Percent.decoded(item.value), to: &writer)
        }
        writer.append("]")
        if let body = request.body {
            let type = request.headers["Content-Type"] ?? ""
            writer.append(",\"postData\":{\"mimeType\":")
            writer.appendJSONString(type)
            writer.append(",\"params\":[],\"text\":")
            writer.appendJSONString(JSON.repairUTF8(Redaction.body(body, of: request)).0)
            writer.append("}")
        }
        writer.append(",\"headersSize\":-1,\"bodySize\":\(request.body?.count ?? 0)}")
    }

    private static func append(_ response: HTTPResponse, of request: HTTPRequest, to writer: inout ByteWriter) {
        writer.append("{\"status\":\(response.status),\"statusText\":\"\(statusName(response.status))\",")
        writer.append("\"httpVersion\":\"unknown\",\"cookies\":[],\"headers\":")
        append(response.headers, of: request, to: &writer)
        writer.append(",\"content\":{\"size\":\(response.body.count),\"mimeType\":")
        writer.appendJSONString(response.headers["Content-Type"] ?? "")
        writer.append(",\"text\":")
        let (text, isRepaired) = JSON.repairUTF8(response.body)
        if isRepaired {
            writer.append("\"")
            writer.append(Base64.encode(Redaction.text(response.body, of: request)))
            writer.append("\",\"encoding\":\"base64\"")
        } else {
            // A service may quote what was sent to it.
            writer.appendJSONString(Redaction.text(text, of: request))
        }
        writer.append("},\"redirectURL\":")
        writer.appendJSONString(Redaction.location(response.headers["Location"] ?? "", of: request))
        writer.append(",\"headersSize\":-1,\"bodySize\":-1}")
    }

    private static func append(_ error: FeedbusError, of request: HTTPRequest, to writer: inout ByteWriter) {
        writer.append("{\"status\":0,\"statusText\":\"\",\"httpVersion\":\"unknown\",\"cookies\":[],\"headers\":[],")
        writer.append(
            "\"content\":{\"size\":0,\"mimeType\":\"\"},\"redirectURL\":\"\",\"headersSize\":-1,\"bodySize\":-1,")
        writer.append("\"_error\":")
        writer.appendJSONString(Redaction.text(error.message, of: request))
        writer.append("}")
    }

    private static func append(_ headers: HTTPHeaders, of request: HTTPRequest, to writer: inout ByteWriter) {
        writer.append("[")
        for (index, field) in headers.enumerated() {
            if index > 0 { writer.append(",") }
            append(name: field.name, value: shownValue(field, of: request), to: &writer)
        }
        writer.append("]")
    }

    private static func shownValue(_ field: HTTPHeaders.Field, of request: HTTPRequest) -> String {
        if Redaction.isSecretHeader(field.name, of: request) { return "\(Redaction.mark)" }
        if equalNames(field.name, "Location") { return Redaction.location(field.value, of: request) }
        return Redaction.text(field.value, of: request)
    }

    private static func append(name: String, value: String, to writer: inout ByteWriter) {
        writer.append("{\"name\":")
        writer.appendJSONString(name)
        writer.append(",\"value\":")
        writer.appendJSONString(value)
        writer.append("}")
    }
}
