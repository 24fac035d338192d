// feedbus: the system calls that bring a user's data to the disk, in one place, so that a test can make each of them fail.

package import Glibc

/// The system calls on files that feedbus writes for its user. Each is as its man page says: -1 and `errno` where it
/// failed. What an implementation leaves out is the system's own.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ flags: Int32, _ mode: UInt32) -> Int32
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int
    /// writev(2).
    func write(_ descriptor: Int32, _ slices: UnsafeBufferPointer<iovec>) -> Int
    /// pwrite(2).
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int
    /// Room for what will be appended behind `offset`, without a change of the size (fallocate(2)).
    func reserve(_ descriptor: Int32, from offset: Int, count: Int) -> Int32
    func truncate(_ descriptor: Int32, to size: Int) -> Int32
    /// fdatasync(2).
    func synchronizeData(_ descriptor: Int32) -> Int32
    /// fsync(2).
    func synchronize(_ descriptor: Int32) -> Int32
    func rename(_ old: String, to new: String) -> Int32
    /// As `closeDescriptor(_:)`: 0 or the reason; closed in any case.
    func close(_ descriptor: Int32) -> Int32
}

extension FileSystem {
    package func open(_ path: String, _ flags: Int32, _ mode: UInt32) -> Int32 { Glibc.open(path, flags, mode) }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    package func write(_ descriptor: Int32, _ slices: UnsafeBufferPointer<iovec>) -> Int {
        writev(descriptor, slices.baseAddress, Int32(slices.count))
    }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
    }

    package func reserve(_ descriptor: Int32, from offset: Int, count: Int) -> Int32 {
        reserveRoom(descriptor, offset, count)
    }

    package func truncate(_ descriptor: Int32, to size: Int) -> Int32 { ftruncate(descriptor, size) }
    package func synchronizeData(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }
    package func synchronize(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
    package func rename(_ old: String, to new: String) -> Int32 { Glibc.rename(old, new) }
    package func close(_ descriptor: Int32) -> Int32 { closeDescriptor(descriptor) }
}

/// The system's own calls.
package struct SystemFiles: FileSystem {
    package init() {}
}

/// A host that brings files of its own: in tests.
package protocol FileHost: LoopHost {
    var files: any FileSystem { get }
}

extension LoopHost {
    /// The file system of everything that is opened on this host.
    package var files: any FileSystem { (self as? any FileHost)?.files ?? SystemFiles() }
}
