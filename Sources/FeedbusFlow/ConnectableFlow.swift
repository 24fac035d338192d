// feedbus: one collection of a flow for many, started and stopped by hand.

import Synchronization

/// A flow whose upstream runs from `connect` on, whoever listens, until it ends, is disconnected, or nobody holds this any
/// more.
///
/// ```
/// upstream          (connect) 1--2--3--|
/// early collector   ----------1--2--3--|
/// late, replay 1                 (2)3--|
/// ```
/// Collectors before `connect` wait. Disconnecting sends no end: who listens then waits until it is cancelled; who comes
/// later, and the next `connect`, begin anew. After completion or error, late collectors get the replayed part and the end,
/// until the next `connect`. Dropping the last reference stops the upstream as `disconnect` does, without waiting for it; a
/// collection of `flow` is a reference too. The upstream runs in a task of its own with the executor preference of
/// the one that connected. Back-pressure: each collector has an edge; the slowest sets the pace. RxSwift: `publish`,
/// `replay`, `connect`; Kotlin: `shareIn(scope, Eagerly)`.
public final class ConnectableFlow<Element: Sendable>: Sendable {
    private struct State {
        var subject: Subject<Element>
        var task: Task<Void, Never>?
        /// Counts connections: only the present one may change the state.
        var number = 0
        var hasEnded = false
    }

    private let upstream: Flow<Element>
    private let replay: Int
    private let capacity: Int
    private let pace: SubjectPace
    private let state: Mutex<State>

    init(_ upstream: Flow<Element>, replay: Int, capacity: Int, pace: SubjectPace) {
        self.upstream = upstream
        self.replay = replay
        self.capacity = capacity
        self.pace = pace
        state = Mutex(State(subject: Subject(replay: replay, scope: .forever, pace: pace)))
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Listens to the connection of the moment, or waits for the next.
    public var flow: Flow<Element> {
        Flow { emit in
            let subject = self.state.withLock { $0.subject }
            try await subject.flow(capacity: self.capacity).collect(emit)
        }
    }

    /// Starts the upstream; without effect while it runs.
    public func connect(isolation: isolated (any Actor)? = #isolation) {
        let begin = state.withLock { state -> (number: Int, subject: Subject<Element>)? in
            guard state.task == nil || state.hasEnded else { return nil }
            if state.hasEnded { state.subject = Subject(replay: replay, scope: .forever, pace: pace) }
            state.hasEnded = false
            state.number += 1
            return (state.number, state.subject)
        }
        guard let (number, subject) = begin else { return }
        let preference = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        let task = Task.immediate(executorPreference: preference) { [upstream, weak self] in
            do {
                try await runIsolated(to: isolation) { try await upstream.collect { try await subject.send($0) } }
                self?.end(number)
                subject.finish()
            } catch {
                // Disconnected: nobody is told.
                if Task.isCancelled { return }
                self?.end(number)
                subject.fail(error)
            }
        }
        state.withLock { state in
            if state.number == number { state.task = task }
        }
    }

    /// Stops the upstream and returns when it has ended; without effect when none runs.
    public func disconnect() async {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard let task = state.task, !state.hasEnded else { return nil }
            state.task = nil
            state.number += 1
            state.subject = Subject(replay: replay, scope: .forever, pace: pace)
            return task
        }
        task?.cancel()
        await task?.value
    }

    private func end(_ number: Int) {
        state.withLock { state in
            if state.number == number { state.hasEnded = true }
        }
    }
}

extension Flow {
    /// One collection for many, started by `connect`. See `ConnectableFlow`.
    /// - Parameters:
    ///   - replay: elements that a late collector gets, 0...
    ///   - capacity: elements that a collector may be behind, 0...
    ///   - pace: how far collectors may be apart.
    public func publish(
        replay: Int = 0, capacity: Int = 256, pace: SubjectPace = .each
    ) -> ConnectableFlow<Element> {
        ConnectableFlow(self, replay: replay, capacity: capacity, pace: pace)
    }
}
