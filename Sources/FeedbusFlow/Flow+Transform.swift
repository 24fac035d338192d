// feedbus: operators that turn each element into others: map, filter, compactMap and their kin.
//
// All of these work on whole chunks, keep no buffer (a blocked consumer holds the producer at the chunk that it works
// on), pass errors and completion on, and what a closure throws fails the flow after the elements before it have gone
// on: so the result does not depend on how the input was cut into chunks.

extension Flow {
    /// The common frame: `body` appends the outputs of each element.
    @inlinable
    func transform<Output: Sendable>(
        _ body: @escaping @Sendable (Element, inout [Output]) throws -> Void
    ) -> Flow<Output> {
        Flow<Output> { emit in
            try await self.collect { chunk in
                var outputs: [Output] = []
                outputs.reserveCapacity(chunk.count)
                var failure: (any Error)?
                do {
                    for index in 0..<chunk.count { try body(chunk[index], &outputs) }
                } catch {
                    failure = error
                }
                if !outputs.isEmpty { try await emit(Chunk(outputs)) }
                if let failure { throw failure }
            }
        }
    }

    /// Turns each element into another.
    ///
    /// ```
    /// self               1--2--3--|
    /// map { $0 * 10 }    10-20-30-|
    /// ```
    /// Errors: what `transform` throws fails the flow. Back-pressure: a direct call. It is called for a whole chunk before
    /// the results go on, so also for elements that a `take` further down leaves out.
    @inlinable
    public func map<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Output
    ) -> Flow<Output> {
        Flow<Output> { emit in
            try await self.collect { chunk in
                if chunk.count == 1 { return try await emit(Chunk(one: try transform(chunk[0]))) }
                var failure: (any Error)?
                let outputs = [Output](unsafeUninitializedCapacity: chunk.count) { buffer, count in
                    failure = chunk.fill(buffer, &count, transform)
                }
                if !outputs.isEmpty { try await emit(Chunk(outputs)) }
                if let failure { throw failure }
            }
        }
    }

    /// Turns each element into another, one after the other, by asynchronous work.
    ///
    /// Order is kept. What came out of a chunk goes on when the whole chunk is through: a `take` or `first` further down does
    /// not stop the work within it. Where it has to, cut into chunks of one first: `concatMap { .just($0) }`. For work on
    /// several elements at a time, see `flatMap(maxConcurrent:)`. Kotlin: `map`; RxSwift: `concatMap` of a `Single`.
    @inlinable
    public func mapAsync<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) async throws -> Output
    ) -> Flow<Output> {
        Flow<Output> { emit in
            try await self.collect { chunk in
                var outputs: [Output] = []
                outputs.reserveCapacity(chunk.count)
                var failure: (any Error)?
                do {
                    for element in chunk { outputs.append(try await transform(element)) }
                } catch {
                    failure = error
                }
                if !outputs.isEmpty { try await emit(Chunk(outputs)) }
                if let failure { throw failure }
            }
        }
    }

    /// Turns each chunk into another; an empty one is not passed on. The result may depend on how the input was cut: that
    /// is the caller's business. fs2: `mapChunks`.
    @inlinable
    public func mapChunks<Output: Sendable>(
        _ transform: @escaping @Sendable (Chunk<Element>) async throws -> Chunk<Output>
    ) -> Flow<Output> {
        Flow<Output> { emit in
            try await self.collect { chunk in
                let output = try await transform(chunk)
                if !output.isEmpty { try await emit(output) }
            }
        }
    }

    /// Passes on the elements that satisfy the predicate. A chunk of which all do is passed on as it is.
    ///
    /// ```
    /// self              1--2--3--4--|
    /// filter { even }   ---2-----4--|
    /// ```
    /// Errors: what the predicate throws fails the flow. Back-pressure: a direct call.
    @inlinable
    public func filter(_ isIncluded: @escaping @Sendable (Element) throws -> Bool) -> Flow {
        Flow { emit in
            try await self.collect { chunk in
                var passed = 0
                var failure: (any Error)?
                do {
                    while passed < chunk.count, try isIncluded(chunk[passed]) { passed += 1 }
                } catch {
                    failure = error
                }
                if passed == chunk.count { return try await emit(chunk) }
                if failure != nil || chunk.count == 1 {
                    if passed > 0 { try await emit(chunk.prefix(passed)) }
                    if let failure { throw failure }
                    return
                }
                let outputs = [Element](unsafeUninitializedCapacity: chunk.count - 1) { buffer, count in
                    failure = chunk.pick(buffer, &count, passed: passed, isIncluded)
                }
                if !outputs.isEmpty { try await emit(Chunk(outputs)) }
                if let failure { throw failure }
            }
        }
    }

    /// Turns each element into another or into nothing. RxSwift: `compactMap`; Kotlin: `mapNotNull`.
    ///
    /// ```
    /// self              a--1--b--2--|
    /// compactMap(Int)   ---1-----2--|
    /// ```
    /// Errors: what `transform` throws fails the flow. Back-pressure: a direct call.
    @inlinable
    public func compactMap<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Output?
    ) -> Flow<Output> {
        self.transform { element, outputs in
            if let output = try transform(element) { outputs.append(output) }
        }
    }
}
