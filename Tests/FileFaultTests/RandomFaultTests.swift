// feedbus: the JSON-lines sink under faults drawn from seeds.

import FeedbusPlugin
import FeedbusTestKit
import Glibc
import Synchronization
import Testing

@testable import JSONLinesPlugin

struct RandomFaultTests {
    private static let policies = ["none", "batch", "1s"]
    private static let rotations = ["", ", \"rotate\": {\"size\": \"2KiB\"}", ", \"rotate\": {\"every\": \"1h\"}"]

    /// Whatever fails, in whatever order: when a batch counts as delivered its lines are there, and at the end the files
    /// hold exactly the lines, each whole, each once, in order.
    @Test(arguments: 0..<108)
    func linesSurviveWhateverFails(number: Int) throws {
        let seed = UInt64(number)
        var dice = SplitMix64(seed: seed &+ 0x5EED)
        let policy = Self.policies[number % 3]
        let rotation = Self.rotations[number / 3 % 3]
        let format = number / 9 % 2 == 0 ? "data" : "cloudevents"
        let chance = [0.02, 0.1, 0.3, 0.5][number / 18 % 4]
        let plan = (0..<25).map { _ in Step(&dice) }
        try withRig(", \"fsync\": \"\(policy)\"\(rotation)", format: format, seed: seed) { rig in
            try await rig.sink.open()
            rig.files.roll(seed: seed, chance: chance)
            var count = 0
            for (index, step) in plan.enumerated() {
                try await rig.pass(step.pause)
                switch step.deed {
                case .nothing: break
                case .rename: rename(rig.path, "\(rig.folder)/moved-\(index)")
                case .reopen: try await rig.sink.reopen()
                }
                try await rig.sink.write(numbered(count..<count + step.count, pad: { $0 % 7 * step.pad }))
                count += step.count
                self.look(rig, count, isSafe: policy == "batch")
            }
            rig.files.roll(seed: seed, chance: 0)
            try await rig.sink.write(numbered(count..<count + 1))
            count += 1
            if policy == "1s" { try await rig.pass(.seconds(30)) }
            try await rig.sink.close()
            self.look(rig, count, isSafe: policy != "none")
            self.check(rig, count)
            #expect(!rig.errors.contains { $0.contains("waiting until") } || !rig.recoveries.isEmpty)
        }
    }

    /// As many whole lines as have been written, and on the disk where that is promised.
    private func look(_ rig: Rig, _ count: Int, isSafe: Bool) {
        var found = 0
        for name in rig.names {
            let text = rig.read(name).utf8
            #expect(text.isEmpty || text.last == UInt8(ascii: "\n"), "\(name) ends in a part of a line")
            found += text.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
            if isSafe { #expect(rig.files.isSafe("\(rig.folder)/\(name)"), "\(name) is not on the disk") }
        }
        #expect(found == count)
    }

    private func check(_ rig: Rig, _ count: Int) {
        var parts: [[Int]] = []
        for name in rig.names {
            let numbers = rig.read(name).split(separator: "\n").map { line -> Int in
                guard let value = try? JSON.parse(Bytes(String(line))) else { return -1 }
                return (value["data"] ?? value)["n"]?.int ?? -1
            }
            if !numbers.isEmpty { parts.append(numbers) }
        }
        parts.sort { $0[0] < $1[0] }
        #expect(parts.flatMap(\.self) == Array(0..<count))
    }

    private struct Step {
        enum Deed { case nothing, rename, reopen }
        var pause: Duration
        var deed: Deed
        var count: Int
        var pad: Int

        init(_ dice: inout SplitMix64) {
            pause = .milliseconds([0, 10, 100, 5_000, 2_000_000].randomElement(using: &dice)!)
            deed = [Deed.nothing, .nothing, .nothing, .nothing, .rename, .reopen].randomElement(using: &dice)!
            count = Int.random(in: 1...30, using: &dice)
            pad = [0, 3, 40].randomElement(using: &dice)!
        }
    }
}
