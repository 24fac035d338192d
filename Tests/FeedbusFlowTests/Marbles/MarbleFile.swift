// feedbus: where the marble cases come from.

import FoundationEssentials

/// Cases as a file has them.
struct MarbleFile: Sendable {
    let path: String
    let all: [MarbleCase]
    /// What is no case at all: where in the list, and why.
    let unreadable: [String]
    /// What cannot run here, and what it would need.
    let waiting: [(id: String, lack: String)]
    /// The others.
    let ready: [MarbleCase]

    /// What `MARBLES` names, by default the shared file beside the repository; no cases if it is not there.
    static let shared: MarbleFile = {
        let path = ProcessInfo.processInfo.environment["MARBLES"] ?? "../shared/cases/marbles.json"
        guard let data = FileManager.default.contents(atPath: path) else {
            print("MarbleTests: SKIPPED, there is no \(path); name the file in MARBLES")
            return MarbleFile(path: path, [])
        }
        do { return try MarbleFile(path: path, json: data) } catch { fatalError("\(path) cannot be read: \(error)") }
    }()

    /// The project's own, in the notation of `MarbleText`.
    static let own: MarbleFile = {
        var folder = URL(filePath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        let path = folder.appending(path: "Support/cases.marbles").path()
        do { return MarbleFile(path: path, try MarbleText.cases(String(contentsOfFile: path, encoding: .utf8))) } catch
        {
            fatalError("\(path): \(error)")
        }
    }()

    private struct Entry: Decodable {
        var item: Result<MarbleCase, any Error>
        init(from decoder: any Decoder) throws { item = Result { try MarbleCase(from: decoder) } }
    }

    private init(path: String, json: Data) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // One by one: what is wrong with a case costs that case alone.
        let entries = try decoder.decode([Entry].self, from: json)
        var cases: [MarbleCase] = []
        var unreadable: [String] = []
        for (index, entry) in entries.enumerated() {
            do { cases.append(try entry.item.get()) } catch { unreadable.append("number \(index): \(error)") }
        }
        self.init(path: path, cases, unreadable: unreadable)
    }

    private init(path: String, _ cases: [MarbleCase], unreadable: [String] = []) {
        self.path = path
        self.unreadable = unreadable
        all = cases
        let lacks = cases.map(MarbleRun.lacks)
        waiting = zip(cases, lacks).compactMap { item, lack in lack.map { (item.id, $0) } }
        ready = zip(cases, lacks).filter { $0.1 == nil }.map(\.0)
    }
}
