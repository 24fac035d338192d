// feedbus: operators that deal with errors: catch, replaceError, retry.
//
// They see what their upstream throws, never what comes back from downstream (Kotlin calls it exception transparency),
// and never `CancellationError`: that ends a collection, whoever threw it.

public import FeedbusBase

extension Flow {
    /// Runs the flow once and returns the error that it failed with; throws what is not its own.
    @inlinable
    func collectCatching(_ emit: @escaping Collector) async throws -> (any Error)? {
        // Whether downstream threw by itself: in a task that is cancelled, it is the upstream's failure that has stopped it.
        let hasFailed = Local<Bool?>(nil)
        do {
            try await collect { chunk in
                do { try await emit(chunk) } catch {
                    hasFailed.value = !Task.isCancelled
                    throw error
                }
            }
            return nil
        } catch {
            if error is CancellationError { throw error }
            if let byItself = hasFailed.value, byItself || Task.isCancelled { throw error }
            return error
        }
    }

    /// Goes on with another flow when this one fails, after it was released. The other one's errors are not caught.
    ///
    /// ```
    /// self               1--2--#
    /// catch { other }    1--2--7--8--|
    /// other                    7--8--|
    /// ```
    /// Errors: what `handler` throws fails the flow. Elements already passed on stay. Back-pressure: a direct call.
    @inlinable
    public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Flow) -> Flow {
        Flow { emit in
            if let error = try await self.collectCatching(emit) { try await handler(error).collect(emit) }
        }
    }

    /// One element and completion in place of an error. RxSwift: `catchAndReturn`; Reactor: `onErrorReturn`.
    ///
    /// ```
    /// self                     1--2--#
    /// replaceError(with: 9)    1--2--(9|)
    /// ```
    /// Elements already passed on stay. Back-pressure: a direct call. Combine: `replaceError`.
    @inlinable
    public func replaceError(with element: Element) -> Flow { `catch` { _ in .just(element) } }

    /// Runs the flow again when it fails, at once.
    ///
    /// ```
    /// first attempt           1--#
    /// second attempt             1--2--|
    /// retry(attempts: 2)      1--1--2--|
    /// ```
    /// Elements already passed on stay; the last attempt's error comes out; state upstream starts anew; the stack does not
    /// grow. Back-pressure: a direct call.
    ///
    /// Behind a subject each attempt is a subscription: what still waits in the edge of the failed one, up to its capacity
    /// (256), is lost, and so is the rest of the chunk. To lose nothing, catch the error of each element before it gets here.
    /// - Parameter attempts: in all, the first included, as RxSwift counts; rxjs, RxJava, Combine, Reactor and Kotlin count
    ///   the further ones. With 0 it completes without touching the upstream.
    @inlinable
    public func retry(attempts: Int = .max) -> Flow {
        Flow { emit in
            var attempt = 1
            while attempt <= attempts {
                guard let error = try await self.collectCatching(emit) else { return }
                if attempt == attempts { throw error }
                try Task.checkCancellation()
                attempt += 1
            }
        }
    }

    /// Runs the flow again when it fails, after the policy's pause, which counts from the failure.
    ///
    /// Cancellation ends the pause at once. Otherwise as `retry(attempts:)`.
    /// - Parameters:
    ///   - seed: draws the jitter.
    ///   - isRetriable: false lets an error through at once. The default believes a `FeedbusError`, and tries again after
    ///     any other error.
    @inlinable
    public func retry(
        _ policy: RetryPolicy, clock: any EventClock, seed: UInt64 = 0,
        when isRetriable: @escaping @Sendable (any Error) -> Bool = { ($0 as? FeedbusError)?.isRetriable ?? true }
    ) -> Flow {
        Flow { emit in
            var random = SplitMix64(seed: seed)
            var attempt = 1
            while let error = try await self.collectCatching(emit) {
                if attempt >= policy.attempts || !isRetriable(error) { throw error }
                try await clock.sleep(for: policy.pause(afterAttempt: attempt, unit: random.unit()))
                attempt += 1
            }
        }
    }
}
