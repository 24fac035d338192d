// feedbus: HTTP for real, by libcurl on the loop.

import FeedbusBase
package import FeedbusLoop

/// Carries exchanges with libcurl's multi interface: HTTP/1.1 and HTTP/2, TLS, all packings, proxies from the
/// environment, connections kept for reuse. May be used from any thread; the work is done on its loop.
package final class CurlTransport: HTTPTransport {
    private let loop: EventLoop
    private let driver: CurlDriver

    /// libcurl is loaded and started by the first request, which fails (`http.curl`) where it is unfit.
    /// - Parameter userAgent: sent where a request has none of its own.
    package init(loop: EventLoop, userAgent: String) {
        self.loop = loop
        driver = CurlDriver(loop: loop, userAgent: userAgent)
    }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await driver.perform(request) }

    /// Ends what is under way and closes all connections: before the loop stops.
    package func close() {
        loop.perform { [driver] in driver.assumeIsolated { $0.close() } }
    }
}
