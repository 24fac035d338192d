// feedbus: the lock of this module; see SanitizerMutex.

#if FEEDBUS_TSAN
    import FeedbusBase

    typealias Mutex<Value: ~Copyable> = SanitizerMutex<Value>
#endif
