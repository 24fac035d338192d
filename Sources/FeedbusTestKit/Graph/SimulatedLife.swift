// feedbus: one life of a simulated program, from its start to its end or its death.

import FeedbusBase
import FeedbusPlugin
import Synchronization

/// What the parts of one life share. Once it is dead, nothing that its plugins still do counts or is seen.
final class SimulatedLife: Sendable {
    let world: SimulatedWorld
    /// 1...
    let number: Int
    let faults: FaultPlan
    let tally: DeliveryTally
    let loop: ManualLoop
    /// All loops of the program, of which `loop` is the first.
    let loops: [ManualLoop]
    let clock: VirtualClock
    private let dead = Atomic(false)
    private let processes = Atomic<Int32>(0)

    init(
        world: SimulatedWorld, number: Int, loops: Int, faults: FaultPlan, tally: DeliveryTally, start: WallTime
    ) {
        self.world = world
        self.number = number
        self.faults = faults
        self.tally = tally
        let first = ManualLoop(seed: world.draw())
        loop = first
        self.loops = [first] + (1..<loops).map { _ in ManualLoop(beside: first) }
        clock = VirtualClock(loop: loop, start: start)
    }

    var isDead: Bool { dead.load(ordering: .relaxed) }

    func die() { dead.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` when the program is dead: what goes on after a power cut reaches nobody.
    func checkAlive() throws { if isDead { throw CancellationError() } }

    /// One line of the trace: the life, its time in seconds, the job, and what happened.
    func note(_ text: @autoclosure () -> String) {
        if isDead { return }
        let nanoseconds = clock.now.nanoseconds
        let fraction = String(nanoseconds % 1_000_000_000)
        let zeros = String(repeating: "0", count: 9 - fraction.count)
        world.trace.add("\(number) \(nanoseconds / 1_000_000_000).\(zeros)\(fraction) #\(loop.jobCount) \(text())")
    }

    /// The number of a new process.
    func nextProcess() -> Int32 { processes.wrappingAdd(1, ordering: .relaxed).newValue }

    func chance(_ probability: Double) -> Bool { !isDead && world.chance(probability) }

    func pause(upTo longest: Duration) -> Duration { isDead ? .zero : world.pause(upTo: longest) }

    /// Ids for the trace, the first few.
    static func shown(_ events: some Collection<Event>) -> String {
        let ids = events.prefix(8).map { $0.id.string }.joined(separator: " ")
        return events.count > 8 ? "\(ids) … (\(events.count))" : ids
    }

    /// Of the events' content; the same in every process.
    static func checksum(_ events: some Sequence<Event>) -> String {
        var hash: UInt64 = 0
        func mix(_ bytes: Bytes) {
            bytes.withUnsafeBytes { buffer in
                var place = 0
                while place + 8 <= buffer.count {
                    hash =
                        (hash ^ buffer.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
                    hash ^= hash >> 29
                    place += 8
                }
                while place < buffer.count {
                    hash = (hash ^ UInt64(buffer[place])) &* 0x100_0000_01B3
                    place += 1
                }
            }
            hash = (hash ^ UInt64(bytes.count)) &* 0x100_0000_01B3
        }
        for event in events {
            mix(event.id)
            mix(event.subject)
            mix(event.time)
            mix(event.data)
            for attribute in event.attributes { mix(attribute.value) }
        }
        return String(hash, radix: 16)
    }
}
