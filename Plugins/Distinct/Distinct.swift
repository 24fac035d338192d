// feedbus: a stage that leaves out repeats.

public import FeedbusPlugin

/// Leaves out events that were there before, or that bring nothing new. What it leaves out counts as delivered.
///
/// Keys and values are kept as 128-bit and 64-bit hashes, in memory: a restart forgets them. An event in which `by` points
/// at nothing passes. Rx: `distinct`, `distinctUntilChanged`.
public actor Distinct: ChunkStage {
    public static let name = "Distinct"
    public static let summary = "leaves out events that were there before, or whose value has not changed"

    public nonisolated let context: PluginContext
    private let options: DistinctOptions
    /// The values at `by` and at `value`, as far as they are given.
    private let finder: JSONFinder
    private var memory: KeyMemory
    private var hasWarned = false

    public static func check(_ options: DistinctOptions, _ checking: OptionCheck) {
        if options.mode == .id, options.value != nil {
            checking.problem("\"value\" is for the mode \"change\"", at: "value", code: "contradiction")
        }
        if case .count = options.within, options.remember != DistinctOptions().remember {
            checking.problem(
                "\"within\" says already how many keys are remembered", at: "remember", code: "contradiction")
        }
    }

    public init(options: DistinctOptions, context: PluginContext) {
        self.context = context
        self.options = options
        finder = JSONFinder([options.by, options.value].compactMap(\.self))
        var (limit, time): (Int, Int64?) = (options.remember, nil)
        switch options.within {
        case .count(let count): limit = count
        case .time(let duration): time = duration.nanoseconds
        case nil: break
        }
        memory = KeyMemory(limit: limit, within: time, keepsValues: options.mode == .change)
    }

    public func process(_ events: Chunk<Event>) -> Chunk<Event> {
        let now = context.clock.now.nanoseconds
        // The event's id is of no interest where another key is given.
        let kept =
            options.by != nil || options.mode == .change
            ? events.keeping(by: finder) { isNew($0, id: nil, at: now) }
            : events.keeping { isNew(events[$0], at: now) }
        if memory.evictions > 0, !hasWarned, case .time(let time) = options.within {
            hasWarned = true
            context.log.warning(
                "more than \(options.remember) keys within \(time.text): the oldest are forgotten before their time;"
                    + " \"remember\" may be raised")
        }
        return kept
    }

    private func isNew(_ event: Event, at now: Int64) -> Bool {
        var result = true
        event.data.withUnsafeBytes { data in
            finder.find(in: data) { result = isNew($0, id: event.id, at: now) }
        }
        return result
    }

    private func isNew(_ places: borrowing JSONPlaces, id: Bytes?, at now: Int64) -> Bool {
        // An event that has no key is like no other.
        guard let key = key(id, places) else { return true }
        return memory.admit(key, value: options.mode == .change ? value(places) : 0, at: now)
    }

    private func key(_ id: Bytes?, _ places: borrowing JSONPlaces) -> KeyHash? {
        if options.by != nil { return places[0].map { KeyHash($0) } }
        if options.mode == .change { return KeyHash(low: 0, high: 0) }
        return id?.withUnsafeBytes { KeyHash($0) }
    }

    /// What is compared; a value that is not there differs from any other.
    private func value(_ places: borrowing JSONPlaces) -> UInt64 {
        guard options.value != nil else { return KeyHash(RawJSON(places.text)).low }
        return places[options.by == nil ? 0 : 1].map { KeyHash($0).low } ?? 0
    }
}
