// feedbus: what a run has cost: time on the wall, and of all processors.

import Glibc

/// Two times, in seconds.
struct Cost {
    var wall: Double
    /// Of all threads of this process, in user mode and in the system.
    var cpu: Double

    static var now: Cost {
        func clock(_ id: clockid_t) -> Double {
            var time = timespec()
            clock_gettime(id, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        return Cost(wall: clock(CLOCK_MONOTONIC), cpu: clock(CLOCK_PROCESS_CPUTIME_ID))
    }

    static func - (left: Cost, right: Cost) -> Cost {
        Cost(wall: left.wall - right.wall, cpu: left.cpu - right.cpu)
    }

    /// Of each time by itself.
    static func median(_ costs: [Cost]) -> Cost {
        Cost(wall: costs.map(\.wall).sorted()[costs.count / 2], cpu: costs.map(\.cpu).sorted()[costs.count / 2])
    }

    /// `123.4 us a batch (CPU 45.6)`
    func text(_ batches: Int) -> String {
        let (wall, cpu) = (self.wall / Double(batches) * 1e6, self.cpu / Double(batches) * 1e6)
        return "\(rounded(wall, 10)) us a batch (CPU \(rounded(cpu, 10)))"
    }
}

/// A number, in parts of ten, a hundred: `rounded(1.234, 100)` is `1.23`.
func rounded(_ value: Double, _ parts: Int) -> String {
    let text = String(Int((value * Double(parts)).rounded()))
    let digits = String(parts).utf8.count - 1
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.utf8.count)) + text
    return "\(padded.dropLast(digits)).\(padded.suffix(digits))"
}
