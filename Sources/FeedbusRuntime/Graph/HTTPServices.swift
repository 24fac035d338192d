// feedbus: the HTTP side of a run: live, recorded, or live with a recording to fall back on.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop
import FeedbusPlugin

/// Builds the transport of a run and gives each node its polite client.
struct HTTPServices: Sendable {
    let live: CurlTransport?
    let recorder: Recorder?
    let recording: RecordedTransport?
    let ledger: ServiceLedger

    static func make(
        settings: Settings, options: RunOptions, recorder: Recorder?, loop: EventLoop
    ) async throws -> HTTPServices {
        var recording: RecordedTransport?
        if let path = settings.offlineRecording {
            recording = try await RecordedTransport.load(path, named: shown(path, from: settings.directory), on: loop)
        }
        let live =
            options.offline
            ? nil : try CurlTransport(loop: loop, userAgent: settings.userAgent ?? "feedbus/\(feedbusVersion)")
        return HTTPServices(
            live: live, recorder: recorder, recording: recording, ledger: ServiceLedger())
    }

    /// A path as a person would write it: relative where it lies under the config's folder.
    private static func shown(_ path: String, from directory: String) -> String {
        path.hasPrefix(directory + "/") ? String(path.dropFirst(directory.count + 1)) : path
    }

    func client(for node: PlannedNode, log: Log, clock: any EventClock, seed: UInt64) -> PoliteClient {
        PoliteClient(
            transport: transport(log: log), ledger: ledger, retry: node.retry, clock: clock, log: log, seed: seed)
    }

    private func transport(log: Log) -> any HTTPTransport {
        guard let live else { return recording! }
        let outer: any HTTPTransport = recorder?.wrap(live) ?? live
        guard let recording else { return outer }
        return OfflineFallbackTransport(live: outer, recording: recording, log: log)
    }

    func close() async throws {
        try await recorder?.finish()
        live?.close()
    }
}
