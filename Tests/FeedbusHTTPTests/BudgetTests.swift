// feedbus: tests of budgets and back-off.

import FeedbusBase
import FeedbusTestKit
import Testing

@testable import FeedbusHTTP

@Suite struct BudgetTests {
    private let github = ServiceKey(origin: "https://api.github.com:443", credential: nil)
    private let mine = ServiceKey(origin: "https://api.github.com:443", credential: Secret("ghp_x"))
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func aSpentQuotaClosesItsResourceOnly() {
        var budgets = Budgets()
        budgets.close(github, resource: "search", until: at(10), reason: "spent", now: at(0))
        #expect(budgets.block(github, resource: "search", now: at(9))?.until == at(10))
        #expect(budgets.block(github, resource: "search", now: at(10)) == nil)
        #expect(budgets.block(github, resource: "core", now: at(0)) == nil)
        #expect(budgets.block(mine, resource: "search", now: at(0)) == nil)
    }

    @Test func anyOtherWaitClosesTheService() {
        var budgets = Budgets()
        budgets.close(github, resource: nil, until: at(10), reason: "asked", now: at(0))
        budgets.close(github, resource: "search", until: at(20), reason: "spent", now: at(0))
        #expect(budgets.block(github, resource: "core", now: at(0))?.until == at(10))
        #expect(budgets.block(github, resource: "search", now: at(0))?.until == at(20))
    }

    @Test func aShorterWaitDoesNotOpenWhatIsClosed() {
        var budgets = Budgets()
        budgets.close(github, resource: nil, until: at(10), reason: "asked", now: at(0))
        budgets.close(github, resource: nil, until: at(5), reason: "asked", now: at(0))
        #expect(budgets.block(github, resource: "core", now: at(0))?.until == at(10))
    }

    @Test func failingEndpointsShareOneBackoff() {
        var backoff = Backoff()
        let doubling: (Int) -> Duration = { .seconds(Int64(1 << $0)) }
        backoff.failed("/a", startedAt: at(0), now: at(1), pause: doubling)
        backoff.failed("/b", startedAt: at(0), now: at(2), pause: doubling)
        // Both were under way together: one round, and the longer end.
        #expect(backoff.rounds == 1)
        #expect(backoff.wait("/a", now: at(2)) == at(4))
        #expect(backoff.wait("/b", now: at(2)) == at(4))
        #expect(backoff.wait("/healthy", now: at(2)) == nil)
        backoff.failed("/a", startedAt: at(4), now: at(5), pause: doubling)
        #expect(backoff.rounds == 2)
        #expect(backoff.wait("/b", now: at(5)) == at(9))
        backoff.succeeded("/healthy")
        backoff.succeeded("/a")
        #expect(backoff.wait("/b", now: at(5)) == at(9))
        backoff.succeeded("/b")
        #expect(backoff.isIdle && backoff.rounds == 0)
    }

    @Test(arguments: [
        ("http://127.0.0.1:80/a", "http://127.0.0.1/b", true), ("http://127.0.0.1/", "http://localhost/", false),
        ("http://h:1/", "http://h:2/", false), ("http://h/", "https://h/", false), ("http://H/", "http://h/", true),
    ]) func servicesAreSchemeHostAndPort(_ a: String, _ b: String, _ same: Bool) throws {
        let keys = try [a, b].map { ServiceKey(HTTPRequest($0), try HTTPURL($0)) }
        #expect((keys[0] == keys[1]) == same)
    }

    @Test func credentialsSetServicesApart() throws {
        let url = try HTTPURL("http://h/?key=1")
        let keys = [
            HTTPRequest("http://h/?key=1"), HTTPRequest("http://h/?key=1", secretQuery: ["key"]),
            HTTPRequest("http://h/?key=1", bearer: Secret("t")),
            HTTPRequest("http://h/?key=1", headers: ["authorization": "x"]),
        ].map { ServiceKey($0, url) }
        #expect(Set(keys).count == 4)
    }

    /// GitHub counts `core` and `search` apart, and each credential for itself.
    @Test func theLastWordAboutEachBudgetIsKept() throws {
        try Simulation.run { simulation in
            func limits(_ remaining: Int, _ resource: String) -> HTTPHeaders {
                [
                    "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "\(remaining)",
                    "X-RateLimit-Reset": "\(Bed.epoch + 7_600)", "X-RateLimit-Resource": resource,
                    // The service's clock is an hour ahead of ours; its point in time is told by its own clock.
                    "Date": "Sun, 01 Mar 2026 13:00:00 GMT",
                ]
            }
            let bed = Bed(
                simulation, .answer(200, limits(59, "core")), .answer(304, limits(58, "core")),
                .answer(200, limits(9, "search")), .answer(200, limits(4_999, "core")), .answer(200),
                .answer(200, ["X-RateLimit-Remaining": "many"]))
            let client = bed.client()
            _ = try await client.fetch(HTTPRequest(feed), decode: text)
            _ = try await client.fetch(
                HTTPRequest(feed),
                validators: Validators(etag: "\"a\"", lastModified: nil, lastFull: bed.clock.wallTime),
                decode: text)
            _ = try await client.fetch(HTTPRequest(feed), resource: "search", decode: text)
            _ = try await client.fetch(HTTPRequest(feed, bearer: Secret("hush-hush")), decode: text)
            let version = bed.ledger.budgetsVersion
            _ = try await client.fetch(HTTPRequest(feed), decode: text)
            _ = try await client.fetch(HTTPRequest(feed), decode: text)
            #expect(bed.ledger.budgetsVersion == version)
            let known = bed.ledger.budgets
            #expect(
                known.map { "\($0.credential) \($0.resource) \($0.remaining)/\($0.limit ?? 0)" } == [
                    "none core 58/60", "none search 9/60", "token core 4999/60",
                ])
            let resets = known[0].resetsAt.map { $0 - bed.clock.wallTime }
            #expect(resets == .seconds(4_000))
            #expect(known.allSatisfy { $0.service == "http://127.0.0.1:8080" })
            #expect(!String(describing: known).contains("hush"))
        }
    }

    /// Which budget an endpoint uses is learned from its answers; until then GitHub's paths tell.
    @Test func aBudgetHoldsWhoeverUsesItWhateverTheyCallIt() throws {
        try Simulation.run { simulation in
            func spent(_ resource: String, _ seconds: Int) -> ScriptedTransport.Step {
                .answer(
                    200,
                    [
                        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(Bed.epoch + seconds)",
                        "X-RateLimit-Resource": resource, "Date": Bed.date,
                    ])
            }
            let base = "http://127.0.0.1:8080"
            let bed = Bed(
                simulation, spent("search", 100), .answer(200), .answer(200), .answer(200),
                .answer(200, ["X-RateLimit-Resource": "events"]), spent("events", 200), .answer(200))
            let client = bed.client()
            _ = try await client.fetch(HTTPRequest("\(base)/search/repositories"), resource: "search", decode: text)
            // Another budget goes on; another endpoint of the same one waits.
            _ = try await client.fetch(HTTPRequest("\(base)/repos/a/a"), decode: text)
            #expect(bed.transport.times == [0, 0])
            _ = try await client.fetch(HTTPRequest("\(base)/search/issues?q=x"), decode: text)
            _ = try await client.fetch(HTTPRequest("\(base)/api/v3/search/issues?q=x"), decode: text)
            #expect(bed.transport.times == [0, 0, 101, 101])
            // Its answer names a budget that nothing else tells of; then that budget holds it.
            _ = try await client.fetch(HTTPRequest("\(base)/feed?page=1"), decode: text)
            _ = try await client.fetch(HTTPRequest("\(base)/other"), decode: text)
            _ = try await client.fetch(HTTPRequest("\(base)/feed?page=2"), decode: text)
            #expect(bed.transport.times == [0, 0, 101, 101, 101, 101, 302])
        }
    }

    /// A limit that names `search` and is no success.
    @Test(arguments: [403, 429]) func aRefusalClosesTheBudgetThatItNames(_ status: Int) throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation,
                .answer(
                    status,
                    [
                        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(Bed.epoch + 100)",
                        "X-RateLimit-Resource": "search", "Date": Bed.date,
                    ]), .answer(200))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (delay, path) in [(0, "search/issues"), (5, "search/users"), (6, "repos/a/a")] {
                    group.addTask(executorPreference: simulation.loop) {
                        try await bed.clock.sleep(for: .seconds(delay))
                        _ = try await bed.client(path).fetch(HTTPRequest("http://h/\(path)"), decode: text)
                    }
                }
                try await group.waitForAll()
            }
            #expect(bed.transport.times == [0, 6, 101, 101])
        }
    }

    @Test(arguments: [
        ("/search/issues", "search"), ("/search/code", "code_search"), ("/api/v3/search/users", "search"),
        ("/graphql", "graphql"), ("/repos/search/x", "core"), ("/", "core"), ("/searches", "core"),
    ]) func pathsTellTheLikelyBudget(_ path: String, _ resource: String) {
        #expect(RateLimits.likelyResource(path: path) == resource)
    }

    /// Requests that are under way together are told of one limit, not of one after the other.
    @Test func aBurstOfLimitsIsOneRound() throws {
        try Simulation.run { simulation in
            let limited = ScriptedTransport.Step.answer(429)
            let bed = Bed(
                simulation, takes: .milliseconds(100), limited, limited, limited, limited, limited, limited,
                .answer(200))
            let client = bed.client()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for turn in 0..<4 {
                    group.addTask(executorPreference: simulation.loop) {
                        try await bed.clock.sleep(for: .milliseconds(20 * turn))
                        _ = try await client.fetch(HTTPRequest(feed + "?\(turn)"), decode: text)
                    }
                }
                try await group.waitForAll()
            }
            let starts = bed.transport.times.map { ($0 * 100).rounded() / 100 }
            // The second round, of which two were refused again, is twice as long.
            #expect(starts.prefix(8) == [0, 0.02, 0.04, 0.06, 61.16, 61.16, 61.16, 61.16])
            #expect(starts.dropFirst(8).allSatisfy { (182.2...182.3).contains($0) } && starts.count == 10)
            let warnings = bed.lines.messages(.warning)
            #expect(warnings.count == 2)
            #expect(warnings.first?.contains("waits 61 s") == true)
        }
    }
}
