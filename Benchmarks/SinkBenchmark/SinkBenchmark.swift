// feedbus: what the JSON-lines sink costs beside a plain loop of writes of the same bytes, for each policy of fsync.

import FeedbusLoop
import FeedbusPlugin
import Glibc
import JSONLinesPlugin
import Synchronization

/// `SinkBenchmark [--folder PATH] [--megabytes N]`: the file's data in batches of 1 to 4,096 lines of 200 bytes, as a file
/// source gives them. Exit code 1 when a figure is not reached.
@main
enum SinkBenchmark {
    static let lineSize = 200
    static let rounds = 5
    /// Of a plain loop, in batches of the size in which a full graph hands events on.
    static let mostRatio = 1.15

    static func main() {
        var folder = "."
        var megabytes = 64
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch (argument, arguments.popFirst()) {
            case ("--folder", let value?): folder = value
            case ("--megabytes", let value?): megabytes = Int(value) ?? megabytes
            default: fatalError("usage: SinkBenchmark [--folder PATH] [--megabytes N]")
            }
        }
        do {
            let loop = try EventLoop.make(name: "bench")
            let isGood = Atomic(false)
            loop.task { [folder, megabytes] in
                do {
                    isGood.store(try await measure(folder, megabytes << 20, loop), ordering: .relaxed)
                } catch { print(describeError(error)) }
                loop.stop()
            }
            try loop.run()
            exit(isGood.load(ordering: .relaxed) ? 0 : 1)
        } catch {
            print(describeError(error))
            exit(1)
        }
    }

    static func measure(_ folder: String, _ bytes: Int, _ loop: EventLoop) async throws -> Bool {
        let path = "\(folder)/sink-benchmark-\(getpid()).jsonl"
        var isGood = true
        print(
            "lines of \(lineSize) bytes; median of \(rounds); \"plain\" is a loop of write(2), with fdatasync for \"batch\""
        )
        for (policy, format) in [("none", "data"), ("none", "cloudevents"), ("5s", "data"), ("batch", "data")] {
            for size in [1, 10, 100, 1_000, 4_096] {
                // A sync takes its time: fewer of them.
                let most = policy == "batch" ? 100 : 20_000
                let count = max(20, min(bytes / (size * lineSize), most))
                let batches = chunks(count, size)
                let sink = try await median { try await write(batches, to: path, policy, format, loop) }
                let text = try await written(batches, to: path, format, loop)
                let plain = try await median {
                    PlainWrites.run(path: path, batches: text, sync: policy == "batch" ? .batch : .none)
                }
                let ratio = sink / plain
                let rate = Double(count * size) / sink
                let isFigure = policy == "none" && format == "data" && size == 4_096
                if isFigure && ratio > mostRatio { isGood = false }
                print(
                    "fsync \(policy), \(format), batches of \(size): \(rounded(rate / 1000))k events/s,"
                        + " \(rounded(sink / Double(count) * 1e6)) us a batch; plain \(rounded(plain / Double(count) * 1e6)) us;"
                        + " ratio \((ratio * 100).rounded() / 100)\(isFigure ? " (at most \(mostRatio))" : "")")
                // At once, also into a pipe.
                fflush(nil)
                unlink(path)
            }
        }
        return isGood
    }

    /// Events whose data stand one behind the other in a block, as a file source reads them.
    static func chunks(_ count: Int, _ size: Int) -> [Chunk<Event>] {
        let origin = EventOrigin(source: "bench", type: "bench", node: "bench")
        // Not one block for all, which would stay in the cache.
        let blocks = (0..<min(count, 64)).map { number in
            var text = ""
            for line in 0..<size {
                let start = "{\"n\":\(number * size + line),\"x\":\""
                text += start + String(repeating: "y", count: lineSize - start.utf8.count - 3) + "\"}\n"
            }
            let block = Bytes(text)
            return Chunk(
                (0..<size).map { line in
                    Event(
                        origin: origin, id: Bytes("\(line)"),
                        data: block[line * lineSize..<(line + 1) * lineSize - 1])
                })
        }
        return (0..<count).map { blocks[$0 % blocks.count] }
    }

    static func sink(_ path: String, _ policy: String, _ format: String, _ loop: EventLoop) throws -> JSONLines {
        let text = "{\"path\": \"\(path)\", \"fsync\": \"\(policy)\", \"format\": \"\(format)\"}"
        guard let value = ConfigText.parse(Bytes(text)).0 else { throw FeedbusError("bench", "no options") }
        let options = JSONLinesOptions.decode(
            value, owner: value, context: OptionContext(owner: "bench", environment: [:], readFile: { _ in nil })
        ).0
        let log = Log(node: "bench", level: .error) { print($0.message) }
        let http = PoliteClient(
            transport: NoTransport(), ledger: ServiceLedger(), retry: RetryPolicy(), clock: loop.clock, log: log,
            seed: 1)
        return JSONLines(
            options: options,
            context: PluginContext(
                node: "bench", log: log, clock: loop.clock, mode: RunMode(), retry: RetryPolicy(), onError: .pass,
                http: http, host: loop, directory: ".", seed: 1, headline: { _ in nil }, loadCursor: { _ in nil }))
    }

    static func write(
        _ batches: [Chunk<Event>], to path: String, _ policy: String, _ format: String, _ loop: EventLoop
    ) async throws -> Double {
        unlink(path)
        let sink = try sink(path, policy, format, loop)
        try await sink.open()
        let started = now()
        for batch in batches { try await sink.write(batch) }
        try await sink.close()
        return now() - started
    }

    /// The bytes of each batch, as the sink writes them.
    static func written(
        _ batches: [Chunk<Event>], to path: String, _ format: String, _ loop: EventLoop
    ) async throws -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for batch in batches.prefix(64) {
            _ = try await write([batch], to: path, "none", format, loop)
            let text = try await readWholeFile(path, limit: 1 << 30, on: loop)
            texts.append(text.withUnsafeBytes { Array($0) })
        }
        return batches.indices.map { texts[$0 % texts.count] }
    }

    static func median(_ run: () async throws -> Double) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<rounds { times.append(try await run()) }
        return times.sorted()[rounds / 2]
    }

    static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}

/// Nobody is asked for anything.
private struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw FeedbusError("http.connect", "there is no network here")
    }
}
