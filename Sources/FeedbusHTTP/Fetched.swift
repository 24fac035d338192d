// feedbus: what the polite client brings back.

/// The outcome of one polite request.
public struct Fetched<Value: Sendable>: Sendable {
    public enum Outcome: Sendable {
        /// A whole answer, decoded.
        case fresh(Value)
        /// 304: nothing new since the validators.
        case notModified
    }

    public var outcome: Outcome
    public var response: HTTPResponse
    /// To keep with the cursor and give to the next fetch.
    public var validators: Validators
    /// How long the service asks not to be asked again (`X-Poll-Interval`, a spent quota); zero if it does not.
    public var minimumWait: Duration
    /// True where validators were withheld on purpose, to see whether they are stuck. If such a request brings
    /// anything new, call `PoliteClient.reportStuckValidator`.
    public var isRevalidation: Bool

    public init(
        outcome: Outcome, response: HTTPResponse, validators: Validators, minimumWait: Duration, isRevalidation: Bool
    ) {
        self.outcome = outcome
        self.response = response
        self.validators = validators
        self.minimumWait = minimumWait
        self.isRevalidation = isRevalidation
    }

    /// The decoded value; nil after a 304.
    public var value: Value? {
        if case .fresh(let value) = outcome { value } else { nil }
    }
}
