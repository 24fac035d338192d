// feedbus: who takes the next chunk, and what goes on in which order, on values.

import Testing

@testable import FeedbusRuntime

struct WorkersStateMachineTests {
    typealias Machine = WorkersStateMachine<String>

    /// Asks in a task of its own, so that it can be seen whether it was told.
    private static func asking(_ machine: inout Machine) async -> Bool {
        await withUnsafeContinuation { worker in machine.ask(worker).run() }
    }

    private static func take(_ machine: inout Machine) async -> Int {
        #expect(await asking(&machine))
        var actions = Machine.Actions()
        return machine.took(&actions)
    }

    private static func finish(_ machine: inout Machine, _ number: Int, _ result: String?, weight: Int = 1) {
        var actions = Machine.Actions()
        guard case .yes = machine.finish(number, result, weight: weight, &actions) else {
            Issue.record("not taken")
            return
        }
    }

    /// What can go on now.
    private static func drain(_ machine: inout Machine) -> [String] {
        var done: [String] = []
        var actions = Machine.Actions()
        while true {
            switch machine.next(&actions) {
            case .finished(let text):
                done.append(text)
                machine.handedOn(&actions)
            case .end: return done + ["end"]
            case .wait: return done
            }
        }
    }

    @Test func whatIsFinishedGoesOnInTheOrderInWhichItWasTaken() async {
        var machine = Machine(workers: 2, weightLimit: 100)
        for number in 0..<4 { #expect(await Self.take(&machine) == number) }
        Self.finish(&machine, 2, "c")
        #expect(Self.drain(&machine) == [])
        Self.finish(&machine, 0, "a")
        #expect(Self.drain(&machine) == ["a"])
        Self.finish(&machine, 1, nil)
        #expect(Self.drain(&machine) == ["c"])
        machine.endReading().run()
        #expect(Self.drain(&machine) == [])
        Self.finish(&machine, 3, "d")
        #expect(Self.drain(&machine) == ["d", "end"])
        #expect(await Self.asking(&machine) == false)
    }

    @Test func aReaderThatIsLateStillCounts() async {
        var machine = Machine(workers: 2, weightLimit: 100)
        #expect(await Self.asking(&machine))
        machine.endReading().run()
        #expect(Self.drain(&machine) == [])
        var actions = Machine.Actions()
        #expect(machine.took(&actions) == 0)
        Self.finish(&machine, 0, "a")
        #expect(Self.drain(&machine) == ["a", "end"])
    }

    @Test func afterTheEndNothingIsOwed() async {
        for (isComplete, expected) in [(true, "let go"), (false, "undelivered")] {
            var machine = Machine(workers: 2, weightLimit: 100)
            for _ in 0..<3 { _ = await Self.take(&machine) }
            Self.finish(&machine, 2, "c")
            Self.finish(&machine, 1, "b")
            var actions = Machine.Actions()
            #expect(machine.close(isComplete: isComplete, &actions) == ["b", "c"])
            let taken =
                switch machine.finish(0, "a", weight: 1, &actions) {
                case .yes: "taken"
                case .letGo: "let go"
                case .undelivered: "undelivered"
                }
            #expect(taken == expected)
        }
    }
}
