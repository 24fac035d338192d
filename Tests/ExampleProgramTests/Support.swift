// feedbus: what the tests of the example programs share.

import Glibc

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/feedbus-examples-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    }

    /// The programs under test keep one file.
    deinit {
        unlink("\(path)/feed.json")
        rmdir(path)
    }
}

/// The folder of the package.
let packageFolder: String = {
    var parts = #filePath.split(separator: "/")
    parts.removeLast(3)
    return "/" + parts.joined(separator: "/")
}()
