// feedbus: the other forms of a subject: with a current value, with only the last one, with replay by time.

public import FeedbusBase
import Synchronization

extension Subject {
    /// A subject that has a value at any time, and gives it to each subscriber first; also when nobody listens.
    ///
    /// ```
    /// send         ----1---2---|
    /// early        0---1---2---|
    /// late              (1)2---|
    /// after it                    |      (the end alone: no value)
    /// ```
    /// Rx: `BehaviorSubject`; Combine: `CurrentValueSubject`; Kotlin: `MutableStateFlow` (which leaves out equal values).
    public static func current(_ initial: Element) -> Subject {
        var replay = ReplayBuffer<Element>(capacity: 1)
        replay.append(Chunk(one: initial))
        return Subject(Machine(replay: replay, scope: .forever, form: .current), replay: 1)
    }

    /// A subject that hands out one thing, at its completion and to whoever comes later: the last element it was sent.
    ///
    /// ```
    /// send       1---2---|
    /// any        --------(2|)
    /// ```
    /// After `fail` there is the error alone. Sends never wait. Rx: `AsyncSubject`.
    public static func last() -> Subject {
        Subject(
            Machine(replay: ReplayBuffer(capacity: 1), scope: .forever, form: .last), replay: 1)
    }

    /// A subject that gives to late subscribers what is younger than `age` when they subscribe, the last `count` at most.
    ///
    /// Scope `.forever`. rxjs: `ReplaySubject(bufferSize, windowTime)`.
    public static func replay(_ count: Int = .max, for age: Duration, clock: any EventClock) -> Subject {
        Subject(
            Machine(
                replay: ReplayBuffer(capacity: count, age: ReplayBuffer.Age(limit: age, clock: clock)), scope: .forever),
            replay: count)
    }

    /// The newest of the elements that are kept for late subscribers: of a `current` subject its value, until it ends.
    public var latest: Element? {
        state.withLock { state in
            if state.replay.age != nil { state.replay.forget() }
            return state.replay.elements.isEmpty ? nil : state.replay.elements[state.replay.elements.count - 1]
        }
    }
}
