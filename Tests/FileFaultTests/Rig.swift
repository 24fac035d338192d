// feedbus: a JSON-lines sink under virtual time, on faulty files, in a folder of its own.

import FeedbusPlugin
import FeedbusTestKit
import Glibc

@testable import JSONLinesPlugin

/// What a test holds in its hands.
struct Rig: Sendable {
    let sink: JSONLines
    let files: FaultyFiles
    let bench: PluginBench
    let folder: String

    var clock: VirtualClock { bench.simulation.clock }
    var path: String { folder + "/log.jsonl" }

    func read(_ name: String = "log.jsonl") -> String {
        guard let file = fopen("\(folder)/\(name)", "r") else { return "" }
        defer { fclose(file) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += piece[..<count]
        }
    }

    var names: [String] {
        guard let folder = opendir(folder) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Runs while the sink is in trouble; returns when `isOver`, or after so much virtual time.
    func pass(_ duration: Duration) async throws { try await clock.sleep(for: duration) }

    var errors: [String] { bench.messages(.error) }
    var warnings: [String] { bench.messages(.warning) }
    var recoveries: [String] { warnings.filter { $0.hasPrefix("recovered") } }
}

/// - Parameter more: options besides the path, each with a comma before it.
func withRig(
    _ more: String = "", format: String = "data", path: String = "log.jsonl", holding text: String? = nil,
    seed: UInt64? = nil, _ body: @escaping @Sendable (Rig) async throws -> Void
) throws {
    var name = Array("/tmp/feedbus-fault-test-XXXXXX".utf8CString)
    let folder = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    defer { delete(folder) }
    if let text, let file = fopen("\(folder)/\(path)", "w") {
        fputs(text, file)
        fclose(file)
    }
    let options = try JSONLinesOptions.decoded(from: "{\"path\": \"\(path)\", \"format\": \"\(format)\"\(more)}")
    try Simulation.run(seed: seed) { simulation in
        let bench = PluginBench(simulation)
        let files = FaultyFiles()
        var context = bench.context(directory: folder)
        context.host = FaultyHost(base: context.host, files: files)
        let sink = JSONLines(options: options, context: context)
        try await body(Rig(sink: sink, files: files, bench: bench, folder: folder))
    }
}

private func delete(_ folder: String) {
    if let entries = opendir(folder) {
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            if unlink("\(folder)/\(name)") != 0 { delete("\(folder)/\(name)") }
        }
        closedir(entries)
    }
    rmdir(folder)
}

private let origin = EventOrigin(source: "test:source", type: "org.example.test", node: "src")

/// Events with the data `{"n":…}`, each so many bytes longer.
func numbered(_ range: Range<Int>, pad: (Int) -> Int = { _ in 0 }) -> Chunk<Event> {
    Chunk(
        range.map { number in
            let more = pad(number)
            let data =
                more > 0 ? "{\"n\":\(number),\"x\":\"\(String(repeating: "y", count: more))\"}" : "{\"n\":\(number)}"
            return Event(origin: origin, id: Bytes("\(number)"), data: Bytes(data))
        })
}

func lines(_ range: Range<Int>) -> String { range.map { "{\"n\":\($0)}\n" }.joined() }
