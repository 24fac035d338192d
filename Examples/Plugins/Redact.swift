// feedbus: an example of a stage: takes values out of each event.

import FeedbusPlugin

public struct RedactOptions: PluginOptions {
    var pointers: [String]?

    public init() {}

    public static let options: [Option<RedactOptions>] = [
        .strings(
            "pointers", \.pointers, required: true, pattern: "a JSON pointer such as \"/actor/login\"",
            accepts: { JSONPointer($0)?.tokens.isEmpty == false }, help: "the values that are replaced by null",
            example: "[\"/actor/login\"]")
    ]

    var places: [JSONPointer] { (pointers ?? []).compactMap { JSONPointer($0) } }
}

/// Replaces values in each event's data by null. The rest of the text stays byte for byte.
public actor Redact: Stage {
    public static let name = "Redact"
    public static let summary = "replaces values in each event by null"

    public nonisolated let context: PluginContext
    private let pointers: [JSONPointer]

    public init(options: RedactOptions, context: PluginContext) {
        self.context = context
        pointers = options.places
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        let pointers = pointers
        return input.map { event in
            // A copy of the event, not a new one: the copy carries the receipt.
            var event = event
            for pointer in pointers {
                guard let data = try? JSON.parse(event.data), data[pointer] != nil,
                    let text = JSONEdit.set(pointer, to: "null", in: data)
                else { continue }
                event.data = text
            }
            return event
        }
    }
}
