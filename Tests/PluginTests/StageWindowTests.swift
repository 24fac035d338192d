// feedbus: which event a child's line answers.

import FeedbusPlugin
import Testing

@testable import ExecPlugin

struct StageWindowTests {
    private func window(_ range: Range<Int>, limit: Int = 100) -> StageWindow {
        var window = StageWindow(limit: limit)
        window.ask(numbered(range))
        return window
    }

    @Test func oneLineOneAnswer() {
        var window = window(0..<1_000, limit: 2_000)
        for number in 0..<1_000 { #expect(window.answer(id: Bytes("\(number)"))?.id == Bytes("\(number)")) }
        #expect(window.count == 0)
    }

    @Test func whatWasAskedBeforeAnAnswerWasLeftOut() {
        var window = window(0..<10)
        #expect(window.answer(id: "4")?.id == "4")
        #expect(window.count == 5)
        #expect(window.answer(id: "3") == nil)
    }

    @Test func severalAnswersInOneReadShareTheEvent() {
        var window = window(0..<3)
        #expect(window.answer(id: "0") != nil)
        #expect(window.answer(id: "0") != nil)
        #expect(window.count == 2)
        window.endOfRead()
        #expect(window.answer(id: "0") == nil)
    }

    @Test func equalIdsAreAnsweredOneByOne() {
        var window = StageWindow()
        window.ask([event("1", id: "x"), event("2", id: "x")])
        #expect(window.answer(id: "x")?.data == "1")
        #expect(window.answer(id: "x")?.data == "2")
    }

    @Test func bareLinesAnswerTheOldest() {
        var window = window(0..<2)
        #expect(window.answerOldest()?.id == "0")
        #expect(window.answerOldest()?.id == "1")
        #expect(window.answerOldest() == nil)
    }

    @Test func aChildThatFiltersIsNotWaitedFor() {
        var window = window(0..<10, limit: 4)
        #expect(window.count == 4)
        #expect(window.all.first?.id == "6")
        window.ask(numbered(10..<20))
        #expect(window.all.map(\.id.string) == ["16", "17", "18", "19"])
    }

    @Test func largeEventsCountByTheirBytes() {
        var window = StageWindow(limit: 100, weightLimit: 10_000)
        let large = "\"\(String(repeating: "x", count: 9_000))\""
        window.ask([event(large, id: "a"), event(large, id: "b")])
        #expect(window.all.map(\.id.string) == ["b"])
    }
}
