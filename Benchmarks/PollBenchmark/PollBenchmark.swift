// feedbus: polls as fast as the polite client can, for Benchmarks/polls.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop
import Glibc

/// `feedbus-polls URL SECONDS CONCURRENT [ETAG]`: so many feeds, each asking again as soon as it is answered, on one
/// loop; conditional requests where an ETag is given. Prints one line of JSON. Whatever is not as expected ends it with
/// exit 1.
@main
enum PollBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3 || arguments.count == 4, let seconds = Double(arguments[2]),
            let concurrent = Int(arguments[3])
        else { fail("usage: feedbus-polls URL SECONDS CONCURRENT [ETAG]") }
        let feeds = Feeds(url: arguments[1], etag: arguments.count == 4 ? arguments[4] : nil, seconds: seconds)
        let loop = try EventLoop.make(name: "polls")
        loop.task {
            do { print(try await feeds.run(concurrent, on: loop)) } catch { fail(describeError(error)) }
            loop.stop()
        }
        try loop.run()
    }

    static func fail(_ message: String) -> Never {
        let line = "feedbus-polls: \(message)\n"
        _ = line.withCString { write(2, $0, strlen($0)) }
        exit(1)
    }
}

private struct Feeds: Sendable {
    let url: String
    let etag: String?
    let seconds: Double

    func run(_ concurrent: Int, on loop: EventLoop) async throws -> String {
        let transport = CurlTransport(loop: loop, userAgent: "feedbus-polls")
        defer { transport.close() }
        let client = PoliteClient(
            transport: transport, ledger: ServiceLedger(), retry: RetryPolicy(attempts: 1), clock: loop.clock,
            log: Log(node: "polls", level: .warning) { PollBenchmark.fail($0.message) }, seed: 1
        ).with(revalidateAfter: .max)
        let start = loop.clock.now
        let cpuStart = cpuSeconds()
        let end = start + .nanoseconds(Int64(seconds * 1e9))
        let feeds = (0..<concurrent).map { _ in loop.task { try await self.feed(client, until: end, on: loop) } }
        var polls = 0
        var bytes = 0
        for feed in feeds {
            let count = try await feed.value
            polls += count.polls
            bytes += count.bytes
        }
        return
            "{\"polls\": \(polls), \"seconds\": \((loop.clock.now - start).seconds), \"cpu_seconds\": \(cpuSeconds() - cpuStart), \"bytes\": \(bytes)}"
    }

    /// One feed: the next poll as soon as the last one is answered.
    private func feed(
        _ client: PoliteClient, until end: Instant, on loop: EventLoop
    ) async throws -> (polls: Int, bytes: Int) {
        var polls = 0
        var bytes = 0
        var validators = etag.map { Validators(etag: $0, lastModified: nil, lastFull: loop.clock.wallTime) }
        while loop.clock.now < end {
            let request = HTTPRequest(url, headers: ["Accept": "application/json"])
            let fetched = try await client.fetch(request, validators: validators) { $0.body.count }
            switch (fetched.value, etag) {
            case (let count?, nil): bytes += count
            case (nil, _?): validators = fetched.validators
            default: PollBenchmark.fail("another status than was wanted: \(fetched.response.status)")
            }
            polls += 1
        }
        return (polls, bytes)
    }

    private func cpuSeconds() -> Double {
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        let times = [usage.ru_utime, usage.ru_stime]
        return times.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}
