// feedbus: what to do at the end of a file that is followed.

import FeedbusLoop

/// Decides, each time that a followed file has been read to its end, how to go on.
struct FollowStateMachine {
    enum Step: Equatable {
        /// Look again when the file changes, or after the pause.
        case wait
        /// The file was cut off: read it from its beginning.
        case startOver
        /// The path names another file, and whoever wrote to this one has had time to finish: read that one.
        case goOn
    }

    /// The path was seen to name another file; its writer may still add to this one.
    private var isReplaced = false

    init() {}

    /// - Parameters:
    ///   - size: of the file that is read; nil where that says nothing (it is packed).
    ///   - read: how many bytes of it were read.
    ///   - named: the file that the path names now; nil where there is none.
    ///   - hasRead: something was read since the last look.
    mutating func atEnd(
        of current: FileIdentity, size: Int?, read: Int, named: FileIdentity?, hasRead: Bool
    ) -> Step {
        if let size, size < read {
            isReplaced = false
            return .startOver
        }
        guard let named, named != current else {
            isReplaced = false
            return .wait
        }
        if isReplaced && !hasRead { return .goOn }
        isReplaced = true
        return .wait
    }

    /// How long to wait for a change before the next look.
    var pause: Duration { isReplaced ? .milliseconds(200) : .seconds(1) }
}
