// feedbus: the operators of the marble cases, on flows.

import FeedbusBase
import FeedbusFlow

typealias MarbleFlow = Flow<MarbleValue>

/// Builds the flow of a case.
struct MarbleOperators: Sendable {
    var clock: any EventClock
    var sources: [String: MarbleFlow]

    /// What an overflow is called.
    var overflow: String
    /// Flows that the case connects and disconnects.
    let connectables = Recorder<ConnectableFlow<MarbleValue>>()

    init(clock: any EventClock, sources: [String: MarbleFlow], overflow: String = "") {
        self.clock = clock
        self.sources = sources
        self.overflow = overflow
    }

    /// What the cases call an error.
    func name(of error: any Error) -> String {
        switch error {
        case let error as FeedbusError:
            ["flow.timeout": "timeout", "flow.out-of-range": "outOfRange"][error.code.name] ?? error.code.name
        case is EdgeOverflow: overflow
        default: describe(error)
        }
    }

    /// The flow of all steps; the first one starts from source `s` where it names none.
    /// - Throws: `MarbleLack`.
    func build(_ steps: [MarbleCase.Step]) throws -> MarbleFlow {
        try steps.reduce(sources["s"] ?? .empty) { try apply($1.op, $1.args, to: $0) }
    }

    /// A source by name, or with a pipeline of its own.
    func source(_ value: MarbleValue) throws -> MarbleFlow {
        let name = value.string ?? value["source"]?.string
        guard let name, let flow = sources[name] else { throw MarbleLack("source \(value)") }
        return try (value["pipeline"]?.array ?? []).reduce(flow) { flow, step in
            guard let op = step["op"]?.string else { throw MarbleLack("step \(step)") }
            return try apply(op, step["args"] ?? .object([:]), to: flow)
        }
    }

    func apply(_ name: String, _ args: MarbleValue, to flow: MarbleFlow) throws -> MarbleFlow {
        if MarbleEngine.names.contains(name) { return try engine(name, args, flow) }
        let canonical = MarbleNames.canonical(name)
        let args = MarbleArguments(name, args)
        let result =
            try element(canonical, args, flow) ?? part(canonical, args, flow) ?? several(canonical, args, flow)
            ?? flows(canonical, args, flow) ?? timed(canonical, args, flow) ?? ends(canonical, args, flow)
            ?? shared(canonical, args, flow)
        guard let result else { throw MarbleLack("operator \(name)") }
        return result
    }

    // MARK: - Each element

    private func element(_ name: String, _ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow? {
        switch name {
        case "subject": return flow
        case "map": return flow.map(try args.function())
        case "mapAsync":
            let function = try args.function()
            return flow.mapAsync { try function($0) }
        case "filter": return flow.filter(try args.predicate())
        case "compactMap":
            let isIncluded = args.value("pred") == nil ? MarbleFunctions.all : try args.predicate()
            let function = try args.function(else: "x")
            return flow.compactMap { try isIncluded($0) ? try function($0) : nil }
        case "scan": return flow.scan(try args.need("seed", "initial", else: .int(0)), try args.step())
        case "reduce": return flow.reduce(try args.need("seed", "initial", else: .int(0)), try args.step())
        case "distinctUntilChanged":
            guard args.value("key", "fn") != nil else { return flow.distinctUntilChanged() }
            let key = try args.function("key")
            return flow.distinctUntilChanged { try key($0) == key($1) }
        case "distinct":
            return flow.distinct(
                remember: try args.int("remember", else: .max), by: try args.function("key", else: "x"))
        case "materialize":
            return flow.materialize().map { event in
                switch event {
                case .next(let value): .array([.string("next"), value])
                case .completed: .string("|")
                case .failed(let error): .string("#" + self.name(of: error))
                }
            }
        case "dematerialize": return flow.materialize().dematerialize()
        case "do": return flow.do(onStart: {}, onNext: { _ in }, onCompletion: {}, onError: { _ in }, onCancel: {})
        case "toArray": return flow.toArray().map { .array($0) }
        case "observeOn": return flow.buffer(1024)
        default: return nil
        }
    }

    // MARK: - Some elements

    private func part(_ name: String, _ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow? {
        switch name {
        case "take": return flow.take(try args.int("n", "count", else: 1))
        case "takeWhile":
            return flow.takeWhile(inclusive: args.bool("inclusive", else: false), try args.predicate())
        case "takeLast": return flow.takeLast(try args.int("n", "count", else: 1))
        case "takeUntil": return flow.takeUntil(try source(args.need("notifier", "other")))
        case "takeFor": return flow.takeFor(try args.time(), clock: clock)
        case "skip": return flow.skip(try args.int("n", "count", else: 1))
        case "skipWhile": return flow.skipWhile(try args.predicate())
        case "skipUntil": return flow.skipUntil(try source(args.need("notifier", "other")))
        case "elementAt":
            return flow.elementAt(try args.int("index", "n"), default: args.value("default", "value"))
        case "defaultIfEmpty": return flow.defaultIfEmpty(try args.need("value", "default"))
        case "ifEmpty": return flow.ifEmpty(try source(args.need("with", "other")))
        case "startWith":
            let values = try args.value("values")?.array ?? [args.need("value")]
            return flow.startWith(Chunk(values))
        default: return nil
        }
    }

    // MARK: - Several flows

    private func several(_ name: String, _ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow? {
        // The flows of the list, or this one and another.
        let flows = try args.value("sources")?.array?.map(source) ?? []
        func both() throws -> [MarbleFlow] {
            if args.value("sources") != nil { return flows }
            return [flow, try source(args.need("other", "with"))]
        }
        switch name {
        case "merge" where args.value("inner") == nil: return .merge(try both())
        case "concat": return .concat(try both())
        case "combineLatest":
            let all = try both()
            // The form with two types and the one with a list: they are one operator.
            guard args.value("form")?.string == "arity", all.count == 2 else {
                return MarbleFlow.combineLatest(all).map { .array($0) }
            }
            return all[0].combineLatest(all[1]).map { .array([$0, $1]) }
        case "zip":
            let all = try both()
            guard args.value("form")?.string == "arity", all.count == 2 else {
                return MarbleFlow.zip(all).map { .array($0) }
            }
            return all[0].zip(all[1]).map { .array([$0, $1]) }
        case "withLatestFrom":
            return flow.withLatestFrom(try source(args.need("other", "with"))).map { .array([$0, $1]) }
        case "amb": return .amb(try both())
        default: return nil
        }
    }

    // MARK: - Flows of elements

    private func flows(_ name: String, _ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow? {
        switch name {
        case "merge", "flatMap":
            // Rx queues without bound.
            return flow.flatMap(
                maxConcurrent: try args.int("max", "maxConcurrent", "concurrency", else: .max), buffer: 10_000,
                try inner(args))
        // What Rx has: with a queue, so that the upstream is not held, and its error does not wait.
        case "concatMap": return flow.flatMap(maxConcurrent: 1, buffer: 10_000, try inner(args))
        case "flatMapConcat": return flow.concatMap(try inner(args))
        case "flatMapFirst": return flow.flatMapFirst(try inner(args))
        case "flatMapLatest": return flow.flatMapLatest(try inner(args))
        case "groupBy":
            let key = try args.function("key", else: "x%2")
            let groups = flow.groupBy(key)
            let taken = try args.value("groups").map { _ in groups.take(try args.int("groups")) } ?? groups
            return taken.flatMap { group in group.flow.map { .array([group.key, $0]) } }
        case "buffer":
            let count = try args.int("count", "size", "n", else: .max)
            guard args.value("ms", "time", "timeSpan") != nil else {
                return flow.buffer(count: count).map { .array($0) }
            }
            return flow.buffer(count: count, time: try args.time(), clock: clock).map { .array($0) }
        case "window":
            let time = try args.value("ms", "time", "timeSpan").map { _ in try args.time() }
            let windows = flow.window(
                count: try args.int("count", "size", "n", else: .max), time: time, clock: clock)
            let taken = try args.value("windows").map { _ in windows.take(try args.int("windows")) } ?? windows
            return taken.scan((-1, MarbleFlow.empty)) { ($0.0 + 1, $1) }.flatMap { number, window in
                window.startWith(.string("open")).map { .array([.int(number), $0]) }
            }
        default: return nil
        }
    }

    func inner(_ args: MarbleArguments) throws -> @Sendable (MarbleValue) throws -> MarbleFlow {
        let inners = try args.value("inner")?.object?.mapValues(source) ?? [:]
        let selector = try args.value("selector", "fn")?.string.map { name in
            guard let function = MarbleFunctions.function(name) else { throw MarbleLack("function \(name)") }
            return function
        }
        return { value in
            _ = try selector?(value)
            guard let inner = inners[value.description] else { throw TestError("T") }
            return inner
        }
    }

    // MARK: - Time

    private func timed(_ name: String, _ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow? {
        switch name {
        case "delay": return flow.delay(try args.time(), clock: clock)
        case "delaySubscription": return flow.delaySubscription(try args.time(), clock: clock)
        case "timeout":
            return flow.timeout(try args.time(), clock: clock, other: try args.value("other", "with").map(source))
        case "debounce": return flow.debounce(try args.time(), clock: clock)
        case "throttle":
            let isLatest = args.bool("latest", else: args.bool("trailing", else: true))
            let isLeading = args.bool("leading", else: true)
            guard isLatest || isLeading else { throw MarbleLack("throttle that passes nothing") }
            return flow.throttle(try args.time(), clock: clock, latest: isLatest, leading: isLeading)
        case "sample":
            let emitsLast = args.bool("emit_last", else: args.bool("emitLast", else: false))
            guard let sampler = args.value("sampler", "notifier", "other") else {
                return flow.sample(every: try args.time(), clock: clock, emitLast: emitsLast)
            }
            return flow.sample(try source(sampler), emitLast: emitsLast)
        case "interval": return Flow<Int>.interval(try args.time(), clock: clock).map { .int($0) }
        case "timer": return Flow<Int>.timer(try args.time(), clock: clock).map { .int($0) }
        default: return nil
        }
    }

    // MARK: - Ends

    private func ends(_ name: String, _ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow? {
        switch name {
        case "catch":
            if args.bool("throws", else: false) { return flow.catch { _ in throw TestError("H") } }
            let other = try source(args.need("with", "other"))
            return flow.catch { _ in other }
        case "catchReturn": return flow.replaceError(with: try args.need("value", "with"))
        case "retry": return try retry(args, flow)
        case "retryWhen":
            guard let handler = args.value("handler")?.string else { throw args.lack(["handler"]) }
            let notifier = try MarbleNotifier(handler, clock: clock)
            return flow.retryWhen { notifier.signs($0) }
        case "from": return .from(try args.need("values").array ?? [])
        case "just": return .just(try args.need("value"))
        case "empty": return .empty
        case "never": return .never
        case "fail": return .fail(TestError(args.value("error")?.string ?? "E"))
        default: return nil
        }
    }

    /// At once, or with the pauses of a policy: `base` (or `ms`) the first, doubled up to `cap`; without `cap`, all the same.
    private func retry(_ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow {
        let attempts = try args.int("attempts", "n", else: args.int("retries", "count", else: .max - 1) + 1)
        let pause = args.value("base", "base_ms", "ms", "delay", "delay_ms")?.int
        guard let pause else { return flow.retry(attempts: attempts) }
        let cap = args.value("cap", "cap_ms")?.int ?? pause
        return flow.retry(
            RetryPolicy(attempts: attempts, base: .milliseconds(pause), cap: .milliseconds(cap), jitter: false),
            clock: clock)
    }

    // MARK: - Many subscribers

    private func shared(_ name: String, _ args: MarbleArguments, _ flow: MarbleFlow) throws -> MarbleFlow? {
        switch name {
        case "share":
            let scope = args.value("scope")?.string
            return flow.share(
                replay: try args.int("replay", "bufferSize", else: 0),
                scope: scope == "forever" ? .forever : .whileConnected)
        case "publishConnect":
            let connectable = flow.publish(replay: try args.int("replay", "bufferSize", else: 0))
            connectables.append(connectable)
            return connectable.flow
        default: return nil
        }
    }
}
