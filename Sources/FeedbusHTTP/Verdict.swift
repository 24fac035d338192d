// feedbus: what one answer means for its request.

/// What is to be done about an answer.
enum Verdict: Sendable, Equatable {
    /// Decode it.
    case success
    /// 304 to a request with validators.
    case notModified
    /// The service has had enough of us: wait as asked, then ask again. Uses up no attempt.
    case limited
    /// It may go better next time: ask again by the node's policy.
    case transient
    /// Asking again will not help: one clear error.
    case refused
    /// 304 to a request without validators: not an answer at all; ask again by the node's policy.
    case uninvited

    /// - Parameters:
    ///   - isConditional: the request carried validators.
    ///   - accepted: further statuses that the caller wants to decode.
    ///   - wait: what the answer asks for.
    init(
        status: Int, headers: HTTPHeaders, message: String, isConditional: Bool, accepted: Set<Int>, wait: AskedWait?
    ) {
        switch status {
        case _ where accepted.contains(status): self = .success
        case 304: self = isConditional ? .notModified : .uninvited
        case 200..<300: self = .success
        case 403, 429:
            if !WaitCalculator.isLimit(status: status, headers: headers, message: message) {
                self = .refused
            } else {
                self = wait == nil ? .transient : .limited
            }
        case 408, 500...: self = .transient
        default: self = .refused
        }
    }
}
