// feedbus: files of this repository.

import FeedbusPlugin
import Glibc

/// The folder of the package.
let repository: String = {
    var parts = #filePath.split(separator: "/")
    parts.removeLast(4)
    return "/" + parts.joined(separator: "/")
}()

/// The text of a file of this repository.
func text(_ path: String) throws -> String {
    guard let file = fopen("\(repository)/\(path)", "r") else {
        throw FeedbusError("test.file", "cannot read \(repository)/\(path)")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&block, 1, block.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += block[..<count]
    }
}
