// feedbus: keeps every exchange of a run, for `--record`.

package import FeedbusBase
package import FeedbusLoop
import Synchronization

/// Records exchanges as the client saw them and writes them, without secrets, as one HAR 1.2 file at the end.
package final class Recorder: Sendable {
    private struct State {
        var started = 0
        var entries: [(order: Int, entry: Bytes)] = []
    }

    private let path: String
    private let host: any LoopHost
    private let clock: any EventClock
    private let creator: String
    private let state = Mutex(State())

    /// - Parameter creator: the program's name and version, `feedbus 1.0`.
    package init(path: String, host: any LoopHost, clock: any EventClock, creator: String) {
        self.path = path
        self.host = host
        self.clock = clock
        self.creator = creator
    }

    /// A transport whose exchanges are recorded.
    package func wrap(_ transport: any HTTPTransport) -> any HTTPTransport {
        RecordingTransport(inner: transport, recorder: self)
    }

    /// What was recorded so far, as a whole file; entries stand in the order in which they were asked.
    package var har: Bytes {
        let entries = state.withLock { $0.entries }.sorted { $0.order < $1.order }
        return HARWriter.file(entries: entries.map(\.entry), creator: creator)
    }

    /// Writes the file, in one step, so that no half of it can ever be read.
    /// - Throws: `FeedbusError` (`http.recording`) when it cannot be written.
    package func finish() async throws {
        do {
            let file = try await host.offload { self.har }
            try await writeWholeFileAtomically(path, file, on: host)
        } catch {
            throw FeedbusError(.httpRecording, "the recording cannot be written: \(error)", cause: error)
        }
    }

    fileprivate func send(_ request: HTTPRequest, on inner: any HTTPTransport) async throws -> HTTPResponse {
        let order = state.withLock { state in
            state.started += 1
            return state.started
        }
        let startedAt = clock.wallTime
        let start = clock.now
        func keep(_ outcome: Result<HTTPResponse, FeedbusError>) {
            let entry = HARWriter.entry(request, outcome, startedAt: startedAt, took: clock.now - start)
            state.withLock { $0.entries.append((order, entry)) }
        }
        do {
            let response = try await inner.send(request)
            keep(.success(response))
            return response
        } catch let error as FeedbusError {
            keep(.failure(error))
            throw error
        }
    }
}

/// Passes exchanges on and has them recorded.
private struct RecordingTransport: HTTPTransport {
    let inner: any HTTPTransport
    let recorder: Recorder

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await recorder.send(request, on: inner) }
}
