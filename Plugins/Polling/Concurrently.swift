// feedbus: several requests at a time, but never more than asked for.

public import FeedbusPlugin

extension PluginContext {
    /// Runs `work` for every item, at most `limit` at a time, on the plugin's loop. One failure leaves the others alone.
    /// - Parameter take: called with each item's index and result as they come, one call at a time; meanwhile the other
    ///   items go on. What it throws ends them all.
    /// - Throws: what `take` threw; `CancellationError` where the task was cancelled.
    public func concurrently<Item: Sendable, Value: Sendable>(
        _ items: [Item], limit: Int, _ work: @escaping @Sendable (Item) async throws -> Value,
        take: (Int, Result<Value, any Error>) async throws -> Void
    ) async throws {
        let executor = host.taskExecutor
        try await withThrowingTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
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
            while let (index, result) = try await group.next() {
                try Task.checkCancellation()
                if next < items.count { startOne() }
                try await take(index, result)
            }
        }
    }
}
