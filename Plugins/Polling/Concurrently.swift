// feedbus: several requests at a time, but never more than asked for.

public import FeedbusPlugin

extension PluginContext {
    /// Runs `work` for every item, at most `limit` at a time, on the plugin's loop.
    /// - Parameter report: called with the item's index as each result comes.
    /// - Returns: a result for each item, in the order of the items; one failure leaves the others alone.
    /// - Throws: `CancellationError` where the task was cancelled.
    public func concurrently<Item: Sendable, Value: Sendable>(
        _ items: [Item], limit: Int, _ work: @escaping @Sendable (Item) async throws -> Value,
        report: (Int, Result<Value, any Error>) -> Void = { _, _ in }
    ) async throws -> [Result<Value, any Error>] {
        let executor = host.taskExecutor
        let results = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
            var results: [Result<Value, any Error>?] = Array(repeating: nil, count: items.count)
            var next = 0
            func startOne() {
                let index = next
                next += 1
                group.addTask(executorPreference: executor) {
                    do { return (index, .success(try await work(items[index]))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            while next < min(limit, items.count) { startOne() }
            while let (index, result) = await group.next() {
                results[index] = result
                report(index, result)
                if next < items.count { startOne() }
            }
            return results
        }
        try Task.checkCancellation()
        return results.compactMap { $0 }
    }
}
