// feedbus: the store of dead letters, on a real SQLite file.

import FeedbusBase
import Testing

@testable import FeedbusStore

struct DeadLetterTests {
    private let noon = WallTime(year: 2026, month: 11, day: 30, hour: 12)!

    private func letters(_ numbers: some Sequence<Int>, node: String = "log") -> [DeadLetter] {
        numbered(numbers).map { DeadLetter(node: node, reason: "refused", at: noon, body: .event($0)) }
    }

    private func ids(_ store: StateStore, node: String? = nil) async throws -> [String] {
        try await store.deadLetters(node: node).map { letter in
            switch letter.body {
            case .event(let event): event.id.string
            case .raw(let text): text.string
            }
        }
    }

    @Test func lettersOutliveTheStoreAndAreRemovedOneByOne() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            #expect(try await store.deadLetters().isEmpty)
            let raw = DeadLetter(node: "in", reason: "no JSON", at: noon, body: .raw(Bytes("{\"half")))
            let taken = try await store.add(letters(1...3) + [raw], cap: DeadLetterCap())
            #expect(taken == DeadLettersTaken(settled: 4, dropped: 0))
            await store.close()
            let again = try await bench.open()
            let found = try await again.deadLetters()
            #expect(found.map(\.number) == [1, 2, 3, 4])
            var last = raw
            last.number = 4
            #expect(found.last == last)
            #expect(found.first?.body == .event(numbered([1])[0]))
            #expect(try await ids(again, node: "in") == ["{\"half"])
            try await again.removeDeadLetters([2, 99])
            #expect(try await ids(again) == ["1", "3", "{\"half"])
            #expect(try await again.deadLetters(after: 1, through: 3).map(\.number) == [3])
            // The number of a letter that went is not given again.
            try await again.removeDeadLetters([4])
            _ = try await again.add(letters([5]), cap: DeadLetterCap())
            #expect(try await again.deadLetters().map(\.number) == [1, 3, 5])
            await again.close()
        }
    }

    @Test(arguments: [
        (DeadLetterCap.WhenFull.block, ["1", "2", "3"], DeadLettersTaken(settled: 1, dropped: 0)),
        (.dropNewest, ["1", "2", "3"], DeadLettersTaken(settled: 3, dropped: 2, gone: ["log": .init(events: 2)])),
        // What goes is of the time before.
        (.dropOldest, ["3", "4", "5"], DeadLettersTaken(settled: 3, dropped: 2)),
    ])
    func atTheCapThePolicyDecides(
        policy: DeadLetterCap.WhenFull, left: [String], taken: DeadLettersTaken
    ) async throws {
        for byBytes in [false, true] {
            try await StateBench.run { bench in
                var cap = DeadLetterCap()
                if byBytes { cap.bytes = 3 * (100 + 7) } else { cap.events = 3 }
                cap.whenFull = policy
                let store = try await bench.open()
                _ = try await store.add(letters(1...2), cap: cap)
                await store.close()
                // What was there before counts.
                let again = try await bench.open()
                #expect(try await again.add(letters(3...5), cap: cap) == taken)
                #expect(try await ids(again) == left)
                // There is room again.
                try await again.removeDeadLetters([1, 2, 3, 4, 5])
                #expect(try await again.add(letters([6]), cap: cap) == DeadLettersTaken(settled: 1, dropped: 0))
                #expect(try await ids(again) == ["6"])
                await again.close()
            }
        }
    }

    @Test(arguments: [DeadLetterCap.WhenFull.dropOldest, .dropNewest])
    func oneThatIsLargerThanTheCapIsCountedAsDroppedAndTheOthersStay(policy: DeadLetterCap.WhenFull) async throws {
        try await StateBench.run { bench in
            var cap = DeadLetterCap()
            cap.bytes = 1_000
            cap.whenFull = policy
            let store = try await bench.open()
            _ = try await store.add(letters([1]), cap: cap)
            let large = numbered([2], size: 5_000).map {
                DeadLetter(node: "log", reason: "r", at: noon, body: .event($0))
            }
            #expect(
                try await store.add(large, cap: cap)
                    == DeadLettersTaken(settled: 1, dropped: 1, gone: ["log": .init(events: 1)]))
            #expect(try await ids(store) == ["1"])
            await store.close()
        }
    }

    @Test func whoseLettersGoIsSaidOfThoseThatWereAddedSinceTheStateWasOpened() async throws {
        try await StateBench.run { bench in
            var cap = DeadLetterCap()
            cap.events = 4
            cap.whenFull = .dropOldest
            let before = try await bench.open()
            _ = try await before.add(letters(1...2), cap: cap)
            await before.close()
            let store = try await bench.open()
            let raw = DeadLetter(node: "in", reason: "no JSON", at: noon, body: .raw(Bytes("{\"half")))
            #expect(try await store.add(letters(3...3) + [raw], cap: cap) == DeadLettersTaken(settled: 2))
            // Two of the time before, then one of each node, then those that were added a moment ago.
            let taken = try await store.add(letters(5...10, node: "other"), cap: cap)
            #expect(
                taken
                    == DeadLettersTaken(
                        settled: 6, dropped: 6,
                        gone: ["log": .init(events: 1), "in": .init(texts: 1), "other": .init(events: 2)]))
            #expect(try await ids(store) == ["7", "8", "9", "10"])
            await store.close()
        }
    }
}
