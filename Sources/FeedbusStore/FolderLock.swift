// feedbus: one process to a state folder.

import FeedbusBase
import FeedbusLoop
import Glibc

/// An exclusive lock on a folder, held until the value goes. The kernel frees it when the process dies.
final class FolderLock: Sendable {
    private let descriptor: OwnedDescriptor

    /// - Throws: `FeedbusError` with the code `state.locked` when another process has it, `state.open` when the lock file
    ///   cannot be made.
    init(folder: String) throws {
        let path = folder + "/lock"
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard number >= 0 else {
            throw FeedbusError("state.open", "the state folder \(folder) cannot be used: \(systemError(errno))")
        }
        descriptor = OwnedDescriptor(number)
        guard FolderLock.take(number) else {
            let reason = errno
            let owner = FolderLock.owner(number).map { " (process \($0))" } ?? ""
            throw reason == EWOULDBLOCK
                ? FeedbusError(
                    "state.locked",
                    "the state folder \(folder) is in use by another feedbus\(owner); give each its own \"state\" folder"
                )
                : FeedbusError("state.open", "the state folder \(folder) cannot be locked: \(systemError(reason))")
        }
        sign()
    }

    /// Takes the lock, or leaves its reason in `errno`. Where the owner is dead a child has the lock that it was just
    /// starting, for a few milliseconds more: that is waited for, on a thread of the pool.
    private static func take(_ descriptor: Int32) -> Bool {
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK else { return false }
            guard let owner = owner(descriptor), kill(pid_t(owner), 0) != 0, errno == ESRCH else { break }
            poll(nil, 0, 10)
        }
        errno = EWOULDBLOCK
        return false
    }

    // A child that is just being started has a copy of the descriptor, and with it of the lock, for a moment longer.
    deinit { flock(descriptor.number, LOCK_UN) }

    /// Whether the folder still has this lock file in it.
    func isAt(_ folder: String) -> Bool {
        var (mine, there) = (stat(), stat())
        return fstat(descriptor.number, &mine) == 0 && stat(folder + "/lock", &there) == 0
            && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
    }

    /// Says in the file whose it is: for people, and for the error above.
    private func sign() {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor.number, 0) == 0 else { return }
        _ = pwrite(descriptor.number, text, text.count, 0)
    }

    private static func owner(_ descriptor: Int32) -> Int? {
        var text = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &text, text.count, 0)
        return count > 1 ? Int(String(decoding: text[..<(count - 1)], as: UTF8.self)) : nil
    }
}

/// `No space left on device`
func systemError(_ number: Int32) -> String { String(cString: strerror(number)) }
