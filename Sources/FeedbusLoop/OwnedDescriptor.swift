// feedbus: a descriptor that is closed once.

internal import Glibc

/// An open descriptor that this value owns: it is closed when the value goes, or by `close()`, which ends the value.
///
/// A descriptor that is closed twice is worse than one that is never closed: between the two calls another thread may
/// have been given the same number, and loses its socket or its database. What a class closes in its `deinit` it must
/// not close by hand, also not in an `init` that throws: once all its properties are set, `deinit` runs then, too.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// For system calls, while the value lasts.
    package let number: Int32

    /// Takes over an open descriptor; what a failed open(2) returns is none.
    package init(_ number: Int32) {
        precondition(number >= 0, "\(number) is no descriptor")
        self.number = number
    }

    deinit { closeDescriptor(number) }

    /// - Returns: as `closeDescriptor(_:)`.
    package consuming func close() -> Int32 {
        let number = number
        discard self
        return closeDescriptor(number)
    }
}

/// Closes a descriptor, for owners that keep its bare number. In debug builds it is fatal where it was not open.
/// - Returns: 0, or the reason why the system could not keep what was written to it. It is closed in any case.
@discardableResult
package func closeDescriptor(_ number: Int32) -> Int32 {
    guard Glibc.close(number) != 0 else { return 0 }
    let reason = errno
    assert(reason != EBADF, "descriptor \(number) is closed twice: by now it may be somebody else's")
    // Linux has closed it also where it reports an interruption.
    return reason == EINTR ? 0 : reason
}
