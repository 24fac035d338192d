// feedbus: the operators of the marble cases, on flows.

import FeedbusBase
import FeedbusFlow

typealias MarbleFlow = Flow<MarbleValue>

/// Builds the flow of a case.
struct MarbleOperators: Sendable {
    var clock: any EventClock
    var sources: [String: MarbleFlow]

    static let names: Set = [
        "subject", "map", "filter", "scan", "reduce", "distinctUntilChanged", "distinct", "take", "takeWhile", "skip",
        "startWith", "catch", "catchReturn", "retry", "share", "merge", "concat", "combineLatest", "zip",
        "withLatestFrom", "flatMap", "concatMap", "mergeMax", "delay", "timeout", "observeOn",
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

    private func apply(_ name: String, _ args: MarbleValue, to flow: MarbleFlow) -> MarbleFlow {
        let sources = args["sources"]?.array?.map(source) ?? []
        let milliseconds = Duration.milliseconds(args["ms"]?.int ?? 0)
        switch name {
        case "subject": return flow
        case "map": return flow.map(function(args["fn"]!.string!))
        case "filter": return flow.filter(predicate(args["pred"]!.string!))
        case "scan": return flow.scan(args["seed"]!, step(args["fn"]!.string!))
        case "reduce": return flow.reduce(args["seed"]!, step(args["fn"]!.string!))
        case "distinctUntilChanged": return flow.distinctUntilChanged()
        case "distinct": return flow.distinct()
        case "take": return flow.take(args["n"]!.int!)
        case "takeWhile": return flow.takeWhile(predicate(args["pred"]!.string!))
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
        default: fatalError("no operator \(name)")
        }
    }

    private func inner(_ args: MarbleValue) -> @Sendable (MarbleValue) throws -> MarbleFlow {
        let inners = args["inner"]?.object?.mapValues(source) ?? [:]
        let fails = args["selector"]?.string
        return { value in
            if fails != nil, inners[value.description] == nil { throw TestError("T") }
            guard let inner = inners[value.description] else { throw TestError("T") }
            return inner
        }
    }

    private func function(_ name: String) -> @Sendable (MarbleValue) throws -> MarbleValue {
        { value in
            let number = value.int ?? 0
            switch name {
            case "x*10": return .int(number * 10)
            case "x*100": return .int(number * 100)
            case "x/10": return .int(number / 10)
            case "x": return value
            case let name where name.hasPrefix("throw_on:"):
                if name == "throw_on:\(number)" { throw TestError("T") }
                return value
            default: fatalError("no function \(name)")
            }
        }
    }

    private func step(_ name: String) -> @Sendable (MarbleValue, MarbleValue) throws -> MarbleValue {
        { sum, value in
            if name == "sum_throw_on:\(value)" { throw TestError("T") }
            return .int(sum.int! + value.int!)
        }
    }

    private func predicate(_ name: String) -> @Sendable (MarbleValue) throws -> Bool {
        { value in
            let number = value.int ?? 0
            switch name {
            case "even": return number % 2 == 0
            case "<3": return number < 3
            case let name where name.hasPrefix("throw_on:"):
                if name == "throw_on:\(number)" { throw TestError("T") }
                return true
            default: fatalError("no predicate \(name)")
            }
        }
    }
}
