// feedbus: a source that gives again what the store has.

import FeedbusBase
import FeedbusPlugin
import FeedbusStore

/// Emits parts of the store until there are no more. Of dead letters the cursor names the letters of a part: where a
/// graph would save it, they are removed.
actor ReplaySource: Source {
    struct Options: PluginOptions {
        static let options: [Option<Options>] = []
    }

    /// Events, and the numbers of the letters that they are.
    typealias Part = (events: [Event], letters: [Int64])

    static let name = "Replay"
    static let summary = "gives again what the store has"
    nonisolated let context: PluginContext
    private let next: @Sendable () async throws -> Part?

    init(options: Options, context: PluginContext) { preconditionFailure("a replay is made by its command") }

    init(context: PluginContext, next: @escaping @Sendable () async throws -> Part?) {
        self.context = context
        self.next = next
    }

    func run(_ output: Output) async throws {
        while let part = try await next() {
            let cursor = part.letters.first.map { first in
                // A key of its own: a later part must not take its place.
                CursorUpdate(String(first), Bytes(part.letters.map { String($0) }.joined(separator: ",")))
            }
            try await output.emit(part.events, saving: cursor.map { [$0] } ?? [])
        }
    }

    /// The letters that a cursor names.
    static func letters(in updates: [CursorUpdate]) -> [Int64] {
        updates.flatMap { ($0.value?.string ?? "").split(separator: ",").compactMap { Int64($0) } }
    }
}
