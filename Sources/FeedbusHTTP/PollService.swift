// feedbus: whom a poller asks.

/// A service and a credential, as far as pollers that ask the same one wait for each other. It shows nothing of either.
public struct PollService: Sendable, Hashable, CustomStringConvertible {
    private let key: ServiceKey?

    /// - Parameter request: as the poller sends it. All that are no requests at all are one service.
    public init(_ request: HTTPRequest) {
        key = (try? HTTPURL(request.url)).map { ServiceKey(request, $0) }
    }

    public var description: String { key?.origin ?? "-" }
}
