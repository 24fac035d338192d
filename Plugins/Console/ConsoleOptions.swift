// feedbus: how the console shows events.

import FeedbusPlugin

/// What a line of output holds.
enum ConsoleFormat: String, CaseIterable, Sendable {
    /// Local time, source node and a short text.
    case line
    /// The event as one line of CloudEvents JSON.
    case json
    /// The same JSON over several lines, indented.
    case pretty
}

enum ConsoleColor: String, CaseIterable, Sendable {
    /// On a terminal, unless `NO_COLOR` is set (https://no-color.org) or the terminal is a dumb one.
    case auto
    case always
    case never
}

public struct ConsoleOptions: PluginOptions {
    var format = ConsoleFormat.line
    var template: String?
    var color = ConsoleColor.auto

    public init() {}

    public static let options: [Option<ConsoleOptions>] = [
        .choice("format", \.format, help: "what is printed of an event", example: "\"json\"").synonyms(
            "output", "style"),
        .string(
            "template", \.template,
            help: "the text of a line, with placeholders: "
                + LineTemplate.placeholders.map { "{\($0)}" }.joined(separator: " ")
                + " and {/pointer/into/data}; a brace is written twice",
            example: "\"{time} {node} {/actor/login}\""
        ).synonyms("pattern"),
        .choice(
            "color", \.color, help: "colours: \"auto\" means on a terminal, unless NO_COLOR is set",
            example: "\"never\""
        ).synonyms("colour", "colors"),
    ]
}
