// feedbus: the marble cases that were run on RxSwift, rxjs and RxJava, and our own, on feedbus's flows.

import FeedbusTestKit
import Testing

@Suite struct MarbleTests {
    /// Where feedbus differs on purpose in which sources it touches, and why.
    static let untouched = [
        // Rx subscribes the source and drops it at once; here what comes before it has already ended the collection.
        "startWith.take1_skips_source": ["s": [[Int?]]()],
        "takeUntil.sync_notifier": ["s": [[Int?]]()],
    ]

    @Test(arguments: MarbleFile.shared.ready) func `case`(_ item: MarbleCase) throws { try play(item, .single) }

    @Test(arguments: MarbleFile.shared.ready) func doesNotDependOnHowTheInputWasCut(_ item: MarbleCase) throws {
        try playCut(item)
    }

    @Test(arguments: MarbleFile.own.ready) func ownCase(_ item: MarbleCase) throws { try play(item, .single) }

    @Test(arguments: MarbleFile.own.ready) func ownDoesNotDependOnHowTheInputWasCut(_ item: MarbleCase) throws {
        try playCut(item)
    }

    /// Fails where a file has what this runner does not know, and says what: those cases did not run.
    @Test func everyCaseOfTheFilesRuns() {
        for file in [MarbleFile.shared, .own] {
            print("MarbleTests: \(file.ready.count) of \(file.all.count) cases of \(file.path) ran")
            for entry in file.unreadable { Issue.record("\(file.path) has no case at \(entry)") }
            for (lack, cases) in Dictionary(grouping: file.waiting, by: \.lack).sorted(by: { $0.key < $1.key }) {
                Issue.record("this runner lacks \(lack), wanted by \(cases.map(\.id).joined(separator: ", "))")
            }
        }
        #expect(!MarbleFile.own.ready.isEmpty)
    }

    // MARK: - Helpers

    private func playCut(_ item: MarbleCase) throws {
        try play(item, .whole, "whole chunks")
        for seed in SimulationSeeds.range(20) { try play(item, MarbleCuts(seed: seed), "seed \(seed)") }
    }

    private func play(_ item: MarbleCase, _ cuts: MarbleCuts, _ remark: String = "") throws {
        try Simulation.run { simulation in
            let run = try MarbleRun(item, simulation, cuts: cuts)
            try await run.play()
            let timelines = run.timelines.map(\.values)
            #expect(timelines == item.expected, "\(remark)")
            for (name, expected) in item.expectSourceSubscriptions ?? [:] {
                // A recommendation changes the timelines; the file then does not say when its sources are released.
                if item.recommend?.expect == nil || item.recommend?.expect == item.expect {
                    let expected = Self.untouched[item.id]?[name] ?? expected
                    #expect(run.sources[name]?.subscriptions == expected, "source \(name) \(remark)")
                }
            }
            await run.stop()
        }
    }
}
