// feedbus: recorded answers of the services, which are not part of the repository.

import FeedbusPlugin
import FoundationEssentials
import Testing

/// The folder named by `FEEDBUS_SHARED`, else `../shared` beside the package.
enum SharedData {
    static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["FEEDBUS_SHARED"], !named.isEmpty { return named }
        return "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/../shared"
    }()

    /// The words of a test that is skipped.
    static let missing: Comment = "the recorded answers are not there: set FEEDBUS_SHARED to the folder that has data/"

    static let exists = FileManager.default.fileExists(atPath: folder + "/data")

    /// Every file below a folder of `data/`, by its path from there.
    static func files(below name: String) -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: "\(folder)/data/\(name)")) ?? [])
            .filter { $0.contains(".json") }.sorted()
    }

    static func read(_ name: String) throws -> Bytes {
        let path = "\(folder)/data/\(name)"
        guard let found = FileManager.default.contents(atPath: path) else {
            throw FeedbusError("test", "cannot read \(path)")
        }
        return Bytes([UInt8](found))
    }

    /// The values of a file of JSON lines.
    static func lines(_ name: String) throws -> [JSONValue] {
        try read(name).string.split(separator: "\n").map { try JSON.parse(Bytes(String($0))) }
    }
}
