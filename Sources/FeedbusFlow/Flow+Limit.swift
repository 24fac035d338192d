// feedbus: operators that pass on a part: take, takeWhile, skip, startWith.

extension Flow {
    /// The first `count` elements, then completion; the upstream is stopped with the last one.
    ///
    /// ```
    /// self       1--2--3--4--|
    /// take(2)    1--(2|)
    /// ```
    /// With 0 (or less) it completes without touching the upstream. Back-pressure: a direct call. Combine: `prefix`.
    @inlinable
    public func take(_ count: Int) -> Flow {
        Flow { emit in
            guard count > 0 else { return }
            let left = Local(count)
            try await self.collectWhile { chunk in
                let part = chunk.prefix(left.value)
                left.value -= part.count
                try await emit(part)
                return left.value > 0
            }
        }
    }

    /// Elements as long as they satisfy the condition; the first that does not stops the upstream.
    ///
    /// ```
    /// self                 1--2--3--1--|
    /// takeWhile { < 3 }    1--2--|
    /// ```
    /// Errors: what `condition` throws fails the flow. Back-pressure: a direct call. Combine: `prefix(while:)`.
    /// - Parameter inclusive: the element that ends it is passed on as well.
    @inlinable
    public func takeWhile(
        inclusive: Bool = false, _ condition: @escaping @Sendable (Element) throws -> Bool
    ) -> Flow {
        Flow { emit in
            try await self.collectWhile { chunk in
                var passed = 0
                var failure: (any Error)?
                do {
                    while passed < chunk.count, try condition(chunk[passed]) { passed += 1 }
                } catch {
                    failure = error
                }
                let isDone = passed < chunk.count
                if isDone, inclusive, failure == nil { passed += 1 }
                if passed > 0 { try await emit(chunk.prefix(passed)) }
                if let failure { throw failure }
                return !isDone
            }
        }
    }

    /// Leaves out the first `count` elements.
    ///
    /// ```
    /// self       1--2--3--4--|
    /// skip(2)    ------3--4--|
    /// ```
    /// Back-pressure: a direct call. Combine: `dropFirst`; Kotlin: `drop`.
    @inlinable
    public func skip(_ count: Int) -> Flow {
        Flow { emit in
            let left = Local(Swift.max(count, 0))
            try await self.collect { chunk in
                if left.value == 0 { return try await emit(chunk) }
                let rest = chunk.dropFirst(left.value)
                left.value -= chunk.count - rest.count
                if !rest.isEmpty { try await emit(rest) }
            }
        }
    }

    /// Elements first, for each collection, before the upstream is touched. Combine: `prepend`; Kotlin: `onStart`.
    ///
    /// ```
    /// self           --1--2--|
    /// startWith(0)   0-1--2--|
    /// ```
    @inlinable
    public func startWith(_ elements: Chunk<Element>) -> Flow {
        Flow { emit in
            if !elements.isEmpty { try await emit(elements) }
            try await self.collect(emit)
        }
    }

    /// One element first. See `startWith(_:)`.
    @inlinable
    public func startWith(_ element: Element) -> Flow { startWith(Chunk(one: element)) }
}
