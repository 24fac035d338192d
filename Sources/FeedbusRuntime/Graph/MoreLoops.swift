// feedbus: the loops of the program beyond the first.

import FeedbusLoop

/// Loops that run, each on a thread of its own.
struct MoreLoops: Sendable {
    private let loops: [EventLoop]
    private let threads: [LoopThread]

    private init(_ loops: [EventLoop], _ threads: [LoopThread]) {
        self.loops = loops
        self.threads = threads
    }

    /// - Throws: `FeedbusError` with the code `loop.failed` when the system lacks something for one of them; then none
    ///   runs.
    static func start(_ count: Int) async throws -> MoreLoops {
        var loops: [EventLoop] = []
        var threads: [LoopThread] = []
        do {
            for number in 0..<count {
                let loop = try EventLoop.make(name: "loop \(number + 1)")
                threads.append(try LoopThread(running: loop))
                loops.append(loop)
            }
        } catch {
            await MoreLoops(loops, threads).stop()
            throw error
        }
        return MoreLoops(loops, threads)
    }

    var forGraph: [GraphLoop] { loops.map { GraphLoop(host: $0, clock: $0.clock) } }

    /// Returns when all have closed their handles and their threads have ended.
    func stop() async {
        for loop in loops { loop.stop() }
        for thread in threads { await thread.join() }
    }
}

extension Plan {
    /// How many loops beyond the first have something to host.
    var moreLoops: Int {
        let consumers = nodes.count { node in
            switch node.role {
            case .source, .subject: false
            case .stage, .join, .routing, .sink: true
            }
        }
        return min(settings.loops - 1, consumers)
    }

    /// The stages whose work several instances share.
    var shared: [PlannedNode] { nodes.filter { $0.workers > 1 } }

    /// A thread of the pool for each instance that may be at work, and some for all else.
    var poolThreads: Int { ThreadPool.usual + shared.reduce(0) { $0 + $1.workers } }
}
