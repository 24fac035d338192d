// feedbus: what the JSON-lines sink costs beside a plain loop of writes of the same bytes, for each policy of fsync.

import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import Glibc
import JSONLinesPlugin
import Synchronization

/// `SinkBenchmark [--folder PATH] [--megabytes N] [--line BYTES] [--batch LINES] [--fsync POLICY]`: the data of events in
/// batches of 1 to 1,024 lines of 1,000 bytes, as a file source gives them, and each awaited before the next, as a sink
/// node does it. 1,024 is what a buffer holds where a graph is busy. Exit code 1 when a figure is not reached.
@main
struct SinkBenchmark {
    static let rounds = 9
    /// Of a plain loop, in batches of the size in which a busy graph hands events on.
    static let mostRatio = 1.15
    static let mostLines = 1_024

    var folder = "."
    var bytes = 64 << 20
    var lineSize = 1_000
    var sizes = [1, 10, 100, mostLines]
    var kinds = [("none", "data"), ("none", "cloudevents"), ("5s", "data"), ("batch", "data")]

    private static let usage =
        "usage: SinkBenchmark [--folder PATH] [--megabytes N] [--line BYTES] [--batch LINES] [--fsync POLICY]"

    static func main() {
        var benchmark = SinkBenchmark()
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            guard let value = arguments.popFirst() else { fatalError(usage) }
            let number = Int(value) ?? 1
            switch argument {
            case "--folder": benchmark.folder = value
            case "--megabytes": benchmark.bytes = number << 20
            case "--line": benchmark.lineSize = max(number, 64)
            case "--batch": benchmark.sizes = [number]
            case "--fsync": benchmark.kinds = ["data", "cloudevents"].map { (value, $0) }
            default: fatalError(usage)
            }
        }
        do {
            let loop = try EventLoop.make(name: "bench")
            let isGood = Atomic(false)
            loop.task { [benchmark] in
                do { isGood.store(try await benchmark.measure(loop), ordering: .relaxed) } catch {
                    print(describeError(error))
                }
                loop.stop()
            }
            try loop.run()
            exit(isGood.load(ordering: .relaxed) ? 0 : 1)
        } catch {
            print(describeError(error))
            exit(1)
        }
    }

    private func measure(_ loop: EventLoop) async throws -> Bool {
        let path = "\(folder)/sink-benchmark-\(getpid()).jsonl"
        var isGood = true
        print(
            "lines of \(lineSize) bytes; medians of \(Self.rounds); \"plain\" is a loop of write(2), with fdatasync(2) where the"
                + " sink syncs: behind each batch, or at the end")
        for (policy, format) in kinds {
            let sync: PlainWrites.Sync = policy == "none" ? .none : policy == "batch" ? .batch : .end
            for size in sizes {
                // A sync takes its time: fewer of them.
                let count = max(20, min(bytes / (size * lineSize), sync == .batch ? 100 : 20_000))
                let batches = chunks(count, size)
                let text = try await written(batches, to: path, format, loop)
                var (sinks, plains) = ([Cost](), [Cost]())
                // Turn and turn about: the machine has other things to do as well.
                for _ in 0..<Self.rounds {
                    sinks.append(try await Self.write(batches, to: path, policy, format, loop))
                    unlink(path)
                    plains.append(PlainWrites.run(path: path, batches: text, sync: sync))
                    unlink(path)
                }
                let (sink, plain) = (Cost.median(sinks), Cost.median(plains))
                let isFigure = policy == "none" && format == "data" && size == Self.mostLines
                if isFigure && sink.wall / plain.wall > Self.mostRatio { isGood = false }
                print(
                    "fsync \(policy), \(format), batches of \(size): \(sink.text(count)); plain \(plain.text(count));"
                        + " ratio \(rounded(sink.wall / plain.wall, 100)), by CPU \(rounded(sink.cpu / plain.cpu, 100))"
                        + (isFigure ? " (at most \(Self.mostRatio))" : ""))
                // At once, also into a pipe.
                fflush(nil)
            }
        }
        return isGood
    }

    /// Lines of a block, as a file source hands them on.
    private func chunks(_ count: Int, _ size: Int) -> [Chunk<Event>] {
        let origin = EventOrigin(source: "bench", type: "bench", node: "bench")
        // Not one block for all, which would stay in the cache.
        let blocks = (0..<min(count, 64)).map { number in
            var writer = ByteWriter(capacity: size * lineSize)
            var places: [TextPlace] = []
            for line in 0..<size {
                let start = "{\"n\":\(number * size + line),\"x\":\""
                let text = start + String(repeating: "y", count: lineSize - start.utf8.count - 3) + "\"}"
                places.append(TextPlace(line * lineSize, (line + 1) * lineSize - 1))
                writer.append(Bytes(text))
                writer.append(UInt8(ascii: "\n"))
            }
            let buffer = writer.finish().buffer
            return Chunk(
                PackedEvents(
                    origin: origin, buffer: buffer, places: places, ids: .made(of: buffer, places, position: 0),
                    areFollowed: true))
        }
        return (0..<count).map { blocks[$0 % blocks.count] }
    }

    private static func sink(_ path: String, _ policy: String, _ format: String, _ loop: EventLoop) throws -> JSONLines
    {
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

    private static func write(
        _ batches: [Chunk<Event>], to path: String, _ policy: String, _ format: String, _ loop: EventLoop
    ) async throws -> Cost {
        let sink = try sink(path, policy, format, loop)
        try await sink.open()
        let started = Cost.now
        for batch in batches { try await sink.write(batch) }
        try await sink.close()
        return Cost.now - started
    }

    /// The bytes of each batch, as the sink writes them.
    private func written(
        _ batches: [Chunk<Event>], to path: String, _ format: String, _ loop: EventLoop
    ) async throws -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for batch in batches.prefix(64) {
            _ = try await Self.write([batch], to: path, "none", format, loop)
            let text = try await readWholeFile(path, limit: 1 << 30, on: loop)
            texts.append(text.withUnsafeBytes { Array($0) })
            unlink(path)
        }
        return batches.indices.map { texts[$0 % texts.count] }
    }
}

/// Nobody is asked for anything.
private struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw FeedbusError("http.connect", "there is no network here")
    }
}
