// feedbus: one process to a state folder.

import FeedbusBase
import Glibc

/// An exclusive lock on a folder, held until the value goes. The kernel frees it when the process dies.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `FeedbusError` with the code `state.locked` when another process has it, `state.open` when the lock file
    ///   cannot be made.
    init(folder: String) throws {
        let path = folder + "/lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FeedbusError("state.open", "the state folder \(folder) cannot be used: \(systemError(errno))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            throw reason == EWOULDBLOCK
                ? FeedbusError(
                    "state.locked",
                    "the state folder \(folder) is in use by another feedbus; give each its own \"state\" folder")
                : FeedbusError("state.open", "the state folder \(folder) cannot be locked: \(systemError(reason))")
        }
    }

    deinit { close(descriptor) }
}

/// `No space left on device`
func systemError(_ number: Int32) -> String { String(cString: strerror(number)) }
