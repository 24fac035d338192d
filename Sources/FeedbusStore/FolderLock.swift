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
            let owner = FolderLock.owner(descriptor).map { " (process \($0))" } ?? ""
            close(descriptor)
            throw reason == EWOULDBLOCK
                ? FeedbusError(
                    "state.locked",
                    "the state folder \(folder) is in use by another feedbus\(owner); give each its own \"state\" folder"
                )
                : FeedbusError("state.open", "the state folder \(folder) cannot be locked: \(systemError(reason))")
        }
        sign()
    }

    deinit { close(descriptor) }

    /// Whether the folder still has this lock file in it.
    func isAt(_ folder: String) -> Bool {
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && stat(folder + "/lock", &there) == 0
            && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
    }

    /// Says in the file whose it is: for people, and for the error above.
    private func sign() {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0 else { return }
        _ = pwrite(descriptor, text, text.count, 0)
    }

    private static func owner(_ descriptor: Int32) -> Int? {
        var text = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &text, text.count, 0)
        return count > 1 ? Int(String(decoding: text[..<(count - 1)], as: UTF8.self)) : nil
    }
}

/// `No space left on device`
func systemError(_ number: Int32) -> String { String(cString: strerror(number)) }
