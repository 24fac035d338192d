// feedbus: a source that asks at intervals, and needs next to nothing in between.

import FeedbusBase
public import FeedbusHTTP

/// A source that polls. Its host calls it when a poll is due; between two polls there is no task of its own, as there may
/// be ten thousand such sources, and nearly all of them sleep.
///
/// The first polls are spread, a poll that fails is reported and followed by a slow interval, and there is never more than
/// one at a time, as `Poller` has it.
public protocol PollingSource: Source {
    /// From the start of one poll to the start of the next.
    nonisolated var every: Duration { get }
    /// Whom it asks. Of the sources that ask the same one, a bounded number poll at a time.
    nonisolated var service: PollService { get }

    /// Called once, when the first poll is due, just before it: takes up where the last run ended. Where it throws, the
    /// source has failed.
    func prepare() async throws
    /// One poll. Called by the host, never two at a time.
    /// - Returns: nil where the source is complete.
    /// - Throws: what the poll failed with; with `--once` the source fails with it.
    func poll(_ output: Output) async throws -> PollResult?
}

extension PollingSource {
    /// For those who run a source by itself; the host of a graph does not call it.
    public func run(_ output: Output) async throws {
        try await prepare()
        let mode = context.mode
        let poller = Poller(
            every: every, once: mode.once, immediate: mode.once || mode.offline, clock: context.clock,
            log: context.log, seed: context.seed)
        try await poller.run { try await self.poll(output) }
    }
}
