// feedbus: stages for small graphs, and plugins that break the rules.

import AllPlugins
import FeedbusFlow
import FeedbusPlugin

struct NoOptions: PluginOptions {
    static let options: [Option<NoOptions>] = []
}

/// Lets even numbers through.
actor Even: Stage {
    typealias Options = NoOptions
    static let name = "Even"
    static let summary = "even numbers"
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) -> Flow<Event> {
        input.filter { event in Int(event.data.string).map { $0 % 2 == 0 } ?? false }
    }
}

/// Lets even numbers through, chunk by chunk; several may share the work.
actor Halves: ChunkStage {
    typealias Options = NoOptions
    static let name = "Halves"
    static let summary = "even numbers, by workers"
    static let allowsWorkers = true
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func process(_ events: Chunk<Event>) async throws -> Chunk<Event> {
        // The smaller the number, the longer it takes: so that workers overtake each other.
        let first = events.first.flatMap { Int($0.data.string) } ?? 0
        try await context.clock.sleep(for: .milliseconds(max(1, 100 - first)))
        return Chunk(events.filter { event in Int(event.data.string).map { $0 % 2 == 0 } ?? false })
    }
}

/// Even and odd numbers by two ways.
actor Parity: RoutingStage {
    typealias Options = NoOptions
    static let name = "Parity"
    static let summary = "even and odd numbers"
    static func routes(of options: NoOptions) -> [String] { ["even", "odd"] }
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func route(_ events: Chunk<Event>) -> [Chunk<Event>] {
        func isEven(_ event: Event) -> Bool { Int(event.data.string).map { $0 % 2 == 0 } ?? false }
        return [Chunk(events.filter(isEven)), Chunk(events.filter { !isEven($0) }), []]
    }
}

/// Holds events back until there are seven of them, or a second has passed.
actor Batches: Stage {
    typealias Options = NoOptions
    static let name = "Batches"
    static let summary = "events, seven at a time"
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) -> Flow<Event> {
        input.buffer(count: 7, time: .seconds(1), clock: context.clock).flatMap { Flow.from(Chunk($0)) }
    }
}

/// Each event twice, the copy marked.
actor Twice: Stage {
    typealias Options = NoOptions
    static let name = "Twice"
    static let summary = "each event and a copy"
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) -> Flow<Event> {
        Flow { emit in
            try await input.collect { chunk in
                var events: [Event] = []
                for event in chunk {
                    events.append(event)
                    var copy = event
                    copy.set("copy", to: "true")
                    events.append(copy)
                }
                try await emit(Chunk(events))
            }
        }
    }
}

/// Cannot work.
actor Broken: Stage {
    typealias Options = NoOptions
    static let name = "Broken"
    static let summary = "fails at once"
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) throws -> Flow<Event> { throw FeedbusError("test.broken", "it is broken") }
}

/// Breaks the rules: starts a task that never ends.
actor Leaky: Stage {
    typealias Options = NoOptions
    static let name = "Leaky"
    static let summary = "leaves a task behind"
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) -> Flow<Event> {
        context.task { [context] in
            while true { try await context.clock.sleep(for: .seconds(3_600)) }
        }
        return input
    }
}

/// Breaks the rules: leaves a task that waits for something that never comes.
actor Waiter: Stage {
    typealias Options = NoOptions
    static let name = "Waiter"
    static let summary = "leaves a waiting task behind"
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) -> Flow<Event> {
        let never = Edge<Int>(capacity: 1)
        context.task { _ = try await never.next() }
        return input
    }
}

/// Breaks the rules: keeps every event, with its receipt, for ever.
actor Hoarder: Stage {
    typealias Options = NoOptions
    static let name = "Hoarder"
    static let summary = "keeps receipts"
    nonisolated let context: PluginContext
    private var kept: [Event] = []

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) -> Flow<Event> {
        Flow { emit in
            try await input.collect { chunk in
                await self.keep(chunk)
                try await emit(chunk)
            }
            // Nobody sends any more, and it still does not come to its end.
            try await self.context.clock.sleep(for: .seconds(1_000_000_000))
        }
    }

    private func keep(_ chunk: Chunk<Event>) { kept += chunk }
}

/// Breaks the rules: saves its cursor before the events that belong to it.
actor Hasty: Source {
    typealias Options = NoOptions
    static let name = "Hasty"
    static let summary = "saves too early"
    nonisolated let context: PluginContext

    init(options: NoOptions, context: PluginContext) { self.context = context }

    func run(_ output: Output) async throws {
        let origin = EventOrigin(source: "/hasty", type: "test", node: context.node)
        var last = try await context.cursor().flatMap { Int($0.string) } ?? 0
        while last < 20 {
            last += 1
            try await output.emit([], saving: [CursorUpdate("cursor", Bytes(String(last)))])
            try await context.clock.sleep(for: .milliseconds(10))
            try await output.emit([Event(origin: origin, id: Bytes(String(last)), data: Bytes(String(last)))])
        }
    }
}

extension PluginRegistry {
    static var forTests: PluginRegistry {
        var registry = PluginRegistry.builtins()
        registry.add(Even.self)
        registry.add(Batches.self)
        registry.add(Halves.self)
        registry.add(Parity.self)
        registry.add(Twice.self)
        registry.add(Broken.self)
        registry.add(Leaky.self)
        registry.add(Waiter.self)
        registry.add(Hoarder.self)
        registry.add(Hasty.self)
        return registry
    }
}

/// Runs with so many seeds: few in debug builds, which are slow.
func seeds(_ debug: Int, release: Int) -> Int {
    #if DEBUG
        debug
    #else
        release
    #endif
}
