// feedbus: when a window ends, and what it becomes.

public import FeedbusPlugin

public struct WindowOptions: PluginOptions {
    var count: Int?
    var time: Duration?
    var type = "dev.feedbus.window"

    public init() {}

    /// A window that ends by time alone ends with so many events at the latest, so that memory stays bounded.
    static let largest = 10_000

    public static let options: [Option<WindowOptions>] = [
        .integer(
            "count", \.count, in: 1...1_000_000,
            help: "how many events end a window; with \"time\" alone, \(largest) do", example: "100"
        ).synonyms("size", "events", "n", "max"),
        .duration(
            "time", \.time, in: .milliseconds(1)...(.seconds(86_400)), help: "how long a window lasts at most",
            example: "\"1m\""
        ).synonyms("every", "period", "for", "within", "span"),
        .string("type", \.type, help: "the event type of a window", example: "\"org.example.minute\""),
    ]
}
