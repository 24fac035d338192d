// feedbus: a real loop and a folder for tests of plugins that use files and processes.

import FeedbusLoop
import FeedbusPlugin
import Glibc

/// The first loop of the process: jobs that come from threads without a loop land on it.
private let home: LoopThread = {
    do { return try LoopThread(running: EventLoop.make(name: "home")) } catch { fatalError("\(error)") }
}()

/// Runs `body` on a loop of its own, which must close cleanly at the end.
func withLoop<Result: Sendable>(
    _ name: String = #function, _ body: @escaping @Sendable (EventLoop) async throws -> Result
) async throws -> Result {
    _ = home
    ignoreSIGPIPE()
    let loop = try EventLoop.make(name: name)
    let thread = try LoopThread(running: loop)
    let task = loop.task { try await body(loop) }
    let result = await task.result
    loop.stop()
    await thread.join()
    return try result.get()
}

/// A folder for one test, deleted with all that is in it.
func withFolder<Result>(_ body: (Folder) async throws -> Result) async throws -> Result {
    var name = Array("/tmp/feedbus-plugin-test-XXXXXX".utf8CString)
    let path = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    let folder = Folder(path: path)
    defer { folder.remove() }
    return try await body(folder)
}

struct Folder: Sendable {
    let path: String

    func read(_ name: String) -> String { String(decoding: bytes(name), as: UTF8.self) }

    func bytes(_ name: String) -> [UInt8] {
        guard let file = fopen("\(path)/\(name)", "r") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return text }
            text += piece[..<count]
        }
    }

    func lines(_ name: String) -> [String] {
        read(name).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func write(_ name: String, _ text: String) { write(name, bytes: Array(text.utf8)) }

    func write(_ name: String, bytes: [UInt8], mode: String = "w") {
        guard let file = fopen("\(path)/\(name)", mode) else { return }
        defer { fclose(file) }
        fwrite(bytes, 1, bytes.count, file)
    }

    func append(_ name: String, _ text: String) { write(name, bytes: Array(text.utf8), mode: "a") }

    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func remove() {
        for name in names { unlink("\(path)/\(name)") }
        for name in names { Folder(path: "\(path)/\(name)").remove() }
        rmdir(path)
    }
}
