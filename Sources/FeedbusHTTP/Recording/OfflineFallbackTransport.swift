// feedbus: live, and from a recording where the service cannot be reached.

package import FeedbusBase
import Synchronization

/// Asks the live service first. Where that cannot be reached, the answer comes from the recording and says so
/// (`HTTPResponse.recorded`), with one warning for the node. One for each node.
package struct OfflineFallbackTransport: HTTPTransport {
    private let live: any HTTPTransport
    private let recording: RecordedTransport
    private let log: Log
    private let warned = OnceFlag()

    /// - Parameter log: in the node's name.
    package init(live: any HTTPTransport, recording: RecordedTransport, log: Log) {
        self.live = live
        self.recording = recording
        self.log = log
    }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        do {
            return try await live.send(request)
        } catch let error as FeedbusError where OfflineFallbackTransport.isUnreachable(error) {
            guard let answer = try recording.answer(to: request) else {
                var error = error
                error.message += "; the recording \(recording.name) holds no answer either"
                throw error
            }
            if warned.set() {
                log.warning(
                    "the service cannot be reached; the recording \(recording.name) answers instead (\(error.message))"
                )
            }
            return answer
        }
    }

    /// No name, no connection or no TLS: nothing was asked yet. A service that answers, if badly, is not replaced.
    private static func isUnreachable(_ error: FeedbusError) -> Bool {
        [.httpDNS, .httpConnect, .httpTLS].contains(error.code)
    }
}

/// True once.
private final class OnceFlag: Sendable {
    private let isSet = Atomic(false)

    func set() -> Bool { !isSet.exchange(true, ordering: .relaxed) }
}
