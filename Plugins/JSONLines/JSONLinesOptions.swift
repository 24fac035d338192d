// feedbus: where a JSON-lines file stands, and how it is kept.

import FeedbusPlugin

/// What a line holds.
enum LineFormat: String, CaseIterable, Sendable {
    /// The event as a CloudEvents JSON object.
    case cloudevents
    /// The event's data alone.
    case data
}

/// When lines are forced to the disk itself, so that a power cut cannot take them.
enum SyncPolicy: Sendable, Equatable {
    /// When the system thinks fit.
    case none
    /// Before a batch counts as delivered.
    case batch
    /// So long after a write at the latest.
    case after(Duration)
}

public struct JSONLinesOptions: PluginOptions {
    var path = ""
    var format = LineFormat.cloudevents
    var fsync = SyncPolicy.none
    var rotate: RotateOptions?
    /// The permission bits of a file that is made, before the umask.
    var mode: UInt32 = 0o644

    public init() {}

    public static let options: [Option<JSONLinesOptions>] = [
        .string(
            "path", \.path, required: true, help: "the file to append to; its folders are made",
            example: "\"out/feedbus.jsonl\""
        ).synonyms("file", "filename"),
        .choice(
            "format", \.format, help: "a line holds the whole CloudEvents object, or the data alone",
            example: "\"data\""),
        .custom(
            "fsync", \.fsync, kind: .either([.choice(["none", "batch"]), .duration(syncRange)]),
            help: "force lines to the disk: before a \"batch\" counts as delivered, or so long after a write",
            example: "\"batch\"", show: { _ in "\"none\"" }, read: readSync),
        .object(
            "rotate", \.rotate, help: "begin a new file by size or time, keep some of the old ones",
            example: "{ \"size\": \"100MB\", \"keep\": 7, \"gzip\": true }"),
        .custom(
            "mode", \.mode, kind: .string, help: "the permissions of a file that is made, in octal",
            example: "\"0640\"",
            show: { "\"0" + String($0, radix: 8) + "\"" }, read: readMode),
    ]

    private static let syncRange = Duration.milliseconds(10)...Duration.seconds(86_400)

    private static let readSync: @Sendable (PositionedValue, OptionContext) -> OptionReading<SyncPolicy> = { value, _ in
        let wanted = "\"fsync\" must be \"none\", \"batch\" or a duration such as \"1s\""
        switch value.string {
        case nil: return .problems([value.problem("\(wanted), found \(value.kindName)", code: "wrong-type")])
        case "none": return .value(.none)
        case "batch": return .value(.batch)
        case let text?:
            guard let duration = Duration(text: text), syncRange.contains(duration) else {
                return .problems([
                    value.problem(
                        "\(wanted) (\(syncRange.lowerBound.text) to \(syncRange.upperBound.text)), found \"\(text)\"",
                        code: "unknown-choice", suggestion: nearestName(to: text, in: ["none", "batch"]))
                ])
            }
            return .value(.after(duration))
        }
    }

    private static let readMode: @Sendable (PositionedValue, OptionContext) -> OptionReading<UInt32> = { value, _ in
        guard let text = value.string, (3...4).contains(text.count), let mode = UInt32(text, radix: 8), mode <= 0o777,
            text.allSatisfy(\.isNumber)
        else {
            return .problems([
                value.problem("\"mode\" must be permissions in octal such as \"0644\"", code: "out-of-range")
            ])
        }
        return .value(mode)
    }
}
