// feedbus: where a flow runs.

extension Flow {
    /// Runs the upstream with another executor preference, and hands its elements over to the collector's.
    ///
    /// Kotlin: `flowOn`; Rx: `subscribe(on:)` with `observe(on:)` behind it. A collector always runs where `collect` was
    /// called, so there is nothing else to say about where it observes. Order of all events is kept, completion and error
    /// included. Back-pressure: as `buffer(_:policy:)`.
    /// - Parameter capacity: elements that the upstream may be ahead, 1...
    public func run(on executor: any TaskExecutor, buffer capacity: Int = 256) -> Flow {
        Flow { emit in
            try await self.collectElsewhere(executor).buffer(capacity).collect(emit)
        }
    }

    private func collectElsewhere(_ executor: any TaskExecutor) -> Flow {
        Flow { emit in
            try await withTaskExecutorPreference(executor) { try await self.collect(emit) }
        }
    }
}
