// feedbus: how a node came to its end.

/// The end of a node's task.
enum NodeEnd: Sendable {
    /// It has nothing more to do: an exhausted source, a drained sink.
    case completed
    /// It ended by itself although more could come: a console whose reader has gone.
    case finished(reason: String)
    /// The program stopped it.
    case stopped
    /// It is given up; the reason for the operator.
    case failed(String)
}
