// feedbus: the marble cases of other engines' demand, on feedbus's edges.

import FeedbusFlow

/// What stands in for an engine's source: which kind of source, and the edge that a subscriber with demand reads from.
struct MarbleEngine: Sendable {
    var source: MarbleValue?
    /// An element that comes without demand waits here, as the policy has it; with capacity 0 there is no room for any.
    var capacity = 10_000
    var policy = OverflowPolicy.block
    /// There is nothing between it and its subscribers: one that has not asked for more is one that is busy.
    var isDirect = false

    static let names: Set = [
        "combine.passthrough", "combine.currentValue", "combine.sequence", "combine.retry", "combine.flatMap",
        "combine.buffer", "combine.share", "combine.zip", "combine.removeDuplicates", "combine.replaceError",
        "combine.filter", "flowable.publishProcessor", "flowable.behaviorProcessor", "flowable.replayProcessor",
        "flowable.onBackpressureDrop", "flowable.onBackpressureLatest", "flowable.onBackpressureBuffer",
        "flowable.range",
        "flowable.publish", "reactor.sinks.replay.limit", "reactor.sinks.multicast.onBackpressureBuffer",
        "reactor.sinks.multicast.directBestEffort", "reactor.sinks.multicast.directAllOrNothing",
        "pekko.broadcastHub", "pekko.buffer",
    ]

    init(_ item: MarbleCase) {
        let args = item.args
        switch item.operator {
        case "combine.passthrough", "flowable.onBackpressureDrop", "reactor.sinks.multicast.directBestEffort":
            (capacity, policy) = (0, .dropNewest)
        case "reactor.sinks.multicast.directAllOrNothing":
            source = .object(["kind": .string("allOrNothing")])
            isDirect = true
        case "combine.currentValue":
            source = behavior(args["initial"]!)
            policy = .latest
        case "flowable.publishProcessor": (capacity, policy) = (0, .fail)
        case "flowable.behaviorProcessor":
            source = behavior(args["initial"]!)
            (capacity, policy) = (0, .fail)
        case "flowable.onBackpressureLatest": policy = .latest
        case "combine.buffer", "flowable.onBackpressureBuffer", "pekko.buffer":
            capacity = args["size"]?.int ?? args["capacity"]?.int ?? capacity
            switch args["whenFull"]?.string ?? args["strategy"]?.string ?? args["overflow"]?.string {
            case "dropNewest": policy = .dropNewest
            case "dropOldest", "DROP_OLDEST", "dropHead": policy = .dropOldest
            case "DROP_LATEST", "dropTail": policy = .dropLast
            case "dropBuffer": policy = .dropAll
            case "ERROR", "fail": policy = .failAtOnce
            case "customError": policy = .fail
            default: break
            }
        case "reactor.sinks.replay.limit": source = replay(args["history"]!)
        case "flowable.replayProcessor": source = replay(args["size"]!)
        case "reactor.sinks.multicast.onBackpressureBuffer":
            source = .object(["kind": .string("queue"), "buffer": .int(max(8, args["size"]!.int!))])
            isDirect = true
        case "flowable.publish", "pekko.broadcastHub": isDirect = true
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
    func engine(_ name: String, _ args: MarbleValue, _ flow: MarbleFlow) -> MarbleFlow {
        switch name {
        case "combine.sequence": return .from(args["values"]!.array!)
        case "combine.retry": return flow.retry(attempts: args["retries"]!.int! + 1)
        // An outer flow that drops what is not asked for leaves out what comes while the inner one is busy.
        case "combine.flatMap": return flow.flatMapFirst(inner(args))
        case "combine.share": return flow.share()
        case "combine.zip": return MarbleFlow.zip([sources["a"]!, sources["b"]!]).map { .array($0) }
        case "combine.removeDuplicates": return apply("distinctUntilChanged", args, to: flow)
        case "combine.replaceError": return apply("catchReturn", args, to: flow)
        case "combine.filter": return apply("filter", args, to: flow)
        case "flowable.range": return MarbleFlow.from((1...args["count"]!.int!).map { .int($0) })
        case "flowable.publish":
            let numbers = (1...args["count"]!.int!).map { MarbleValue.int($0) }
            let connectable = MarbleFlow.from(numbers, chunk: 1).publish(capacity: 0, pace: .slowest)
            connectables.append(connectable)
            return connectable.flow
        case "reactor.sinks.multicast.onBackpressureBuffer": return flow.share(capacity: 0, pace: .slowest)
        case "pekko.broadcastHub": return flow.share(capacity: args["bufferSize"]!.int!, pace: .slowest)
        default: return flow
        }
    }
}
