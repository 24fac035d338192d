// feedbus: programs that plugins start in a simulation.

public import FeedbusBase
import FeedbusFlow

/// Stands in for a program that a plugin starts. Its work is jobs of the loop, in the seeded order.
public struct SimulatedProgram: Sendable {
    /// A started program's arguments and standard streams.
    public struct Streams: Sendable {
        public let arguments: [String]
        let run: ProgramRun

        /// The next bytes on its standard input; nil at the end.
        public func read() async throws -> Bytes? { try await run.input.next()?.joined }
        /// Writes to its standard output; waits while nobody reads.
        public func write(_ bytes: Bytes) async throws { try await run.output.send([bytes]) }
        /// Writes to its standard error; waits while nobody reads.
        public func writeError(_ bytes: Bytes) async throws { try await run.errors.send([bytes]) }
    }

    let main: @Sendable (Streams) async throws -> Int32

    /// - Parameter main: what the program does; returns its exit code. It is cancelled by a signal; what it throws ends it
    ///   with the code 1.
    public init(main: @escaping @Sendable (Streams) async throws -> Int32) { self.main = main }

    /// Prints a text and ends.
    public static func printing(_ text: String, exitCode: Int32 = 0) -> SimulatedProgram {
        SimulatedProgram { streams in
            try await streams.write(Bytes(text))
            return exitCode
        }
    }

    /// Answers each piece of its input that ends with `separator` (a line, by default) with a text, separator included.
    public static func answering(
        separator: String = "\n", _ answer: @escaping @Sendable (String) -> String
    ) -> SimulatedProgram {
        SimulatedProgram { streams in
            var rest: [UInt8] = []
            while let bytes = try await streams.read() {
                bytes.withUnsafeBytes { rest += $0 }
                while let end = rest.firstIndex(where: { separator.utf8.first == $0 }) {
                    let piece = String(decoding: rest[..<end], as: UTF8.self)
                    rest.removeFirst(end + 1)
                    try await streams.write(Bytes(answer(piece) + separator))
                }
            }
            return 0
        }
    }

    static func baseName(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
}
