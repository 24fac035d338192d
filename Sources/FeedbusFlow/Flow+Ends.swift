// feedbus: operators that look at the ends of a flow: takeLast, skipWhile, elementAt, defaultIfEmpty.

public import FeedbusBase

extension Flow {
    /// The last `count` elements, when the flow completes.
    ///
    /// ```
    /// self           1--2--3--|
    /// takeLast(2)    ---------(23|)
    /// ```
    /// An error comes alone. Back-pressure: never holds up the producer. Combine: `last`; Kotlin has none.
    /// - Parameter count: elements kept, 0...
    @inlinable
    public func takeLast(_ count: Int) -> Flow {
        Flow { emit in
            let last = Local(ReplayBuffer<Element>(capacity: Swift.max(count, 0)))
            try await self.collect { last.value.append($0) }
            let chunk = last.value.chunk
            if !chunk.isEmpty { try await emit(chunk) }
        }
    }

    /// Leaves out elements as long as they satisfy the condition.
    ///
    /// ```
    /// self                 1--3--1--|
    /// skipWhile { < 3 }    ---3--1--|
    /// ```
    /// Errors: what `condition` throws fails the flow. Back-pressure: a direct call. Combine: `drop(while:)`.
    @inlinable
    public func skipWhile(_ condition: @escaping @Sendable (Element) throws -> Bool) -> Flow {
        Flow { emit in
            let isOpen = Local(false)
            try await self.collect { chunk in
                if isOpen.value { return try await emit(chunk) }
                var skipped = 0
                while skipped < chunk.count, try condition(chunk[skipped]) { skipped += 1 }
                if skipped == chunk.count { return }
                isOpen.value = true
                try await emit(chunk.dropFirst(skipped))
            }
        }
    }

    /// The element at `index`, counted from zero, then completion; the upstream is stopped with it.
    ///
    /// ```
    /// self            1--2--3--|
    /// elementAt(1)    ---(2|)
    /// ```
    /// Errors: `FeedbusError` with the code `flow.out-of-range` when the flow completes before. Back-pressure: a direct call.
    /// - Parameter fallback: an element in place of that error.
    @inlinable
    public func elementAt(_ index: Int, default fallback: Element? = nil) -> Flow {
        Flow { emit in
            let left = Local(index)
            let found = Local(false)
            try await self.collectWhile { chunk in
                guard left.value < chunk.count else {
                    left.value -= chunk.count
                    return true
                }
                found.value = true
                try await emit(Chunk(one: chunk[left.value]))
                return false
            }
            if found.value { return }
            guard let fallback else {
                throw FeedbusError(
                    FeedbusError.Code("flow.out-of-range"), "the flow has no element number \(index)")
            }
            try await emit(Chunk(one: fallback))
        }
    }

    /// Another flow in place of nothing: it is collected when this one completes without an element.
    ///
    /// Rx: `switchIfEmpty`. Back-pressure: a direct call.
    @inlinable
    public func ifEmpty(_ other: Flow) -> Flow {
        Flow { emit in
            let isEmpty = Local(true)
            try await self.collect { chunk in
                isEmpty.value = false
                try await emit(chunk)
            }
            if isEmpty.value { try await other.collect(emit) }
        }
    }

    /// One element in place of nothing. Combine: `replaceEmpty`.
    ///
    /// ```
    /// self                 -----|
    /// defaultIfEmpty(7)    -----(7|)
    /// ```
    /// An error comes alone. Back-pressure: a direct call.
    @inlinable
    public func defaultIfEmpty(_ element: Element) -> Flow { ifEmpty(.just(element)) }
}
