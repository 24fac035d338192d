// feedbus: what stands in for a running program where none is started.

package import FeedbusBase

/// The other side of a `ChildProcess` in a test: the same calls with the same meaning.
package protocol SimulatedChild: Sendable {
    func readOutput() async throws -> Bytes?
    func readErrors() async throws -> Bytes?
    /// - Returns: false when the program does not read any more, or its input was closed.
    func write(_ bytes: Bytes) async throws -> Bool
    func closeInput()
    func wait() async -> ChildExit
    func kill(_ signal: Int32)
    /// Nobody refers to the child any more: its pipes are closed, and it is told to end.
    func abandon()
}
