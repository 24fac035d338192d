// feedbus: where the shared test data is.

import FoundationEssentials

/// Test data that is not part of the repository: the folder named by `FEEDBUS_SHARED`, else `../shared` beside it.
enum SharedData {
    static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["FEEDBUS_SHARED"], !named.isEmpty { return named }
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(package)/../shared"
    }()

    static let conformance = folder + "/data/json-conformance"
    static let oddLines = folder + "/data/jsonl-odd"

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The files of a folder, in order; empty where there is no such folder.
    static func files(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    static func read(_ path: String) -> [UInt8] {
        FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? []
    }
}
