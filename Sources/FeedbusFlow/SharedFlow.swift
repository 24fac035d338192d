// feedbus: one collection of a flow for many.

import Synchronization

/// What is behind `share`: the connection to the upstream, and who uses it.
@usableFromInline
final class SharedFlow<Element: Sendable>: Sendable {
    /// One collection of the upstream.
    final class Connection: Sendable {
        let subject: Subject<Element>
        let task = Mutex<Task<Void, Never>?>(nil)
        /// The collection before this one, if it had not ended when this one was wanted: never two at once.
        let previous: Task<Void, Never>?

        init(subject: Subject<Element>, previous: Task<Void, Never>?) {
            self.subject = subject
            self.previous = previous
        }
    }

    private struct State {
        var connection: Connection?
        var users = 0
        /// `.forever` only: kept past the connections, and past the end.
        var subject: Subject<Element>?
        var hasEnded = false
        /// The last connection that was cancelled.
        var ending: Task<Void, Never>?
    }

    private let upstream: Flow<Element>
    private let replay: Int
    private let scope: SubjectScope
    private let capacity: Int
    private let pace: SubjectPace
    private let state = Mutex(State())

    @usableFromInline
    init(_ upstream: Flow<Element>, replay: Int, scope: SubjectScope, capacity: Int, pace: SubjectPace) {
        self.upstream = upstream
        self.replay = replay
        self.scope = scope
        self.capacity = capacity
        self.pace = pace
    }

    @usableFromInline
    func collect(_ emit: @escaping Flow<Element>.Collector) async throws {
        let edge = Edge<Element>(capacity: capacity)
        let hasJoined = try await replay(into: edge, emit)
        let (connection, isFirst) = enter()
        if !hasJoined { connection.subject.join(edge) }
        if isFirst { connect(connection, isolation: #isolation) }
        let result: Result<Void, any Error>
        do {
            try await edge.drain(into: emit)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        edge.close()
        if let task = leave(connection) {
            // The upstream is released before the last collection returns.
            task.cancel()
            await task.value
        }
        try result.get()
    }

    /// With `.forever`, while nobody is connected: hands out what the subject keeps. Who is content with that leaves without a
    /// connection (as RxSwift's `refCount`, where one that is disposed of by the replay does not connect).
    /// - Returns: whether the edge has joined the subject.
    private func replay(into edge: Edge<Element>, _ emit: Flow<Element>.Collector) async throws -> Bool {
        let subject = state.withLock { $0.connection == nil && !$0.hasEnded ? $0.subject : nil }
        guard let subject else { return false }
        subject.join(edge)
        // Others may connect meanwhile: what they get comes after this.
        var left = edge.count + edge.waitingCount
        do {
            while left > 0, let chunk = try await edge.next(max: left) {
                left -= chunk.count
                try await emit(chunk)
            }
        } catch {
            edge.close()
            throw error
        }
        return true
    }

    private func enter() -> (connection: Connection, isFirst: Bool) {
        state.withLock { state in
            if let connection = state.connection {
                state.users += 1
                return (connection, false)
            }
            let subject = state.subject ?? Subject<Element>(replay: replay, scope: scope, pace: pace)
            if scope == .forever { state.subject = subject }
            let connection = Connection(subject: subject, previous: state.ending)
            if state.hasEnded { return (connection, false) }
            state.connection = connection
            state.users = 1
            return (connection, true)
        }
    }

    /// Collects the upstream in a task of its own, which outlives the collection that started it. An unstructured task does
    /// not inherit the executor preference: it is passed on by hand.
    private func connect(_ connection: Connection, isolation: (any Actor)?) {
        let preference = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        let task = Task.immediate(executorPreference: preference) {
            await connection.previous?.value
            do {
                try Task.checkCancellation()
                try await runIsolated(to: isolation) {
                    try await self.upstream.collect { try await connection.subject.send($0) }
                }
                self.reset(connection)
                connection.subject.finish()
            } catch {
                // Cancelled because nobody is left: there is no one to tell, and `.forever` must not end by it.
                if Task.isCancelled { return }
                self.reset(connection)
                connection.subject.fail(error)
            }
        }
        connection.task.withLock { $0 = task }
    }

    /// Before the terminal event is handed out: who comes back in answer to it makes a new connection.
    private func reset(_ connection: Connection) {
        state.withLock { state in
            guard state.connection === connection else { return }
            state.connection = nil
            state.users = 0
            if scope == .forever { state.hasEnded = true }
        }
    }

    /// - Returns: the connection's task, when its last user has left.
    private func leave(_ connection: Connection) -> Task<Void, Never>? {
        state.withLock { state in
            guard state.connection === connection else { return nil }
            state.users -= 1
            guard state.users == 0 else { return nil }
            state.connection = nil
            state.ending = connection.task.withLock { $0 }
            return state.ending
        }
    }
}

extension Flow {
    /// One collection of this flow for all who collect the result: the first connects, the last to leave disconnects.
    ///
    /// ```
    /// self                     1--2-----3--|
    /// first, share(replay: 1)  1--2-----3--|
    /// later                        (2)--3--|
    /// ```
    /// | event | `.whileConnected` | `.forever` |
    /// | --- | --- | --- |
    /// | late collector while connected | last n, then live | last n, then live |
    /// | the last one leaves | disconnects, forgets | disconnects, keeps |
    /// | the next one after that | connects anew, nothing old | last n; connects anew unless that was enough (`first`) |
    /// | after completion | connects anew | last n, completion; never connects again |
    /// | after an error | connects anew (so `retry` works) | last n, the same error |
    ///
    /// State is reset before the terminal event is handed out. Each collector has an edge of `capacity` elements: the
    /// slowest sets the pace, the upstream being held with the chunk that does not fit. The upstream runs in a task of its
    /// own with the executor preference of the one that connected. RxSwift: `share(replay:scope:)`; Kotlin: `shareIn`.
    /// - Parameters:
    ///   - replay: elements that a late collector gets, 0...
    ///   - capacity: elements that a collector may be behind, 0...
    ///   - pace: how far collectors may be apart.
    @inlinable
    public func share(
        replay: Int = 0, scope: SubjectScope = .whileConnected, capacity: Int = 256, pace: SubjectPace = .each
    ) -> Flow {
        let shared = SharedFlow(self, replay: replay, scope: scope, capacity: capacity, pace: pace)
        return Flow { emit in try await shared.collect(emit) }
    }
}
