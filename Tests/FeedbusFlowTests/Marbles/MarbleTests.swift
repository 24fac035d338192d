// feedbus: the marble cases that were run on RxSwift, rxjs and RxJava, on feedbus's flows.

import FeedbusTestKit
import Testing

@Suite struct MarbleTests {
    /// Where feedbus differs on purpose in which sources it touches, and why.
    static let untouched = [
        // Rx subscribes the source and drops it at once; here what comes before it has already ended the collection.
        "startWith.take1_skips_source": ["s": [[Int?]]()],
        "takeUntil.sync_notifier": ["s": [[Int?]]()],
    ]

    @Test(arguments: MarbleFile.ready) func `case`(_ item: MarbleCase) throws { try play(item) }

    @Test(arguments: MarbleFile.ready) func doesNotDependOnHowTheInputWasCut(_ item: MarbleCase) throws {
        for seed in 0..<20 as Range<UInt64> { try play(item, seed: seed) }
    }

    private func play(_ item: MarbleCase, seed: UInt64? = nil) throws {
        try Simulation.run { simulation in
            let run = MarbleRun(item, simulation, seed: seed)
            try await run.play()
            let timelines = run.timelines.map(\.values)
            #expect(timelines == item.expected, seed.map { "seed \($0)" } ?? "")
            for (name, expected) in item.expectSourceSubscriptions ?? [:] {
                // A recommendation changes the timelines; the file then does not say when its sources are released.
                if item.recommend?.expect == nil || item.recommend?.expect == item.expect {
                    let expected = Self.untouched[item.id]?[name] ?? expected
                    #expect(run.sources[name]!.subscriptions == expected, "source \(name)")
                }
            }
            await run.stop()
        }
    }

    /// Fails where the file has what this runner does not know, and says what: those cases did not run.
    @Test func everyCaseOfTheFileRuns() {
        let waiting = Dictionary(grouping: MarbleFile.waiting, by: \.1).sorted { $0.key < $1.key }
        print("MarbleTests: \(MarbleFile.ready.count) of \(MarbleFile.all.count) cases of \(MarbleFile.path) ran")
        for (what, cases) in waiting {
            Issue.record("this runner lacks \(what), which is wanted by \(cases.map(\.0).joined(separator: ", "))")
        }
    }
}
