// feedbus: a flow divided by keys.

extension Flow {
    /// A flow for each key, when its first element comes.
    ///
    /// ```
    /// self              1--2--3--4--|
    /// groupBy { odd }   a--b--------|
    /// a                 1-----3-----|
    /// b                    2-----4--|
    /// ```
    /// Completion and error reach the open groups first, then the result. A group whose collection has ended, or that nobody
    /// holds, is forgotten: the next element with its key opens a new one (as RxJava). What `key` throws fails all.
    ///
    /// A consumer that wants no more groups (`take`, `takeWhile`) keeps those that somebody collects: no new one opens, and the
    /// producer goes on until the last of them has ended; then the outer flow completes. Rx goes on in the same way, but
    /// completes the outer flow at once. Where nobody collects a group (`first`, before it returns), or the outer flow was
    /// cancelled (by `takeUntil`, `takeFor`, or with the task), nobody is left to run the producer: what is held then ends
    /// with the error `flow.part-ended`, after what waits in it.
    ///
    /// Back-pressure: `capacity` elements of each group wait for its collector, and `groups` groups for the consumer; then the
    /// producer is held, with all groups: collect them side by side (`flatMap`). Combine has none; Kotlin has none.
    /// On one executor that runs its jobs first in, first out, groups that are merged again keep the upstream's order as
    /// long as their collectors keep up.
    /// - Parameters:
    ///   - capacity: elements, 1...
    ///   - groups: 1...
    public func groupBy<Key: Hashable & Sendable>(
        capacity: Int = 256, groups: Int = 16, _ key: @escaping @Sendable (Element) throws -> Key
    ) -> Flow<FlowGroup<Key, Element>> {
        Flow<FlowGroup<Key, Element>> { emit in
            let waiting = Edge<FlowGroup<Key, Element>>(capacity: groups)
            // Touched by the producer's branch, and when all branches have ended.
            let open = Local<[Key: (number: Int, edge: Edge<Element>)]>([:])
            let number = Local(0)
            let parts = PartLedger()
            // In the order in which they were opened.
            let all: @Sendable () -> [Edge<Element>] = {
                open.value.values.sorted { $0.number < $1.number }.map(\.edge)
            }
            // Whoever still listens to a group would wait for ever.
            defer { for edge in all() { edge.fail(partEnded) } }
            let add: @Sendable (Key, Chunk<Element>) async throws -> Void = { key, run in
                if let edge = open.value[key]?.edge, try await edge.sendIfOpen(run) { return await letTake(edge) }
                open.value[key] = nil
                if parts.isOver {
                    await Task.yield()
                    return try Task.checkCancellation()
                }
                let edge = Edge<Element>(capacity: capacity)
                number.value += 1
                open.value[key] = (number.value, edge)
                let group = FlowGroup(key: key, flow: FlowPart(edge, in: parts).flow)
                guard try await waiting.sendIfOpen(Chunk(one: group)) else { return }
                _ = try await edge.sendIfOpen(run)
                await letTake(edge)
            }
            try await runBranches(
                [
                    {
                        do {
                            try await self.collectWhile { chunk in
                                var rest = chunk
                                while let first = rest.first {
                                    let firstKey = try key(first)
                                    var length = 1
                                    var failure: (any Error)?
                                    do {
                                        while length < rest.count, try key(rest[length]) == firstKey { length += 1 }
                                    } catch {
                                        failure = error
                                    }
                                    try await add(firstKey, rest.prefix(length))
                                    if let failure { throw failure }
                                    rest = rest.dropFirst(length)
                                }
                                return await parts.needsMore()
                            }
                            for edge in all() { if parts.isAbandoned { edge.fail(partEnded) } else { edge.finish() } }
                            parts.closeAll()
                            waiting.finish()
                        } catch {
                            for edge in all() { edge.fail(partEnd(for: error)) }
                            parts.closeAll()
                            if error is CancellationError { throw error }
                            waiting.fail(error)
                        }
                        return .goOn
                    },
                    {
                        do { try await waiting.drain(into: emit) } catch let abort as FlowAbort {
                            waiting.close()
                            try await parts.outliveConsumer()
                            throw abort
                        }
                        return .complete
                    },
                ], gate: SerialGate(on: #isolation))
        }
    }
}

/// Lets the group's collector have what was sent to it before another group gets anything: so what groups are merged into
/// has the order of the upstream. A new group's collector has yet to be started, which takes a few turns; one that is busy,
/// or that nobody starts, is not waited for.
private func letTake<Element>(_ edge: Edge<Element>) async {
    await Task.yield()
    for _ in 0..<4 where edge.count > 0 { await Task.yield() }
}
