// feedbus: what a service has said last about one of its budgets.

/// How much of a rate limit is left, by the service's last word (GitHub's `X-RateLimit-*`). Holds no secret.
package struct ServiceBudget: Sendable, Hashable {
    /// Scheme, host and port.
    package var service: String
    /// `none`, or `token`; further tokens of the same service, in the order in which they came, are `token 2` and so on.
    package var credential: String
    /// `core`, `search`: the service counts them apart.
    package var resource: String
    /// Requests that a period allows; nil where the service does not say.
    package var limit: Int?
    /// Requests that are left of it.
    package var remaining: Int
    /// When it is whole again, by this machine's clock; nil where the service does not say.
    package var resetsAt: WallTime?
    /// When the service said so.
    package var seenAt: WallTime

    package init(
        service: String, credential: String, resource: String, limit: Int?, remaining: Int, resetsAt: WallTime?,
        seenAt: WallTime
    ) {
        self.service = service
        self.credential = credential
        self.resource = resource
        self.limit = limit
        self.remaining = remaining
        self.resetsAt = resetsAt
        self.seenAt = seenAt
    }
}
