// feedbus: keeps every exchange of a run, for `--record`.

package import FeedbusBase
package import FeedbusLoop
import Glibc
import Synchronization

/// Records exchanges as the client saw them, without secrets, in one HAR 1.2 file. Each is written when it has ended,
/// and the one who asked goes on after that: nothing is kept in memory.
package final class Recorder: Sendable {
    private let file: StagedFile
    private let clock: any EventClock
    private let creator: String
    private let log: Log
    /// Exchanges that could not be written.
    private let lost = Atomic<Int>(0)

    private init(file: StagedFile, clock: any EventClock, creator: String, log: Log) {
        self.file = file
        self.clock = clock
        self.creator = creator
        self.log = log
    }

    /// - Parameter creator: the program's name and version, `feedbus 1.0`.
    /// - Throws: `FeedbusError` (`http.recording`) when no recording can be written at `path`.
    package static func open(
        path: String, host: any LoopHost, clock: any EventClock, creator: String, log: Log
    ) async throws(FeedbusError) -> Recorder {
        do {
            return Recorder(
                file: try await StagedFile.open(path, on: host), clock: clock, creator: creator, log: log)
        } catch {
            throw FeedbusError(
                .httpRecording,
                error.errno == EWOULDBLOCK
                    ? "the recording \(path) is being written by another feedbus; choose another file for --record"
                    : "the recording \(path) cannot be written: \(error)", cause: error)
        }
    }

    /// A transport whose exchanges are recorded.
    package func wrap(_ transport: any HTTPTransport) -> any HTTPTransport {
        RecordingTransport(inner: transport, recorder: self)
    }

    /// Ends the file and puts it into its place, in one step, so that no half of it can ever be read there.
    /// - Throws: `FeedbusError` (`http.recording`) when that fails, or an exchange is missing.
    package func finish() async throws {
        do {
            try await file.finish { [creator] isFirst in
                var writer = ByteWriter()
                if isFirst { writer.append(HARWriter.head(creator: creator)) }
                writer.append(HARWriter.tail)
                return writer.finish()
            }
        } catch {
            throw FeedbusError(
                .httpRecording, "the recording cannot be written\(lostText.map { " and \($0)" } ?? ""): \(error)",
                cause: error)
        }
        if let lostText { throw FeedbusError(.httpRecording, "the recording \(lostText)") }
    }

    private var lostText: String? {
        let lost = lost.load(ordering: .relaxed)
        return lost > 0 ? "lacks \(lost) exchange\(lost == 1 ? "" : "s")" : nil
    }

    fileprivate func send(_ request: HTTPRequest, on inner: any HTTPTransport) async throws -> HTTPResponse {
        let startedAt = clock.wallTime
        let start = clock.now
        do {
            let response = try await inner.send(request)
            await keep(HARWriter.entry(request, .success(response), startedAt: startedAt, took: clock.now - start))
            return response
        } catch let error as FeedbusError {
            await keep(HARWriter.entry(request, .failure(error), startedAt: startedAt, took: clock.now - start))
            throw error
        }
    }

    private func keep(_ entry: Bytes) async {
        do {
            try await file.append { [creator] isFirst in
                var writer = ByteWriter(capacity: entry.count + 256)
                writer.append(isFirst ? HARWriter.head(creator: creator) : ",")
                writer.append("\n" as StaticString)
                writer.append(entry)
                return writer.finish()
            }
        } catch {
            if lost.add(1, ordering: .relaxed).oldValue == 0 {
                log.error("the recording cannot be written, and lacks exchanges from here on: \(error)")
            }
        }
    }
}

/// Passes exchanges on and has them recorded.
private struct RecordingTransport: HTTPTransport {
    let inner: any HTTPTransport
    let recorder: Recorder

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await recorder.send(request, on: inner) }
}
