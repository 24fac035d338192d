// feedbus: runs the command line as a function, with stub plugins and a made-up file system.

import FeedbusBase
import FeedbusPlugin
import FeedbusRuntime
import FeedbusTestKit

@testable import FeedbusCommand

struct TickOptions: PluginOptions {
    var every: Duration = .seconds(1)
    var labels: [String]?

    static let options: [Option<TickOptions>] = [
        .duration(
            "every", \.every, in: .seconds(1)...(.seconds(60)), help: "time between two ticks", example: "\"5s\""),
        .strings("labels", \.labels, required: true, help: "what to say", example: "[\"tick\"]"),
    ]
}

actor Tick: Source {
    static let name = "Tick"
    static let summary = "ticks"
    nonisolated let context: PluginContext

    init(options: TickOptions, context: PluginContext) { self.context = context }

    func run(_ output: Output) async throws {}
}

struct VoidOptions: PluginOptions {
    static let options: [Option<VoidOptions>] = []
}

actor VoidSink: Sink {
    static let name = "Void"
    static let summary = "swallows"
    nonisolated let context: PluginContext

    init(options: VoidOptions, context: PluginContext) { self.context = context }

    func write(_ events: Chunk<Event>) async throws {}
}

/// As a source and as a sink.
actor TickSink: Sink {
    static let name = "Tick"
    static let summary = "takes ticks"
    nonisolated let context: PluginContext

    init(options: VoidOptions, context: PluginContext) { self.context = context }

    func write(_ events: Chunk<Event>) async throws {}
}

actor Pair: JoinStage {
    static let name = "Pair"
    static let summary = "pairs events"
    nonisolated let context: PluginContext

    init(options: VoidOptions, context: PluginContext) { self.context = context }

    func transform(_ inputs: [StageInput]) async throws -> Flow<Event> { inputs[0].events }
}

actor Sorter: RoutingStage {
    static let name = "Sorter"
    static let summary = "sorts events"
    nonisolated let context: PluginContext

    static func routes(of options: VoidOptions) -> [String] { [] }

    init(options: VoidOptions, context: PluginContext) { self.context = context }

    func route(_ events: Chunk<Event>) async throws -> [Chunk<Event>] { [events] }
}

actor Changer: ChunkStage {
    static let name = "Changer"
    static let summary = "changes events"
    static let allowsWorkers = true
    nonisolated let context: PluginContext

    init(options: VoidOptions, context: PluginContext) { self.context = context }

    func process(_ events: Chunk<Event>) async throws -> Chunk<Event> { events }
}

let goodConfig = """
    { "sources": { "tick": { "plugin": "Tick", "with": { "labels": ["a"] } } },
      "sinks": { "void": { "plugin": "Void", "from": ["tick"] } } }
    """

struct Result {
    var code: Int32?
    var out = ""
    var err = ""
    var plan: Plan?
    var options: RunOptions?
}

/// Does what the arguments say; `config.json` and `bad.json` are there.
func feedbus(_ arguments: String..., files: [String: String]? = nil, terminal: Bool = false) -> Result {
    feedbusList(arguments, files: files, terminal: terminal)
}

/// As `feedbus`, with the arguments in a list.
func feedbusList(_ arguments: [String], files: [String: String]?, terminal: Bool = false) -> Result {
    var registry = PluginRegistry()
    registry.add(Tick.self)
    registry.add(VoidSink.self)
    registry.add(TickSink.self)
    registry.add(Numbers.self)
    let contents =
        files ?? [
            "/home/config.json": goodConfig, "/home/bad.json": goodConfig.replacing("\"Void\"", with: "\"Viod\""),
        ]
    let access = FileAccess(
        workingDirectory: "/home",
        read: { path, limit throws(FileAccess.Unreadable) in
            guard let text = contents[path] else { throw FileAccess.Unreadable(reason: "No such file or directory") }
            return Bytes(text)
        },
        isExecutable: { _ in false }, exists: { contents[$0] != nil })
    let input = CommandInput(
        registry: registry, environment: [:], files: access, outIsTerminal: terminal, errIsTerminal: terminal)
    switch CommandLineTool(input: input).perform(arguments) {
    case .done(let code, let out, let err): return Result(code: code, out: out, err: err)
    case .run(let plan, let options, let err): return Result(err: err, plan: plan, options: options)
    case .stream(let body):
        var out = ""
        do {
            try body {
                out += $0.string
                return true
            }
            return Result(code: 0, out: out)
        } catch {
            return Result(code: 1, out: out, err: describeError(error))
        }
    }
}
