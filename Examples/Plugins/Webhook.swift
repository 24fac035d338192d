// feedbus: an example of a sink: posts events to an address.

import FeedbusPlugin

public struct WebhookOptions: PluginOptions {
    var url = ""
    var token: Secret?

    public init() {}

    public static let options: [Option<WebhookOptions>] = [
        .string(
            "url", \.url, required: true, pattern: "an http or https URL",
            accepts: { $0.hasPrefix("http://") || $0.hasPrefix("https://") }, help: "where the events are posted",
            example: "\"https://example.org/hook\""),
        .secret("token", \.token, help: "sent as \"Authorization: Bearer\""),
    ]
}

/// Posts each batch of events as one JSON array (CloudEvents JSON batch format).
public actor Webhook: Sink {
    public static let name = "Webhook"
    public static let summary = "posts events to an address, a JSON array a batch"

    public nonisolated let context: PluginContext
    private let options: WebhookOptions

    public init(options: WebhookOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    /// Returning says that the events are delivered. Throwing says that they are not: the runtime writes the same events
    /// again by the node's `retry`, where the error is retriable.
    public func write(_ events: Chunk<Event>) async throws {
        var body = ByteWriter(capacity: events.reduce(2) { $0 + $1.data.count + 320 })
        for (index, event) in events.enumerated() {
            body.append(UInt8(ascii: index == 0 ? "[" : ","))
            event.appendCloudEvent(to: &body)
        }
        body.append(UInt8(ascii: "]"))
        let request = HTTPRequest(
            options.url, method: "POST", headers: ["Content-Type": "application/cloudevents-batch+json"],
            body: body.finish(), bearer: options.token)
        // One try here, as the runtime repeats the whole write.
        _ = try await context.http.with(retry: RetryPolicy(attempts: 1)).fetch(request) { _ in }
    }
}
