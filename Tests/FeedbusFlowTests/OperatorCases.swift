// feedbus: what each operator makes of the same inputs; checked by OperatorTests.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

/// One operator and what it must do.
struct OperatorCase: Sendable, CustomTestStringConvertible {
    var name: String
    /// What comes of 1, 2, 3, 4, 5, 6, |
    var values: [String]
    /// What comes of |
    var empty: [String] = []
    /// What comes of 1, 2, 3, 4, #E before the error; nil: the operator ends before it.
    var beforeError: [String]?
    /// What an operator that replaces the error makes of it. Default: the error.
    var errorOutcome: String? = "E"
    /// How many of 1...6 the producer has begun to emit when the consumer is blocked in its first output.
    var emitted: Int
    /// Outputs in all when the consumer was blocked for a while, where that is not what comes otherwise.
    var afterBlock: Int?
    var make: @Sendable (Flow<Item>, any EventClock) -> Flow<String>

    var testDescription: String { name }

    /// - Parameter census: counts the elements that the operator is given, and those made of them.
    func build(_ flow: Flow<Int>, _ clock: any EventClock, census: Census? = nil) -> Flow<String> {
        make(flow.map { Item($0, census) }, clock)
    }
}

private func text(_ flow: Flow<Item>) -> Flow<String> { flow.map { $0.description } }

private let policy = RetryPolicy(attempts: 2, base: .seconds(1), cap: .seconds(1), jitter: false)

let operatorCases: [OperatorCase] = [
    OperatorCase(
        name: "map", values: ["10", "20", "30", "40", "50", "60"], beforeError: ["10", "20", "30", "40"], emitted: 1
    ) { flow, _ in text(flow.map { $0 * 10 }) },
    OperatorCase(
        name: "mapAsync", values: ["10", "20", "30", "40", "50", "60"], beforeError: ["10", "20", "30", "40"],
        emitted: 1
    ) { flow, clock in
        text(
            flow.mapAsync {
                try await clock.sleep(for: .milliseconds($0.number))
                return $0 * 10
            })
    },
    OperatorCase(
        name: "mapChunks", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.mapChunks { $0 }) },
    OperatorCase(name: "filter", values: ["2", "4", "6"], beforeError: ["2", "4"], emitted: 2) { flow, _ in
        text(flow.filter { $0 % 2 == 0 })
    },
    OperatorCase(name: "compactMap", values: ["20", "40", "60"], beforeError: ["20", "40"], emitted: 2) { flow, _ in
        text(flow.compactMap { $0 % 2 == 0 ? $0 * 10 : nil })
    },
    OperatorCase(
        name: "scan", values: ["1", "3", "6", "10", "15", "21"], beforeError: ["1", "3", "6", "10"], emitted: 1
    ) { flow, _ in text(flow.scan(0, +)) },
    OperatorCase(name: "reduce", values: ["21"], empty: ["0"], beforeError: [], emitted: 6) { flow, _ in
        text(flow.reduce(0, +))
    },
    OperatorCase(name: "distinct by", values: ["1", "2", "3"], beforeError: ["1", "2", "3"], emitted: 1) { flow, _ in
        text(flow.distinct(by: { $0 % 3 }))
    },
    OperatorCase(
        name: "distinct remember", values: ["1", "2", "3", "5"], beforeError: ["1", "2", "3"], emitted: 1
    ) { flow, _ in text(flow.distinct(remember: 2, by: { [1: 1, 2: 2, 3: 3, 4: 2, 5: 1, 6: 3][$0.number]! })) },
    OperatorCase(name: "distinctUntilChanged", values: ["1", "3", "5"], beforeError: ["1", "3"], emitted: 1) {
        flow, _ in text(flow.distinctUntilChanged { ($0 + 1) / 2 == ($1 + 1) / 2 })
    },
    OperatorCase(name: "take", values: ["1", "2", "3"], emitted: 1) { flow, _ in text(flow.take(3)) },
    OperatorCase(name: "takeWhile", values: ["1", "2"], emitted: 1) { flow, _ in text(flow.takeWhile { $0 < 3 }) },
    OperatorCase(name: "takeWhile inclusive", values: ["1", "2", "3"], emitted: 1) { flow, _ in
        text(flow.takeWhile(inclusive: true) { $0 < 3 })
    },
    OperatorCase(name: "skip", values: ["3", "4", "5", "6"], beforeError: ["3", "4"], emitted: 3) { flow, _ in
        text(flow.skip(2))
    },
    OperatorCase(
        name: "startWith", values: ["0", "1", "2", "3", "4", "5", "6"], empty: ["0"],
        beforeError: ["0", "1", "2", "3", "4"], emitted: 0
    ) { flow, _ in text(flow.startWith(0)) },
    OperatorCase(
        name: "catch", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4", "7", "8"],
        errorOutcome: nil, emitted: 1
    ) { flow, _ in text(flow.catch { _ in .from([7, 8]) }) },
    OperatorCase(
        name: "replaceError", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4", "9"],
        errorOutcome: nil, emitted: 1
    ) { flow, _ in text(flow.replaceError(with: 9)) },
    OperatorCase(
        name: "retry", values: ["1", "2", "3", "4", "5", "6"],
        beforeError: ["1", "2", "3", "4", "1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.retry(attempts: 2)) },
    OperatorCase(
        name: "retry policy", values: ["1", "2", "3", "4", "5", "6"],
        beforeError: ["1", "2", "3", "4", "1", "2", "3", "4"], emitted: 1
    ) { flow, clock in text(flow.retry(policy, clock: clock)) },
    OperatorCase(
        name: "do", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.do(onStart: {}, onNext: { _ in }, onCompletion: {}, onError: { _ in })) },
    OperatorCase(
        name: "buffer", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 5
    ) { flow, _ in text(flow.buffer(2)) },
    OperatorCase(
        name: "delay", values: ["1", "2", "3", "4", "5", "6"], beforeError: [], emitted: 6
    ) { flow, clock in text(flow.delay(.seconds(1), clock: clock)) },
    OperatorCase(
        name: "delay buffer", values: ["1", "2", "3", "4", "5", "6"], beforeError: nil, emitted: 4
    ) { flow, clock in text(flow.delay(.seconds(1), clock: clock, buffer: 2)) },
    OperatorCase(
        name: "timeout", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, clock in text(flow.timeout(.seconds(1), clock: clock)) },
    OperatorCase(
        name: "share", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 5
    ) { flow, _ in text(flow.share(capacity: 2)) },
    OperatorCase(
        name: "concat", values: ["1", "2", "3", "4", "5", "6", "7"], empty: ["7"], beforeError: ["1", "2", "3", "4"],
        emitted: 1
    ) { flow, _ in text(flow.concat(with: .just(7))) },
    OperatorCase(
        name: "concatMap", values: ["1", "10", "2", "20", "3", "30", "4", "40", "5", "50", "6", "60"],
        beforeError: ["1", "10", "2", "20", "3", "30", "4", "40"], emitted: 1
    ) { flow, _ in text(flow.concatMap { .from([$0, $0 * 10]) }) },
    OperatorCase(
        name: "flatMap 1", values: ["1", "10", "2", "20", "3", "30", "4", "40", "5", "50", "6", "60"],
        beforeError: ["1", "10", "2", "20", "3", "30", "4", "40"], emitted: 4
    ) { flow, _ in text(flow.flatMap(maxConcurrent: 1, buffer: 2) { .from([$0, $0 * 10]) }) },
    OperatorCase(
        name: "flatMap", values: ["1", "10", "2", "20", "3", "30", "4", "40", "5", "50", "6", "60"],
        beforeError: ["1", "10", "2", "20", "3", "30", "4", "40"], emitted: 6
    ) { flow, _ in text(flow.flatMap { .from([$0, $0 * 10]) }) },
    OperatorCase(
        name: "merge", values: ["1", "2", "3", "4", "5", "6", "7", "8"], empty: ["7", "8"],
        beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.merge(with: .from([7, 8]))) },
    OperatorCase(
        name: "combineLatest", values: ["71", "72", "73", "74", "75", "76"],
        beforeError: ["71", "72", "73", "74"], emitted: 1
    ) { flow, _ in Flow.just(7).combineLatest(flow).map { "\($0)\($1)" } },
    OperatorCase(
        name: "combineLatest list", values: ["71", "72", "73", "74", "75", "76"],
        beforeError: ["71", "72", "73", "74"], emitted: 1
    ) { flow, _ in Flow.combineLatest([.just(7), flow]).map { $0.map(\.description).joined() } },
    OperatorCase(
        name: "zip", values: ["17", "28"], emitted: 1
    ) { flow, _ in Flow.from([7, 8]).zip(flow, buffer: 2).map { "\($1)\($0)" } },
    OperatorCase(
        name: "zip list", values: ["17", "28"], emitted: 1
    ) { flow, _ in Flow.zip([.from([7, 8]), flow]).map { "\($0[1])\($0[0])" } },
    OperatorCase(
        name: "withLatestFrom", values: ["17", "27", "37", "47", "57", "67"], beforeError: ["17", "27", "37", "47"],
        emitted: 1
    ) { flow, _ in flow.withLatestFrom(.just(7)).map { "\($0)\($1)" } },
    OperatorCase(
        name: "chain", values: ["60", "100"], emitted: 3
    ) { flow, _ in
        text(flow.map { $0 * 10 }.scan(0, +).filter { $0 % 20 == 0 }.distinctUntilChanged().skip(0).take(2))
    },
]
