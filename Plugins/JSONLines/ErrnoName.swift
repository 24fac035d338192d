// feedbus: names of the error numbers that people search for.

import FeedbusPlugin
import Glibc

extension FileError {
    /// `cannot write out/log.jsonl: No space left on device (ENOSPC)`
    var textWithName: String { name.map { "\(description) (\($0))" } ?? description }

    private var name: String? {
        switch errno {
        case ENOSPC: "ENOSPC"
        case EDQUOT: "EDQUOT"
        case EFBIG: "EFBIG"
        case EIO: "EIO"
        case EROFS: "EROFS"
        case EACCES: "EACCES"
        case EPERM: "EPERM"
        case ENOENT: "ENOENT"
        case ESTALE: "ESTALE"
        case EISDIR: "EISDIR"
        default: nil
        }
    }
}
