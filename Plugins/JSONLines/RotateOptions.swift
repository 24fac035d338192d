// feedbus: when a new file is begun, and what becomes of the old ones.

import FeedbusPlugin

/// When the file is set aside and a new one begun.
struct RotateOptions: PluginOptions, Equatable {
    /// A file does not grow beyond so many bytes (a single longer line aside).
    var size: Int?
    /// A file holds the events of one such period, counted from 1970-01-01T00:00:00Z: `"1d"` begins a file at midnight UTC.
    var every: Duration?
    /// How many files that were set aside stay; nil: all.
    var keep: Int?
    var gzip = false

    static let options: [Option<RotateOptions>] = [
        .size(
            "size", \.size, in: 1_024...(1 << 40), help: "begin a new file before this one grows beyond",
            example: "\"100MB\""),
        .duration(
            "every", \.every, in: .seconds(1)...(.seconds(366 * 86_400)),
            help: "begin a new file with each such period, counted in UTC", example: "\"1d\""),
        .integer(
            "keep", \.keep, in: 1...1_000_000, help: "how many old files stay; all where it is left out", example: "7"),
        .boolean("gzip", \.gzip, help: "compress old files with the program gzip"),
    ]
}
