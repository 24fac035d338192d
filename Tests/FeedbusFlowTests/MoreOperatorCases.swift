// feedbus: what the operators of time, of flows in flows and of ends make of the same inputs; see OperatorCases.

import FeedbusBase
import FeedbusFlow

private func text(_ flow: Flow<Item>) -> Flow<String> { flow.map { $0.description } }

let allOperatorCases = operatorCases + moreOperatorCases

let moreOperatorCases: [OperatorCase] = [
    OperatorCase(name: "debounce", values: ["6"], beforeError: [], emitted: 6) { flow, clock in
        text(flow.debounce(.seconds(1), clock: clock))
    },
    OperatorCase(name: "throttle", values: ["1", "6"], beforeError: ["1"], emitted: 1) { flow, clock in
        text(flow.throttle(.seconds(1000), clock: clock))
    },
    OperatorCase(name: "throttle first", values: ["1"], beforeError: ["1"], emitted: 1) { flow, clock in
        text(flow.throttle(.seconds(1000), clock: clock, latest: false))
    },
    OperatorCase(name: "throttle last", values: ["6"], beforeError: [], emitted: 6) { flow, clock in
        text(flow.throttle(.seconds(1), clock: clock, leading: false))
    },
    OperatorCase(
        name: "throttle zero", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, clock in text(flow.throttle(.zero, clock: clock)) },
    OperatorCase(name: "sample", values: ["6"], beforeError: [], emitted: 6) { flow, clock in
        text(flow.sample(every: .seconds(1), clock: clock, emitLast: true))
    },
    OperatorCase(
        name: "buffer count", values: ["[1, 2]", "[3, 4]", "[5, 6]"], beforeError: ["[1, 2]", "[3, 4]"], emitted: 2
    ) { flow, _ in flow.buffer(count: 2).map { "\($0)" } },
    OperatorCase(name: "buffer rest", values: ["[1, 2, 3, 4, 5]", "[6]"], beforeError: [], emitted: 5) { flow, _ in
        flow.buffer(count: 5).map { "\($0)" }
    },
    OperatorCase(
        name: "buffer count time", values: ["[1, 2, 3, 4]", "[5, 6]"], empty: ["[]"], beforeError: ["[1, 2, 3, 4]"],
        emitted: 4
    ) { flow, clock in flow.buffer(count: 4, time: .seconds(1000), clock: clock).map { "\($0)" } },
    OperatorCase(name: "toArray", values: ["[1, 2, 3, 4, 5, 6]"], empty: ["[]"], beforeError: [], emitted: 6) {
        flow, _ in flow.toArray().map { "\($0)" }
    },
    OperatorCase(
        name: "window", values: ["[1, 2]", "[3, 4]", "[5, 6]", "[]"], empty: ["[]"], beforeError: ["[1, 2]", "[3, 4]"],
        emitted: 4
    ) { flow, clock in flow.window(count: 2, time: nil, clock: clock).concatMap { $0.toArray() }.map { "\($0)" } },
    OperatorCase(name: "groupBy", values: ["[1, 3, 5]", "[2, 4, 6]"], beforeError: [], emitted: 6) { flow, _ in
        flow.groupBy { $0 % 2 }.flatMap { $0.flow.toArray() }.map { "\($0)" }
    },
    OperatorCase(name: "groupBy held", values: ["21"], empty: ["0"], beforeError: [], emitted: 6) { flow, _ in
        text(flow.groupBy(capacity: 1, groups: 1) { $0 % 2 }.flatMap { $0.flow }.reduce(0, +))
    },
    OperatorCase(name: "groupBy take", values: ["[1, 3, 5]"], beforeError: [], emitted: 6) { flow, _ in
        flow.groupBy { $0 % 2 }.take(1).flatMap { $0.flow.toArray() }.map { "\($0)" }
    },
    OperatorCase(name: "window take", values: ["1", "2", "3"], emitted: 6) { flow, clock in
        text(flow.window(count: 3, time: nil, clock: clock).take(1).flatMap { $0 })
    },
    OperatorCase(
        name: "flatMapLatest", values: ["1", "10", "2", "20", "3", "30", "4", "40", "5", "50", "6", "60"],
        beforeError: ["1", "10", "2", "20", "3", "30", "4", "40"], emitted: 2
    ) { flow, _ in text(flow.flatMapLatest { .from([$0, $0 * 10]) }) },
    OperatorCase(
        name: "flatMapFirst", values: ["1", "10", "2", "20", "3", "30", "4", "40", "5", "50", "6", "60"],
        beforeError: ["1", "10", "2", "20", "3", "30", "4", "40"], emitted: 6, afterBlock: 2
    ) { flow, _ in text(flow.flatMapFirst { .from([$0, $0 * 10]) }) },
    OperatorCase(name: "amb", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1) {
        flow, _ in text(.amb([.never, flow]))
    },
    OperatorCase(
        name: "takeUntil", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.takeUntil(Flow<Int>.never)) },
    OperatorCase(
        name: "takeFor", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, clock in text(flow.takeFor(.seconds(1000), clock: clock)) },
    OperatorCase(
        name: "skipUntil", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.skipUntil(Flow<Int>.just(0))) },
    OperatorCase(
        name: "delaySubscription", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, clock in text(flow.delaySubscription(.milliseconds(50), clock: clock)) },
    OperatorCase(name: "takeLast", values: ["5", "6"], beforeError: [], emitted: 6) { flow, _ in text(flow.takeLast(2))
    },
    OperatorCase(name: "skipWhile", values: ["3", "4", "5", "6"], beforeError: ["3", "4"], emitted: 3) { flow, _ in
        text(flow.skipWhile { $0 < 3 })
    },
    OperatorCase(name: "elementAt", values: ["3"], empty: ["9"], emitted: 3) { flow, _ in
        text(flow.elementAt(2, default: 9))
    },
    OperatorCase(
        name: "defaultIfEmpty", values: ["1", "2", "3", "4", "5", "6"], empty: ["9"],
        beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.defaultIfEmpty(9)) },
    OperatorCase(
        name: "materialize", values: ["1", "2", "3", "4", "5", "6", "|"], empty: ["|"],
        beforeError: ["1", "2", "3", "4", "#"], errorOutcome: nil, emitted: 1
    ) { flow, _ in
        flow.materialize().map {
            if case .next(let value) = $0 { "\(value)" } else if case .completed = $0 { "|" } else { "#" }
        }
    },
    OperatorCase(
        name: "dematerialize", values: ["1", "2", "3", "4", "5", "6"], beforeError: ["1", "2", "3", "4"], emitted: 1
    ) { flow, _ in text(flow.materialize().dematerialize()) },
    OperatorCase(
        name: "retryWhen", values: ["1", "2", "3", "4", "5", "6"],
        beforeError: ["1", "2", "3", "4", "1", "2", "3", "4"], emitted: 1
    ) { flow, _ in
        text(flow.retryWhen { $0.scan(0) { number, error in if number == 1 { throw error } else { number + 1 } } })
    },
]
