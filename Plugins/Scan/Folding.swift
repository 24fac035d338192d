// feedbus: the steps of a scan, on the thread pool.

import Conditions
import FeedbusPlugin

/// Leads a state through the events of a chunk.
struct Folding: Sendable {
    let runner: JQRunner
    /// Bytes that the state may have.
    let largest: Int

    struct Result: Sendable {
        var state: Bytes
        var events: [Event] = []
        var failures: [(event: Event, reason: String)] = []
    }

    func fold(_ events: Chunk<Event>, from state: Bytes) async throws -> Result {
        try await runner.eachAlone { run in
            var result = Result(state: state)
            var input = ByteWriter(capacity: 4096)
            for event in events {
                input.append("{\"state\":" as StaticString)
                input.append(result.state)
                input.append(",\"event\":" as StaticString)
                input.append(event.data)
                input.append("}" as StaticString)
                let (values, reason) = run(input.finish())
                if let reason = reason ?? objection(to: values) {
                    result.failures.append((event, reason))
                } else if let value = values.first {
                    result.state = value
                    var event = event
                    event.data = value
                    result.events.append(event)
                }
            }
            return result
        }
    }

    private func objection(to values: [Bytes]) -> String? {
        if values.count > 1 {
            return runner.expression.failure("it gives \(values.count) values where one new state is wanted")
        }
        guard let value = values.first, value.count > largest else { return nil }
        return runner.expression.failure(
            "the state would have \(value.count) bytes, over \"max_state\": \(ByteSize.text(largest))")
    }
}
