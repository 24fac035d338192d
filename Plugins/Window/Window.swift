// feedbus: a stage that makes one event of several.

public import FeedbusPlugin

/// Gathers events, and emits one event with the data of all of them when there are enough or when the time is up. A window
/// without events is not emitted; what is left at the end of the input is. Rx: `buffer`.
///
/// The event stands for all that are in it: each of them is delivered when it is.
public actor Window: Stage {
    public static let name = "Window"
    public static let summary = "makes one event of the events of a span, by count or time"

    public nonisolated let context: PluginContext
    private let options: WindowOptions

    public static func check(_ options: WindowOptions, _ checking: OptionCheck) {
        if options.count == nil && options.time == nil {
            checking.problem("it needs \"count\" or \"time\", or both", code: "missing-option")
        }
    }

    public init(options: WindowOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        let small = input.map { $0.compacted() }
        let lists =
            options.time.map {
                small.buffer(count: options.count ?? WindowOptions.largest, time: $0, clock: context.clock)
            } ?? small.buffer(count: options.count ?? 1)
        let maker = WindowMaker(type: options.type)
        return lists.mapChunks { lists in Chunk(lists.compactMap { maker.event(of: $0) }) }
    }
}
