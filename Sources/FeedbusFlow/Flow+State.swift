// feedbus: operators that remember: scan, reduce, distinct. Their state is each collection's own.

extension Flow {
    /// Every intermediate result of a fold; the initial one is not emitted.
    ///
    /// ```
    /// self          1--2--3--|
    /// scan(0, +)    1--3--6--|
    /// ```
    /// Errors: what `step` throws fails the flow. Back-pressure: a direct call. Kotlin: `scan`, `runningFold`, which emit
    /// the initial value as well.
    @inlinable
    public func scan<State: Sendable>(
        _ initial: State, _ step: @escaping @Sendable (State, Element) throws -> State
    ) -> Flow<State> {
        Flow<State> { emit in
            let state = Local(initial)
            try await self.collect { chunk in
                if chunk.count == 1 {
                    state.value = try step(state.value, chunk[0])
                    return try await emit(Chunk(one: state.value))
                }
                var failure: (any Error)?
                let outputs = [State](unsafeUninitializedCapacity: chunk.count) { buffer, count in
                    var current = state.value
                    failure = chunk.fill(buffer, &count) { element in
                        current = try step(current, element)
                        return current
                    }
                    state.value = current
                }
                if !outputs.isEmpty { try await emit(Chunk(outputs)) }
                if let failure { throw failure }
            }
        }
    }

    /// The result of a fold, when the flow completes; the initial one if it was empty.
    ///
    /// ```
    /// self            1--2--3--|
    /// reduce(0, +)    ---------(6|)
    /// ```
    /// Errors: an error comes alone, without the result so far. Back-pressure: never holds up the producer.
    @inlinable
    public func reduce<State: Sendable>(
        _ initial: State, _ step: @escaping @Sendable (State, Element) throws -> State
    ) -> Flow<State> {
        Flow<State> { emit in
            let state = Local(initial)
            try await self.collect { chunk in
                for index in 0..<chunk.count { state.value = try step(state.value, chunk[index]) }
            }
            try await emit(Chunk(one: state.value))
        }
    }

    /// Leaves out every element whose key was seen before in this collection.
    ///
    /// ```
    /// self         1--2--1--3--2--|
    /// distinct     1--2-----3-----|
    /// ```
    /// Errors: what `key` throws fails the flow. Back-pressure: a direct call.
    /// - Parameter limit: keys remembered, 1...; beyond, the one seen first is forgotten. Set it for flows without end.
    @inlinable
    public func distinct<Key: Hashable & Sendable>(
        remember limit: Int = .max, by key: @escaping @Sendable (Element) throws -> Key
    ) -> Flow {
        Flow { emit in
            let seen = Local(Set<Key>())
            let order = Local(Ring<Key>())
            try await self.filter { element in
                let key = try key(element)
                guard seen.value.insert(key).inserted else { return false }
                if limit != .max {
                    order.value.append(key)
                    if order.value.count > limit, let oldest = order.value.popFirst() { seen.value.remove(oldest) }
                }
                return true
            }.collect(emit)
        }
    }

    /// Leaves out an element that equals the one before it. Combine: `removeDuplicates`.
    ///
    /// ```
    /// self                   1--1--2--2--1--|
    /// distinctUntilChanged   1-----2-----1--|
    /// ```
    /// Errors: what `areEqual` throws fails the flow. Back-pressure: a direct call.
    @inlinable
    public func distinctUntilChanged(
        _ areEqual: @escaping @Sendable (Element, Element) throws -> Bool
    ) -> Flow {
        Flow { emit in
            let last = Local<Element?>(nil)
            try await self.filter { element in
                if let last = last.value, try areEqual(last, element) { return false }
                last.value = element
                return true
            }.collect(emit)
        }
    }
}

extension Flow where Element: Hashable {
    /// Leaves out every element seen before in this collection. See `distinct(remember:by:)`.
    @inlinable
    public func distinct(remember limit: Int = .max) -> Flow { distinct(remember: limit, by: { $0 }) }
}

extension Flow where Element: Equatable {
    /// Leaves out an element that equals the one before it.
    @inlinable
    public func distinctUntilChanged() -> Flow { distinctUntilChanged { $0 == $1 } }
}
