// feedbus: how long jq may work on one event.

public import FeedbusPlugin

extension Option where Root: PluginOptions {
    /// The option `time_limit`.
    public static func timeLimit(_ path: OptionPath<Root, Duration>) -> Option {
        .duration(
            "time_limit", path, in: .milliseconds(100)...(.seconds(600)),
            help: "how long jq may work on one event; then the event is refused", example: "\"1s\"")
    }
}
