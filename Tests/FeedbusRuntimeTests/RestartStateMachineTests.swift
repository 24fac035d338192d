// feedbus: when a failed plugin is started again.

import FeedbusBase
import Testing

@testable import FeedbusRuntime

struct RestartStateMachineTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private func pauses(_ machine: inout RestartStateMachine, failingAt seconds: [Int64]) -> [RestartStateMachine
        .Action]
    {
        seconds.map { second in
            machine.started(at: at(second))
            return machine.failed(at: at(second), unit: 1)
        }
    }

    @Test func pausesDoubleUpToAMinute() {
        var policy = SupervisionPolicy()
        policy.maxRestarts = 100
        var machine = RestartStateMachine(policy: policy, now: at(0))
        let found = pauses(&machine, failingAt: [0, 1, 2, 3, 4, 5, 6, 7])
        #expect(found == [1, 2, 4, 8, 16, 32, 60, 60].map { .restart(after: .seconds($0)) })
    }

    @Test func jitterIsFull() {
        var machine = RestartStateMachine(policy: SupervisionPolicy(), now: at(0))
        #expect(machine.failed(at: at(0), unit: 0) == .restart(after: .zero))
        #expect(machine.failed(at: at(0), unit: 0.5) == .restart(after: .seconds(1)))
    }

    @Test func aQuietMinuteStartsTheSeriesAnew() {
        var machine = RestartStateMachine(policy: SupervisionPolicy(), now: at(0))
        _ = pauses(&machine, failingAt: [0, 1, 2])
        machine.started(at: at(10))
        #expect(machine.failed(at: at(70), unit: 1) == .restart(after: .seconds(1)))
    }

    @Test func moreFailuresThanAllowedWithinTheWindowEndIt() {
        var policy = SupervisionPolicy()
        policy.maxRestarts = 2
        policy.within = .seconds(10)
        var machine = RestartStateMachine(policy: policy, now: at(0))
        let found = pauses(&machine, failingAt: [0, 1, 2])
        #expect(found.last == .giveUp(restarts: 2))
        var patient = RestartStateMachine(policy: policy, now: at(0))
        let spread = pauses(&patient, failingAt: [0, 8, 16, 24])
        #expect(!spread.contains { if case .giveUp = $0 { true } else { false } })
    }
}
