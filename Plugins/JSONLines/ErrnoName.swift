// feedbus: names of the error numbers that people search for, and what may be hoped for after them.

import FeedbusPlugin
import Glibc

extension FileError {
    /// `cannot write out/log.jsonl: No space left on device (ENOSPC)`
    var textWithName: String { name.map { "\(description) (\($0))" } ?? description }

    /// What the machine lacks at the moment, or a disk that fails: worth waiting for, also where the file could never be
    /// opened yet.
    var isShortage: Bool {
        switch errno {
        case ENOSPC, EDQUOT, EFBIG, EIO, EAGAIN, EMFILE, ENFILE, ENOMEM, ENOLCK, ESTALE, ETIMEDOUT, EBUSY: true
        default: false
        }
    }

    /// A path that leads to no file, however often it is tried.
    var isMistake: Bool {
        switch errno {
        case EISDIR, ENOTDIR, ELOOP, ENAMETOOLONG: true
        default: false
        }
    }

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
        case ENOTDIR: "ENOTDIR"
        case ELOOP: "ELOOP"
        case ENAMETOOLONG: "ENAMETOOLONG"
        case EXDEV: "EXDEV"
        case EMFILE: "EMFILE"
        case ENFILE: "ENFILE"
        case ENOMEM: "ENOMEM"
        case EAGAIN: "EAGAIN"
        case EBUSY: "EBUSY"
        case ENXIO: "ENXIO"
        case EPIPE: "EPIPE"
        default: nil
        }
    }
}
