// feedbus: libcurl's own start-up, once in a process.

import CCurl
import FeedbusBase
internal import FeedbusLoop

/// libcurl as this process has it. It is never torn down: other threads may still be in it when the process ends.
enum CurlGlobal {
    /// Nil where libcurl could not start.
    private static let version: String? = {
        // With signals off, libcurl does not guard its TLS writes against SIGPIPE; the process has to.
        ignoreSIGPIPE()
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let info = feedbus_curl_version() else {
            return nil
        }
        // A resolver that blocks would stop the loop, and with it all that runs on it.
        guard info.pointee.features & CURL_VERSION_ASYNCHDNS != 0 else { return nil }
        return String(cString: info.pointee.version)
    }()

    /// - Throws: `FeedbusError` (`http.curl`) where libcurl is unfit.
    static func start() throws(FeedbusError) {
        guard version != nil else {
            throw FeedbusError(
                FeedbusError.Code("http.curl"), "libcurl cannot start, or was built without an asynchronous resolver")
        }
    }
}
