// feedbus: the marble cases of other engines' demand, on feedbus's edges.

import FeedbusFlow

/// What stands in for an engine's source: which kind of source, and the edge that a subscriber with demand reads from.
struct MarbleEngine: Sendable {
    var source: MarbleValue?
    /// An element that comes without demand waits here, as the policy has it; with capacity 0 there is no room for any.
    var capacity = 10_000
    var policy = OverflowPolicy.block

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

    /// Why a case comes out otherwise here, and how: it runs against these timelines.
    static let differing: [String: (why: String, expect: [String])] = [
        "flowable.onBackpressureBuffer2.error": (
            "a failure never overtakes what an edge has accepted", ["50:1 50:2 50:#MissingBackpressureException"]
        ),
        "pekko.buffer.fail": (
            "a failure never overtakes what an edge has accepted", ["50:1 50:2 50:#BufferOverflow"]
        ),
        "flowable.onBackpressureBuffer2.dropLatest": (
            "no policy takes back what was accepted last: drop_newest refuses the new one", ["50:1 50:2"]
        ),
        "pekko.buffer.dropTail": (
            "no policy takes back what was accepted last: drop_newest refuses the new one", ["50:1 50:2 60:|"]
        ),
        "pekko.buffer.dropBuffer": (
            "no policy throws away all: drop_oldest makes room for one", ["50:3 50:4 60:|"]
        ),
        "reactor.multicast_directAllOrNothing.slow_blocks_all": (
            "each subscriber's edge decides for itself", ["10:1", "10:1 20:2 30:3"]
        ),
        "reactor.multicast_buffer.slowest_governs": (
            "each subscriber gets at once what it has room for; the next emission then waits for the slowest",
            ["1:1", "1:1 2:2 3:3 4:4"]
        ),
        "flowable.publish.slowest_governs": (
            "each subscriber gets at once what it has room for; the next emission then waits for the slowest",
            ["0:1 20:2 20:3", "0:1 0:2 0:3 0:4 20:|"]
        ),
        "pekko.broadcastHub.slowest_governs": (
            "each subscriber gets at once what it has room for; the next emission then waits for the slowest",
            ["10:1", "10:1 20:2 30:3 40:4 50:5"]
        ),
    ]

    init(_ item: MarbleCase) {
        let args = item.args
        switch item.operator {
        case "combine.passthrough", "flowable.onBackpressureDrop", "reactor.sinks.multicast.directBestEffort",
            "reactor.sinks.multicast.directAllOrNothing":
            (capacity, policy) = (0, .dropNewest)
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
            case "dropNewest", "DROP_LATEST", "dropTail": policy = .dropNewest
            case "dropOldest", "DROP_OLDEST", "dropHead", "dropBuffer": policy = .dropOldest
            case "ERROR", "fail", "customError": policy = .fail
            default: break
            }
        case "reactor.sinks.replay.limit": source = replay(args["history"]!)
        case "flowable.replayProcessor": source = replay(args["size"]!)
        case "reactor.sinks.multicast.onBackpressureBuffer":
            source = .object(["kind": .string("queue"), "buffer": .int(max(8, args["size"]!.int!))])
            capacity = 0
        case "flowable.publish", "pekko.broadcastHub": capacity = 0
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
            let connectable = MarbleFlow.from(numbers, chunk: 1).publish(capacity: 1)
            connectables.append(connectable)
            return connectable.flow
        case "reactor.sinks.multicast.onBackpressureBuffer": return flow.share(capacity: 1)
        case "pekko.broadcastHub": return flow.share(capacity: args["bufferSize"]!.int!)
        default: return flow
        }
    }
}
