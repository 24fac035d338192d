// feedbus: a child cannot fill the log.

import FeedbusPlugin
import Lines
import Testing

struct LogBudgetTests {
    @Test func theRestOfAWindowIsCounted() {
        var budget = LogBudget(limit: 2, window: .seconds(10))
        let start = Instant(nanoseconds: 5)
        #expect(budget.ask(at: start) == .pass(leftOut: 0))
        #expect(budget.ask(at: start) == .pass(leftOut: 0))
        for _ in 0..<3 { #expect(budget.ask(at: start + .seconds(9)) == .leaveOut) }
        #expect(budget.ask(at: start + .seconds(10)) == .pass(leftOut: 3))
        #expect(budget.rest() == 0)
    }
}
