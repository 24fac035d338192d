// feedbus: the lock of this module.

#if FEEDBUS_TSAN
    public import Glibc

    /// Stands in for `Synchronization.Mutex` in builds for ThreadSanitizer, which does not see that one's waiting and
    /// reports every access under it. A copy of `SanitizerMutex` that inlinable code may use.
    ///
    /// `@unchecked Sendable`: the value is touched between lock and unlock only.
    @usableFromInline
    struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        @usableFromInline let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        @inlinable
        init(_ value: consuming sending Value) {
            pthread_mutex_init(lock, nil)
            self.value.initialize(to: value)
        }

        @inlinable
        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        @inlinable
        borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
#endif
