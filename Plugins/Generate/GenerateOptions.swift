// feedbus: what to generate.

import FeedbusPlugin

public struct GenerateOptions: PluginOptions {
    /// Nil: without end.
    var count: Int?
    /// Events a second; nil: as many as are taken.
    var rate: Int?
    var size = 256
    var seed = 1

    public init() {}

    public static let options: [Option<GenerateOptions>] = [
        .integer(
            "count", \.count, in: 1...Int.max,
            help: "complete after so many events; else there is no end (with --once: 1000)",
            example: "1000"
        ).synonyms("limit", "events", "n"),
        .integer(
            "rate", \.rate, in: 1...10_000_000, help: "events a second; else as many as are taken", example: "100"),
        .custom(
            "size", \.size, kind: .either([.size(sizes), .integer(sizes)]),
            help: "the data of an event has exactly so many bytes", example: "\"1KiB\"", show: { String($0) },
            read: readSize
        ).synonyms("bytes"),
        .integer("seed", \.seed, in: 0...Int.max, help: "the same seed gives the same events", example: "7"),
    ]

    /// The shortest event that has its fields, to the longest.
    private static let sizes = 64...(16 << 20)

    private static let readSize: @Sendable (PositionedValue, OptionContext) -> OptionReading<Int> = { value, _ in
        let wanted = "\"size\" must be a size such as \"1KiB\", or a number of bytes"
        let bytes: Int?
        switch value.content {
        case .string(let text): bytes = ByteSize.parse(text)
        case .number(let text): bytes = Int(text)
        default: return .problems([value.problem("\(wanted), found \(value.kindName)", code: "wrong-type")])
        }
        guard let bytes, sizes.contains(bytes) else {
            return .problems([value.problem("\(wanted), from 64 bytes to 16 MiB", code: "out-of-range")])
        }
        return .value(bytes)
    }
}
