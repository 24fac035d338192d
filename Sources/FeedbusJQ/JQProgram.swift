// feedbus: a compiled jq program.

import CJQ
public import FeedbusBase

/// How a program ended for one input.
public enum JQEnd: Sendable, Equatable {
    case done
    /// jq's message, shortened where it is long.
    case failed(String)
    /// `halt` stopped it.
    case halted
}

/// A jq program (https://jqlang.org, the version of the installed libjq) and the machine that runs it.
///
/// Outputs are what `jq -c` prints. A program has no hands in the process: `$ENV` and `env` are empty, `debug` and
/// `stderr` do nothing, and `input`, `halt`, `import` and their kin are refused. As jq does, it takes numbers for
/// doubles: digits beyond the 17th are lost, and 1.0 becomes 1.
///
/// `@unchecked Sendable`: whoever has it uses it on one thread at a time (a stage awaits one piece of pool work before it
/// gives the next); only the watch's halt comes from another thread, while a run is on, and libjq looks at the flag that it
/// sets before each step.
public final class JQProgram: @unchecked Sendable {
    public let text: String
    private let program: OpaquePointer
    private let outputLimit: Int
    /// Looks after the runs, from any thread.
    public let watch: JQWatch

    /// An input, or an output, that nests deeper is an error.
    static let maximumDepth = 1000
    static let maximumOutputs = 100_000

    /// Takes some 50 ms of processor time: jq compiles its own library each time.
    /// - Parameter outputLimit: bytes that the outputs of one input may have together, 1...
    public init(_ text: String, outputLimit: Int = 64 << 20) throws(JQCompileError) {
        guard !text.utf8.contains(0) else { throw JQCompileError("it contains a NUL character") }
        var message: UnsafeMutablePointer<CChar>?
        guard let program = cjq_make(text, &message) else {
            defer { cjq_free_message(message) }
            throw message.map { JQCompileError(jq: String(cString: $0)) } ?? JQCompileError("no memory")
        }
        self.text = text
        self.program = program
        self.outputLimit = outputLimit
        let machine = Machine(program)
        watch = JQWatch { machine.halt() }
    }

    deinit { cjq_free(program) }

    /// Runs the program on a text and appends its outputs, one behind the other, to `writer`.
    /// - Parameters:
    ///   - input: valid JSON.
    ///   - output: called for each output, with where it stands in what the writer has.
    public func run(
        _ input: UnsafeRawBufferPointer, into writer: inout ByteWriter, _ output: (Range<Int>) -> Void
    ) -> JQEnd {
        guard start(input) else { return JQProgram.unreadable }
        defer { watch.end() }
        guard watch.begin() else { return .halted }
        let first = writer.count
        var count = 0
        while true {
            var text: UnsafePointer<CChar>?
            var length = 0
            let status = cjq_next(program, true, &text, &length)
            guard status == cjq_true || status == cjq_false else { return JQProgram.end(status, text, length) }
            count += 1
            guard count <= JQProgram.maximumOutputs, writer.count - first + length <= outputLimit else {
                return .failed("it gives more than \(JQProgram.maximumOutputs) values or \(outputLimit) bytes")
            }
            let start = writer.count
            writer.append(UnsafeRawBufferPointer(start: text, count: length))
            output(start..<writer.count)
        }
    }

    /// Whether the program gives, for a text, any output but `false` and `null`; it is not run further than to the first.
    /// - Returns: false where the end is not `.done`.
    public func holds(for input: UnsafeRawBufferPointer) -> (holds: Bool, end: JQEnd) {
        guard start(input) else { return (false, JQProgram.unreadable) }
        defer { watch.end() }
        guard watch.begin() else { return (false, .halted) }
        for _ in 0..<JQProgram.maximumOutputs {
            var text: UnsafePointer<CChar>?
            var length = 0
            let status = cjq_next(program, false, &text, &length)
            if status == cjq_true { return (true, .done) }
            guard status == cjq_false else { return (false, JQProgram.end(status, text, length)) }
        }
        return (false, .failed("it gives more than \(JQProgram.maximumOutputs) values"))
    }

    private func start(_ input: UnsafeRawBufferPointer) -> Bool {
        cjq_start(program, input.baseAddress, input.count, UInt32(JQProgram.maximumDepth))
    }

    private static let unreadable = JQEnd.failed("jq cannot take it: deeper than 1000, or larger than 1 GiB")

    private static func end(_ status: cjq_status, _ text: UnsafePointer<CChar>?, _ length: Int) -> JQEnd {
        switch status {
        case cjq_error:
            let message = String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
            return .failed(message.isEmpty ? "jq gives no reason" : message.limited(to: 200))
        case cjq_halted: return .halted
        default: return .done
        }
    }
}

/// The machine as far as the watch needs it.
///
/// `@unchecked Sendable`: it is only halted, which any thread may do while a run is on; a run keeps the program alive.
private struct Machine: @unchecked Sendable {
    private let program: OpaquePointer

    init(_ program: OpaquePointer) { self.program = program }

    func halt() { cjq_halt(program) }
}
