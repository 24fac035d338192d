// feedbus: the environment that the program was started with.

import Glibc

enum ProcessEnvironment {
    static var current: [String: String] {
        var found: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { found[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return found
    }
}
