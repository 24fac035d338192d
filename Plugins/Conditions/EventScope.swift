// feedbus: what of an event an expression or a pointer sees.

public import FeedbusPlugin

/// The option `on` of stages that look into events.
public enum EventScope: String, Sendable, CaseIterable {
    /// The event's data.
    case data
    /// The event as a CloudEvents object: `id`, `type`, `source`, `time`, …, and its `data`.
    case event

    /// What is seen of an event: its own bytes, or a text made for it.
    public func text(of event: Event) -> Bytes {
        switch self {
        case .data: event.data
        case .event: event.cloudEvent
        }
    }
}

extension Option where Root: PluginOptions {
    /// The option `on`.
    public static func scope(_ path: OptionPath<Root, EventScope>) -> Option {
        .choice(
            "on", path,
            help: "what is looked at: the event's data, or the whole CloudEvents object with id, type and data",
            example: "\"event\"")
    }
}
