// feedbus: a lock that ThreadSanitizer understands.

#if FEEDBUS_TSAN
    internal import Glibc

    /// Stands in for `Synchronization.Mutex` in builds for ThreadSanitizer (`-Xswiftc -DFEEDBUS_TSAN`). Where that one has
    /// to wait, it does so in a library without instrumentation, and every access under the lock is then reported.
    ///
    /// `@unchecked Sendable`: the value is touched between lock and unlock only.
    package struct SanitizerMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        package init(_ value: consuming sending Value) {
            pthread_mutex_init(lock, nil)
            self.value.initialize(to: value)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
#endif
