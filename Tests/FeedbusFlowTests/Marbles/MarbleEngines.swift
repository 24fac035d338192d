// feedbus: the marble cases of other engines' demand, on feedbus's edges.

import FeedbusFlow
import Synchronization

/// What stands in for an engine's source: which kind of source, and the edge that a subscriber with demand reads from.
struct MarbleEngine: Sendable {
    var source: MarbleValue?
    /// An element that comes without demand waits here, as the policy has it; with capacity 0 there is no room for any.
    var capacity = 10_000
    var policy = OverflowPolicy.block
    /// There is nothing between it and its subscribers: one that has not asked for more is one that is busy.
    var isDirect = false

    /// Operators that are more than a plain one read from an edge. Any other name with an engine before it (`combine.map`)
    /// is the plain operator.
    static let names: Set = [
        "combine.sequence", "combine.retry", "combine.flatMap", "combine.buffer", "combine.share", "combine.zip",
        "flowable.onBackpressureDrop", "flowable.onBackpressureLatest", "flowable.onBackpressureBuffer",
        "flowable.range", "flowable.publish", "reactor.sinks.multicast.onBackpressureBuffer", "pekko.broadcastHub",
        "pekko.buffer",
    ]

    /// Operators that are nothing but a source of a certain kind.
    static let subjects: Set = [
        "combine.passthrough", "combine.currentValue", "flowable.publishProcessor", "flowable.behaviorProcessor",
        "flowable.replayProcessor", "reactor.sinks.replay.limit", "reactor.sinks.multicast.directBestEffort",
        "reactor.sinks.multicast.directAllOrNothing",
    ]

    /// What an overflow is called there.
    let overflow: String

    init(_ item: MarbleCase) {
        let op = item.first.op
        let args = MarbleArguments(op, item.first.args)
        overflow =
            switch op {
            case "pekko.buffer": "BufferOverflow"
            case "combine.buffer": args.value("error")?.string ?? args.value("customError")?.string ?? "BufferFull"
            default: "MissingBackpressureException"
            }
        switch op {
        case "combine.passthrough", "flowable.onBackpressureDrop", "reactor.sinks.multicast.directBestEffort":
            (capacity, policy) = (0, .dropNewest)
        case "reactor.sinks.multicast.directAllOrNothing":
            source = .object(["kind": .string("allOrNothing")])
            isDirect = true
        case "combine.currentValue":
            source = behavior(args.value("initial") ?? .int(0))
            policy = .latest
        case "flowable.publishProcessor": (capacity, policy) = (0, .fail)
        case "flowable.behaviorProcessor":
            source = behavior(args.value("initial") ?? .int(0))
            (capacity, policy) = (0, .fail)
        case "flowable.onBackpressureLatest": policy = .latest
        case "combine.buffer", "flowable.onBackpressureBuffer", "pekko.buffer":
            capacity = args.value("size", "capacity")?.int ?? capacity
            switch args.value("whenFull", "strategy", "overflow")?.string {
            case "dropNewest": policy = .dropNewest
            case "dropOldest", "DROP_OLDEST", "dropHead": policy = .dropOldest
            case "DROP_LATEST", "dropTail": policy = .dropLast
            case "dropBuffer": policy = .dropAll
            case "ERROR", "fail": policy = .failAtOnce
            case "customError": policy = .fail
            default: break  // Nothing is dropped.
            }
        case "reactor.sinks.replay.limit": source = replay(args.value("history", "size") ?? .int(1))
        case "flowable.replayProcessor": source = replay(args.value("size", "history") ?? .int(1))
        case "reactor.sinks.multicast.onBackpressureBuffer":
            let size = max(8, args.value("size")?.int ?? 256)
            let isKept = args.value("autoCancel") == .bool(false)
            source = .object(["kind": .string(isKept ? "queue" : "queueOnce"), "buffer": .int(size)])
            isDirect = true
        case "flowable.publish", "pekko.broadcastHub": isDirect = true
        // Behind a plain operator, subjects treat what nobody has asked for as they do without it.
        case _ where item.sources["s"]?["kind"] == .string("publish") && op.hasPrefix("combine."):
            (capacity, policy) = (0, .dropNewest)
        case _ where item.sources["s"]?["kind"] == .string("publish") && op.hasPrefix("flowable."):
            (capacity, policy) = (0, .fail)
        default: break
        }
    }

    private func behavior(_ initial: MarbleValue) -> MarbleValue {
        .object(["kind": .string("behavior"), "initial": initial])
    }

    private func replay(_ number: MarbleValue) -> MarbleValue {
        .object(["kind": .string("replay"), "buffer": number])
    }
}

extension MarbleOperators {
    /// An engine's operator by its equivalent; what is about demand alone is up to the subscriber's edge.
    func engine(_ name: String, _ value: MarbleValue, _ flow: MarbleFlow) throws -> MarbleFlow {
        let args = MarbleArguments(name, value)
        switch name {
        case "combine.sequence": return .from(try args.need("values").array ?? [])
        case "combine.retry": return flow.retry(attempts: try args.int("retries", "n", else: .max - 1) + 1)
        case "combine.flatMap": return try flatMapOfAsked(flow, args)
        case "combine.share": return flow.share()
        case "combine.zip":
            let all = try args.value("sources")?.array?.map(source) ?? [source(.string("a")), source(.string("b"))]
            return MarbleFlow.zip(all).map { .array($0) }
        case "flowable.range":
            return MarbleFlow.from(try numbers(args).map { .int($0) })
        case "flowable.publish":
            let numbers = try numbers(args).map { MarbleValue.int($0) }
            let connectable = MarbleFlow.from(numbers, chunk: 1).publish(capacity: 0, pace: .slowest)
            connectables.append(connectable)
            return connectable.flow
        case "reactor.sinks.multicast.onBackpressureBuffer": return flow.share(capacity: 0, pace: .slowest)
        case "pekko.broadcastHub": return flow.share(capacity: try args.int("bufferSize", else: 256), pace: .slowest)
        default: return flow
        }
    }

    private func numbers(_ args: MarbleArguments) throws -> Range<Int> {
        let start = try args.int("start", else: 1)
        return start..<(start + (try args.int("count")))
    }

    /// An outer subject drops what comes while as many flows run as were asked for.
    private func flatMapOfAsked(_ flow: MarbleFlow, _ args: MarbleArguments) throws -> MarbleFlow {
        let inner = try inner(args)
        let max = try args.int("max", "maxPublishers", else: .max)
        return MarbleFlow { emit in
            let running = Running()
            try await flow.filter { _ in running.number.withLock { $0 < max } }.flatMap { value in
                running.number.withLock { $0 += 1 }
                return try inner(value).do(onCompletion: { running.number.withLock { $0 -= 1 } })
            }.collect(emit)
        }
    }

    private final class Running: Sendable { let number = Mutex(0) }
}
