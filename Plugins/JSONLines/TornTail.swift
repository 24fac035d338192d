// feedbus: what to do with text behind the last line break of a file.

import FeedbusPlugin

/// What stands behind the last line break of a file that is to be appended to.
enum TornTail: Equatable {
    /// Nothing: the file ends with a line break, or is empty.
    case none
    /// A whole record whose line break was not written: finish it.
    case whole
    /// A part of a record: what a crash or a power cut left. It was never reported as delivered.
    case torn
    /// Text that no writer of JSON lines has left: this is some other file.
    case foreign

    init(_ tail: Bytes) {
        guard !tail.isEmpty else {
            self = .none
            return
        }
        if let value = try? JSON.parse(tail), value.kind != .number {
            // A number is not known to be whole: 12 may be the beginning of 123.
            self = .whole
            return
        }
        // Zeros are what a file system leaves of a block that it had no time to write.
        let first = tail.withUnsafeBytes { text in text.first { ![0x20, 0x09, 0x0D].contains($0) } }
        let beginsRecord = first.map { byte in byte == 0 || "{[\"-0123456789tfn".utf8.contains(byte) } ?? true
        self = beginsRecord ? .torn : .foreign
    }
}
