// feedbus: which config a command means.

import FeedbusRuntime

enum ConfigFile {
    /// Taken where no file is named.
    static let standard = "config.json"

    /// The file that was named, else `config.json` where there is one.
    static func find(_ named: String?, _ input: CommandInput) throws(UsageError) -> String {
        if let named { return named }
        guard input.files.exists(FileAccess.absolute(standard, in: input.files.workingDirectory)) else {
            throw UsageError("there is no \(standard) here; name a config with --config FILE")
        }
        return standard
    }
}
