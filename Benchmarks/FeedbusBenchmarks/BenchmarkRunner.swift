// feedbus: measures the benchmarks on a loop, and prints the figures.

import FeedbusBase
import FeedbusLoop

/// `feedbus-benchmarks [--json] [NAME …]`: runs those whose name contains one of the words; all without one.
@main
enum BenchmarkRunner {
    static let benchmarks: [any Benchmark.Type] = [ActorCall.self, ContinuationHandOff.self, EdgeHandOff.self]
    static let runs = 7

    static func main() throws {
        #if DEBUG
            print(
                "WARNING: this is a debug build; its figures mean nothing. Use: swift run -c release feedbus-benchmarks"
            )
        #endif
        let arguments = CommandLine.arguments.dropFirst()
        let asJSON = arguments.contains("--json")
        let wanted = arguments.filter { !$0.hasPrefix("--") }
        let chosen = benchmarks.filter { type in wanted.isEmpty || wanted.contains { type.name.contains($0) } }
        let loop = try EventLoop.make(name: "benchmarks")
        loop.task {
            defer { loop.stop() }
            var found: [Measurement] = []
            for type in chosen { found.append(try await measure(type, on: loop)) }
            report(found, asJSON: asJSON)
        }
        try loop.run()
    }

    static func measure(_ type: any Benchmark.Type, on loop: EventLoop) async throws -> Measurement {
        var times: [Double] = []
        _ = try await type.init().run(on: loop)
        for _ in 0..<runs {
            let benchmark = type.init()
            let start = loop.clock.now
            let result = try await benchmark.run(on: loop)
            let took = loop.clock.now - start
            precondition(result != .min, "a benchmark must return a figure that depends on its work")
            times.append(Double(took.nanoseconds) / Double(type.operations))
        }
        times.sort()
        return Measurement(
            name: type.name, unit: type.unit, operations: type.operations, median: times[times.count / 2],
            best: times[0],
            limit: type.limit)
    }

    static func report(_ found: [Measurement], asJSON: Bool) {
        if asJSON {
            let lines = found.map { one in
                "{\"name\":\"\(one.name)\",\"unit\":\"\(one.unit)\",\"operations\":\(one.operations),"
                    + "\"median_ns\":\(one.median),\"best_ns\":\(one.best),\"limit_ns\":\(one.limit.map { "\($0)" } ?? "null")}"
            }
            print("[" + lines.joined(separator: ",\n ") + "]")
            return
        }
        for one in found {
            let mark = one.limit == nil ? "    " : one.isMet ? "ok  " : "OVER"
            let limit = one.limit.map { " (at most \($0))" } ?? ""
            print("\(mark) \((one.median * 10).rounded() / 10) ns  \(one.name): \(one.unit)\(limit)")
        }
    }
}
