// feedbus: signals that come before anybody handles them.

internal import Glibc

/// Holds back SIGINT and SIGTERM: until a program that will end orderly is able to.
package enum EarlySignals {
    /// To be called before other threads begin, which inherit it. What comes from now on waits.
    package static func hold() { setMask(SIG_BLOCK) }

    /// Lets those come that were held back, to the calling thread, and all later ones.
    package static func release() { setMask(SIG_UNBLOCK) }

    private static func setMask(_ how: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        pthread_sigmask(how, &signals, nil)
    }
}
