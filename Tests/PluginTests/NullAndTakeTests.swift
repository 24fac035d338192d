// feedbus: the two smallest plugins.

import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import NullPlugin
import TakePlugin
import Testing

struct NullAndTakeTests {
    @Test func nullCounts() throws {
        let book = LogBook()
        try Simulation.run { simulation in
            let null: any Sink = Null(
                options: NullOptions(),
                context: context(on: ManualHost(loop: simulation.loop), clock: simulation.clock, book: book))
            try await null.write(numbered(0..<3))
            try await null.write(numbered(3..<4))
            try await null.close()
        }
        #expect(book.messages() == ["threw away 4 events"])
    }

    @Test(arguments: [(1, 1), (5, 5), (1_000, 10)])
    func takePassesTheFirst(count: Int, passed: Int) throws {
        let collected = Collected()
        try Simulation.run { simulation in
            let take = Take(
                options: try options(TakeOptions.self, "{\"count\": \(count)}"),
                context: context(on: ManualHost(loop: simulation.loop), clock: simulation.clock))
            try await take.transform(.from(numbered(0..<10))).collect { collected.add($0) }
        }
        #expect(collected.events.map(\.id.string) == (0..<passed).map(String.init))
    }
}
