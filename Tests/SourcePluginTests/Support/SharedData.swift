// feedbus: recorded answers of the services, which are not part of the repository.

import FeedbusPlugin
import FoundationEssentials
import Testing

/// The folder named by `FEEDBUS_SHARED`, else `../shared` beside the package.
enum SharedData {
    static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["FEEDBUS_SHARED"], !named.isEmpty { return named }
        return "\(packageFolder)/../shared"
    }()

    static let packageFolder = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    /// The words of a test that is skipped.
    static let missing: Comment = "the recorded answers are not there: set FEEDBUS_SHARED to the folder that has data/"

    static let exists = FileManager.default.fileExists(atPath: folder + "/data")

    static func files(in name: String) -> [String] {
        let path = "\(folder)/data/\(name)"
        return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted().map { "\(name)/\($0)" }
    }

    static func read(_ name: String) throws -> Bytes {
        let path = name.hasPrefix("/") ? name : "\(folder)/data/\(name)"
        guard let found = FileManager.default.contents(atPath: path) else {
            throw FeedbusError(FeedbusError.Code("test"), "cannot read \(path)")
        }
        return Bytes([UInt8](found))
    }
}

/// One recorded request with its answer.
struct Exchange: Sendable {
    var url: String
    var response: HTTPResponse

    /// The exchanges of a file of JSON lines, in recorded order.
    static func read(_ name: String) throws -> [Exchange] {
        let text = try SharedData.read(name)
        var exchanges: [Exchange] = []
        for line in text.string.split(separator: "\n") {
            let value = try JSON.parse(Bytes(String(line)))
            let url = try #require(value["request"]?["url"]?.string)
            var headers = HTTPHeaders()
            for pair in try #require(value["response"]?["headers"]).elements {
                let parts = pair.elements.compactMap(\.string)
                headers.append(parts[0], parts[1])
            }
            exchanges.append(
                Exchange(
                    url: url,
                    response: HTTPResponse(
                        status: try #require(value["response"]?["status"]?.int), headers: headers,
                        body: try #require(value["response"]?["body"]?.stringBytes), url: url)))
        }
        return exchanges
    }
}

/// White space between the tokens removed, by a reading of its own.
func minified(_ text: Bytes) -> Bytes {
    var kept: [UInt8] = []
    kept.reserveCapacity(text.count)
    text.withUnsafeBytes { bytes in
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            if isInString {
                kept.append(byte)
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if byte > 0x20 {
                kept.append(byte)
                isInString = byte == UInt8(ascii: "\"")
            }
        }
    }
    return Bytes(kept)
}
