// feedbus: a place for a whole program to run in a test.

public import Feedbus
import FeedbusPlugin

extension PluginBench {
    /// The outside of a program that uses feedbus as a library: the bench's answers in place of services, virtual time, and
    /// `lines` in place of the terminal.
    ///
    ///     try Simulation.run { simulation in
    ///         let bench = PluginBench(simulation)
    ///         bench.answer("https://example.org/feed", "hello")
    ///         try await headlines(bench.app(once: true))
    ///         #expect(bench.lines == ["hello"])
    ///     }
    public func app(
        once: Bool = false, arguments: [String] = [], retry: RetryPolicy = RetryPolicy(attempts: 1)
    ) -> App {
        let context = context(node: "app", retry: retry)
        return App(
            http: context.http, clock: context.clock, host: context.host, log: context.log, once: once,
            arguments: arguments, seed: context.seed
        ) { line in self.print(line) }
    }
}
