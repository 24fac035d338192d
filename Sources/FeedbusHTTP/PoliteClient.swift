// feedbus: one request, asked as a good guest asks.

package import FeedbusBase

/// Asks services in the name of one node, by all the rules of politeness; budgets and back-off are shared by all nodes.
public struct PoliteClient: Sendable {
    let transport: any HTTPTransport
    let ledger: ServiceLedger
    let retry: RetryPolicy
    let clock: any EventClock
    let log: Log
    let seed: UInt64
    let revalidateAfter: Int

    /// - Parameters:
    ///   - ledger: one for all nodes of a program.
    ///   - log: in the node's name.
    package init(
        transport: any HTTPTransport, ledger: ServiceLedger, retry: RetryPolicy, clock: any EventClock, log: Log,
        seed: UInt64, revalidateAfter: Int = 30
    ) {
        self.transport = transport
        self.ledger = ledger
        self.retry = retry
        self.clock = clock
        self.log = log
        self.seed = seed
        self.revalidateAfter = revalidateAfter
    }

    /// The same client with another `revalidate_after`: 1... answers of 304 in a row before an unconditional request.
    public func with(revalidateAfter: Int) -> PoliteClient {
        PoliteClient(
            transport: transport, ledger: ledger, retry: retry, clock: clock, log: log, seed: seed,
            revalidateAfter: revalidateAfter)
    }

    public func fetch<Value: Sendable>(
        _ request: HTTPRequest, validators: Validators? = nil, resource: String = "core",
        accept extraStatuses: Set<Int> = [], decode: @Sendable (HTTPResponse) throws -> Value
    ) async throws -> Fetched<Value> {
        fatalError("not yet")
    }

    /// An unconditional request brought news that the conditional ones had not shown: warns, and counts it.
    public func reportStuckValidator(_ url: String) { fatalError("not yet") }
}
