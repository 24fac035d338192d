// feedbus: what the floors of the flow benchmarks are made of.

import FeedbusFlow

/// A stage of the plainest reactive library: a closure in a class.
final class Node {
    let take: (Int) -> Void
    /// Not inlined: else the optimiser sees through the closures and works out the sum without a loop.
    @inline(never) init(_ take: @escaping (Int) -> Void) { self.take = take }
}

/// A number that closures share.
///
/// `@unchecked Sendable`: a flow calls its collector one call after the other; the benchmark reads it when all is over.
final class Sum: @unchecked Sendable {
    var value = 0
}

/// A number that closures share, without a check for exclusivity: where what is measured costs as little as the check.
///
/// `@unchecked Sendable`: as `Sum`.
final class UncheckedSum: @unchecked Sendable {
    @exclusivity(unchecked) var value = 0
}

/// `count` numbers in chunks of `size`, each chunk made anew.
func numbers(_ count: Int, chunk size: Int) -> Flow<Int> {
    Flow { emit in
        var next = 0
        while next < count {
            let end = min(next + size, count)
            try await emit(size == 1 ? Chunk(one: next) : Chunk(Array(next..<end)))
            next = end
        }
    }
}
