// feedbus: the error codes of the loop, its children and files.

public import FeedbusBase

extension FeedbusError.Code {
    /// The system gives no resources for a loop or thread.
    public static let loopFailed = Self("loop.failed")
    /// The loop has ended, or is ending.
    public static let loopClosed = Self("loop.closed")
    /// A descriptor cannot be watched.
    public static let loopPoll = Self("loop.poll")
    /// There is no such program or working directory.
    public static let execNotFound = Self("exec.not-found")
    /// The program may not be run.
    public static let execDenied = Self("exec.denied")
    /// A program could not be started for another reason.
    public static let execFailed = Self("exec.failed")
    /// The child does not read its input any more, or it was closed by us.
    public static let execClosed = Self("exec.closed")
    /// Reading from a child failed.
    public static let execRead = Self("exec.read")
}
