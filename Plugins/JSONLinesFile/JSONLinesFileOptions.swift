// feedbus: which lines to read, and what to make of them.

import FeedbusPlugin

public struct JSONLinesFileOptions: PluginOptions {
    var path = ""
    var follow = false
    /// Where the id of a line that is no CloudEvents object is found in it; nil: made of its place and content.
    var id: JSONPointer?
    var type = "dev.feedbus.line"
    var maxLine = 64 << 20

    /// The `path` that means standard input.
    static let standardInput = "-"

    public init() {}

    public static let options: [Option<JSONLinesFileOptions>] = [
        .string(
            "path", \.path, required: true, help: "the file or named pipe to read, gzip or not; \"-\": standard input",
            example: "\"in/events.jsonl\""
        ).synonyms("file", "filename"),
        .boolean(
            "follow", \.follow,
            help:
                "go on at the end of the file, as tail -F does: also when it is renamed or truncated; not with --once",
            example: "true"
        ).synonyms("tail", "watch"),
        .pointer("id", \.id, help: "where the id of a line that is no CloudEvents object is found; else one is made"),
        .string(
            "type", \.type, help: "the event type of lines that are no CloudEvents objects",
            example: "\"org.example.tick\""),
        .size(
            "max_line", \.maxLine, in: 64...(1 << 30), help: "longer lines are refused, and reported",
            example: "\"1MiB\""
        ),
    ]
}
