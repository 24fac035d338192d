// feedbus: the HTTP side of a run: live, recorded, or live with a recording to fall back on.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore
import Synchronization

/// Builds the transport of a run and gives each node its polite client.
struct HTTPServices: Sendable {
    let live: CurlTransport?
    let recorder: Recorder?
    let recording: RecordedTransport?
    let ledger: ServiceLedger
    /// One for each node that may need the recording: it warns once, and a node asks for its client again and again.
    private let fallbacks = Fallbacks()

    static func make(
        settings: Settings, options: RunOptions, recorder: Recorder?, loop: EventLoop
    ) async throws -> HTTPServices {
        var recording: RecordedTransport?
        if let path = settings.offlineRecording {
            recording = try await RecordedTransport.load(path, named: shown(path, from: settings.directory), on: loop)
        }
        let live =
            options.offline
            ? nil : CurlTransport(loop: loop, userAgent: settings.userAgent ?? "feedbus/\(feedbusVersion)")
        return HTTPServices(
            live: live, recorder: recorder, recording: recording, ledger: ServiceLedger())
    }

    /// A path as a person would write it: relative where it lies under the config's folder.
    private static func shown(_ path: String, from directory: String) -> String {
        path.hasPrefix(directory + "/") ? String(path.dropFirst(directory.count + 1)) : path
    }

    func client(node: String, retry: RetryPolicy, log: Log, clock: any EventClock, seed: UInt64) -> PoliteClient {
        PoliteClient(
            transport: transport(of: node, log: log), ledger: ledger, retry: retry, clock: clock, log: log, seed: seed)
    }

    private func transport(of node: String, log: Log) -> any HTTPTransport {
        guard let live else { return recording! }
        let outer: any HTTPTransport = recorder?.wrap(live) ?? live
        guard let recording else { return outer }
        return fallbacks.of(node) { OfflineFallbackTransport(live: outer, recording: recording, log: log) }
    }

    /// Saves what the services have said about their budgets, now and then, until it is cancelled.
    func keepBudgets(in store: StateStore, clock: any EventClock, log: Log) async throws {
        var saved = 0
        while true {
            try await clock.sleep(for: .seconds(15))
            saved = await saveBudgets(in: store, since: saved, log: log)
        }
    }

    /// - Parameter version: of the budgets that were saved last; 0: none were.
    /// - Returns: of those that are saved now.
    @discardableResult
    func saveBudgets(in store: StateStore, since version: Int = 0, log: Log) async -> Int {
        let now = ledger.budgetsVersion
        guard now != version else { return version }
        do { try await store.save(ledger.budgets) } catch {
            // They are for people to look at; the next time may be better.
            log.debug("the budgets cannot be saved: \(describeError(error))")
            return version
        }
        return now
    }

    func close() async throws {
        try await recorder?.finish()
        live?.close()
    }
}

/// The transports of a run that fall back on its recording, by node.
private final class Fallbacks: Sendable {
    private let state = Mutex<[String: OfflineFallbackTransport]>([:])

    func of(_ node: String, _ make: () -> OfflineFallbackTransport) -> OfflineFallbackTransport {
        state.withLock { made in
            if let known = made[node] { return known }
            let new = make()
            made[node] = new
            return new
        }
    }
}
