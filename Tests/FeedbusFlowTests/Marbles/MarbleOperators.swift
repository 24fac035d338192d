// feedbus: the operators of the marble cases, on flows.

import FeedbusBase
import FeedbusFlow

typealias MarbleFlow = Flow<MarbleValue>

/// Builds the flow of a case.
struct MarbleOperators: Sendable {
    var clock: any EventClock
    var sources: [String: MarbleFlow]

    /// Flows that the case connects and disconnects.
    let connectables = Recorder<ConnectableFlow<MarbleValue>>()

    init(clock: any EventClock, sources: [String: MarbleFlow]) {
        self.clock = clock
        self.sources = sources
    }

    static let names: Set = [
        "subject", "map", "filter", "scan", "reduce", "distinctUntilChanged", "distinct", "take", "takeWhile", "skip",
        "startWith", "catch", "catchReturn", "retry", "share", "merge", "concat", "combineLatest", "zip",
        "withLatestFrom", "flatMap", "concatMap", "mergeMax", "delay", "timeout", "observeOn", "amb", "bufferTimeCount",
        "windowTimeCount", "debounce", "throttle", "sample", "defaultIfEmpty", "delaySubscription", "elementAt",
        "materialize", "retryWhen", "flatMapFirst", "flatMapLatest", "groupBy", "publishConnect", "skipUntil",
        "skipWhile", "takeFor", "takeLast", "takeUntil", "toArray",
    ]

    /// The flow of all steps; the first one starts from source `s` where it names none.
    func build(_ steps: [MarbleCase.Step]) -> MarbleFlow {
        steps.reduce(sources["s"] ?? .empty) { apply($1.op, $1.args, to: $0) }
    }

    /// A source by name, or with a pipeline of its own.
    private func source(_ value: MarbleValue) -> MarbleFlow {
        if let name = value.string { return sources[name]! }
        let steps = value["pipeline"]?.array ?? []
        return steps.reduce(sources[value["source"]!.string!]!) { apply($1["op"]!.string!, $1["args"]!, to: $0) }
    }

    func apply(_ name: String, _ args: MarbleValue, to flow: MarbleFlow) -> MarbleFlow {
        let sources = args["sources"]?.array?.map(source) ?? []
        let milliseconds = Duration.milliseconds(args["ms"]?.int ?? 0)
        switch name {
        case "subject": return flow
        case "map": return flow.map(MarbleFunctions.function(args["fn"]!.string!)!)
        case "filter": return flow.filter(MarbleFunctions.predicate(args["pred"]!.string!)!)
        case "scan": return flow.scan(args["seed"]!, MarbleFunctions.step(args["fn"]!.string!)!)
        case "reduce": return flow.reduce(args["seed"]!, MarbleFunctions.step(args["fn"]!.string!)!)
        case "distinctUntilChanged": return flow.distinctUntilChanged()
        case "distinct": return flow.distinct()
        case "take": return flow.take(args["n"]!.int!)
        case "takeWhile": return flow.takeWhile(MarbleFunctions.predicate(args["pred"]!.string!)!)
        case "skip": return flow.skip(args["n"]!.int!)
        case "startWith": return flow.startWith(Chunk(args["values"]!.array!))
        case "catch":
            if args["throws"] == .bool(true) { return flow.catch { _ in throw TestError("H") } }
            let other = source(args["with"]!)
            return flow.catch { _ in other }
        case "catchReturn": return flow.replaceError(with: args["value"]!)
        case "retry": return flow.retry(attempts: args["attempts"]?.int ?? .max)
        case "share":
            let scope = args["scope"]!.string == "forever" ? SubjectScope.forever : .whileConnected
            return flow.share(replay: args["replay"]!.int!, scope: scope)
        case "merge": return .merge(sources)
        case "concat": return .concat(sources)
        case "combineLatest": return MarbleFlow.combineLatest(sources).map { .array($0) }
        case "zip": return MarbleFlow.zip(sources).map { .array($0) }
        case "withLatestFrom": return flow.withLatestFrom(source(args["other"]!)).map { .array([$0, $1]) }
        case "flatMap": return flow.flatMap(inner(args))
        case "concatMap": return flow.concatMap(inner(args))
        case "mergeMax": return flow.flatMap(maxConcurrent: args["max"]!.int!, inner(args))
        case "delay": return flow.delay(milliseconds, clock: clock)
        case "timeout": return flow.timeout(milliseconds, clock: clock, other: args["other"].map(source))
        case "observeOn": return flow.buffer(1024)
        case "amb": return .amb(sources)
        case "bufferTimeCount":
            return flow.buffer(count: args["count"]!.int!, time: milliseconds, clock: clock).map { .array($0) }
        case "windowTimeCount":
            return windows(flow.window(count: args["count"]!.int!, time: milliseconds, clock: clock))
        case "debounce": return flow.debounce(milliseconds, clock: clock)
        case "throttle": return flow.throttle(milliseconds, clock: clock, latest: args["latest"] != .bool(false))
        case "sample": return flow.sample(source(args["sampler"]!))
        case "defaultIfEmpty": return flow.defaultIfEmpty(args["value"]!)
        case "delaySubscription": return flow.delaySubscription(milliseconds, clock: clock)
        case "elementAt": return flow.elementAt(args["index"]!.int!)
        case "materialize":
            return flow.materialize().map { event in
                switch event {
                case .next(let value): .array([.string("next"), value])
                case .completed: .string("|")
                case .failed(let error): .string("#" + describe(error))
                }
            }
        case "retryWhen":
            let handler = args["handler"]!.string!.split(separator: ":").map(String.init)
            return flow.retryWhen { notifier(handler, $0) }
        case "flatMapFirst": return flow.flatMapFirst(inner(args))
        case "flatMapLatest": return flow.flatMapLatest(inner(args))
        case "groupBy":
            return flow.groupBy { MarbleValue.int($0.int! % 2) }
                .flatMap { group in group.flow.map { .array([group.key, $0]) } }
        case "publishConnect":
            let connectable = flow.publish(replay: args["replay"]?.int ?? 0)
            connectables.append(connectable)
            return connectable.flow
        case "skipUntil": return flow.skipUntil(source(args["notifier"]!))
        case "skipWhile": return flow.skipWhile(MarbleFunctions.predicate(args["pred"]!.string!)!)
        case "takeFor": return flow.takeFor(milliseconds, clock: clock)
        case "takeLast": return flow.takeLast(args["n"]!.int!)
        case "takeUntil": return flow.takeUntil(source(args["notifier"]!))
        case "toArray": return flow.toArray().map { .array($0) }
        default: return engine(name, args, flow)
        }
    }

    /// Each window with its number.
    private func windows(_ flow: Flow<MarbleFlow>) -> MarbleFlow {
        flow.scan((-1, MarbleFlow.empty)) { ($0.0 + 1, $1) }.flatMap { number, window in
            window.startWith(.string("open")).map { .array([.int(number), $0]) }
        }
    }

    /// The handler of a `retryWhen`: `delay:MS`, `backoff:MS`, `limit:N:MS`, `take1:MS`, `empty`, `never`, `error:N`.
    private func notifier(_ handler: [String], _ errors: Flow<any Error>) -> Flow<Int> {
        let numbered = errors.scan((-1, TestError("") as any Error)) { ($0.0 + 1, $1) }
        switch handler[0] {
        case "delay": return errors.flatMap { [clock] _ in .timer(.milliseconds(Int(handler[1])!), clock: clock) }
        case "backoff":
            return numbered.flatMap { [clock] number, _ in
                .timer(.milliseconds(Int(handler[1])! << number), clock: clock)
            }
        case "limit":
            return numbered.flatMap { [clock] number, error in
                if number >= Int(handler[1])! { return .fail(error) }
                return .timer(.milliseconds(Int(handler[2])!), clock: clock)
            }
        case "take1":
            return errors.flatMap { [clock] _ in .timer(.milliseconds(Int(handler[1])!), clock: clock) }.take(1)
        case "empty": return .empty
        case "never": return .never
        default: return .fail(TestError(handler[1]))
        }
    }

    func inner(_ args: MarbleValue) -> @Sendable (MarbleValue) throws -> MarbleFlow {
        let inners = args["inner"]?.object?.mapValues(source) ?? [:]
        let fails = args["selector"]?.string
        return { value in
            if fails != nil, inners[value.description] == nil { throw TestError("T") }
            guard let inner = inners[value.description] else { throw TestError("T") }
            return inner
        }
    }
}
