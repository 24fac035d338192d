// feedbus: measures the benchmarks on a loop, and prints the figures.

import FeedbusBase
import FeedbusLoop

/// `feedbus-benchmarks [--json] [--global] [NAME …]`: runs those of one of the names, or, where none is called that, those
/// whose name contains the word; all without one. They run on a loop, as in feedbus; with `--global` on Swift's own threads,
/// as in a program that only uses the library: there, flows that are collected side by side run side by side.
@main
enum BenchmarkRunner {
    static let benchmarks: [any Benchmark.Type] = [
        // First: memory that others have freed would be used again.
        IdleSubscription.self, MapFilterScan.self, MapFilterScanOnes.self, SubjectFanOut.self, SubjectFanOutReplay.self,
        MergeOfEight.self,
        FlatMapGrid.self, FlatMapGridOnes.self,
        CombineLatestOfTwo.self, CombineLatestOfTwoOnes.self, ZipOfTwo.self, ZipOfTwoOnes.self,
        WithLatestFromOfTwo.self,
        WithLatestFromOfTwoOnes.self,
        ActorCall.self, ContinuationHandOff.self, EdgeHandOff.self, EdgeHandOffRoomy.self, DirectHandOff.self,
        ReceiptCost.self,
    ]
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
        let chosen = benchmarks.filter { type in wanted.isEmpty || wanted.contains { isMeant(type.name, by: $0) } }
        let loop = try EventLoop.make(name: "benchmarks")
        let measureAll: @Sendable () async throws -> [Measurement] = {
            var found: [Measurement] = []
            for type in chosen { found.append(try await measure(type, on: loop)) }
            return found
        }
        loop.task {
            defer { loop.stop() }
            let isGlobal = arguments.contains("--global")
            let found = isGlobal ? try await onThreads(measureAll) : try await measureAll()
            report(found, asJSON: asJSON)
        }
        try loop.run()
    }

    private static func onThreads(
        _ work: @escaping @Sendable () async throws -> [Measurement]
    ) async throws -> [Measurement] {
        try await Task.detached { try await work() }.value
    }

    private static func isMeant(_ name: String, by word: String) -> Bool {
        benchmarks.contains { $0.name == word } ? name == word : name.contains(word)
    }

    static func measure(_ type: any Benchmark.Type, on loop: EventLoop) async throws -> Measurement {
        var figures: [Double] = []
        var floors: [Double] = []
        var ratios: [Double] = []
        let first = try await type.init().run(on: loop)
        // Later runs would find the memory that this one has used.
        if type.measure == .heap { figures = [Double(first) / Double(type.operations)] }
        for _ in 0..<(type.measure == .heap ? 0 : runs) {
            let benchmark = type.init()
            let start = loop.clock.now
            let hasFloor = benchmark.floor() != nil
            let middle = loop.clock.now
            let result = try await benchmark.run(on: loop)
            let took = loop.clock.now - middle
            precondition(result != .min, "a benchmark must return a figure that depends on its work")
            figures.append(Double(took.nanoseconds) / Double(type.operations))
            guard hasFloor else { continue }
            floors.append(Double((middle - start).nanoseconds) / Double(type.operations))
            ratios.append(figures.last! / max(floors.last!, 0.001))
        }
        return Measurement(
            name: type.name, unit: type.unit, measure: type.measure, operations: type.operations,
            median: median(figures)!, best: figures.min()!, limit: type.limit, floor: median(floors),
            ratioLimit: type.ratioLimit, ratio: median(ratios))
    }

    private static func median(_ figures: [Double]) -> Double? {
        figures.isEmpty ? nil : figures.sorted()[figures.count / 2]
    }

    static func report(_ found: [Measurement], asJSON: Bool) {
        if asJSON {
            func number(_ value: Double?) -> String { value.map { "\($0)" } ?? "null" }
            let lines = found.map { one in
                "{\"name\":\"\(one.name)\",\"unit\":\"\(one.unit)\",\"operations\":\(one.operations),"
                    + "\"median_\(one.measure.rawValue.lowercased())\":\(one.median),"
                    + "\"best_\(one.measure.rawValue.lowercased())\":\(one.best),"
                    + "\"limit_\(one.measure.rawValue.lowercased())\":\(number(one.limit)),"
                    + "\"floor_ns\":\(number(one.floor)),\"ratio\":\(number(one.ratio)),"
                    + "\"ratio_limit\":\(number(one.ratioLimit)),\"met\":\(one.isMet)}"
            }
            print("[" + lines.joined(separator: ",\n ") + "]")
            return
        }
        func short(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
        for one in found {
            let mark = !one.hasGoal ? "    " : one.isMet ? "ok  " : "OVER"
            var text = "\(mark) \(short(one.median)) \(one.measure.rawValue)  \(one.name): \(one.unit)"
            if let limit = one.limit { text += " (at most \(limit))" }
            if let floor = one.floor, let ratio = one.ratio {
                text += "; floor \(short(floor)) ns, ratio \(short(ratio))"
                if let limit = one.ratioLimit { text += " (at most \(limit))" }
            }
            print(text)
        }
    }
}
