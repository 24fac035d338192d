// feedbus: a compiled jq program.

import CJQ
public import FeedbusBase

/// How a program ended for one input.
public enum JQEnd: Sendable, Equatable {
    case done
    /// jq's message, shortened where it is long.
    case failed(String)
    /// The watch stopped it.
    case halted
}

/// A jq program (https://jqlang.org, the version of the installed libjq) and the process that runs it.
///
/// Outputs are what `jq -c` prints. A program has no hands in the process: `$ENV` and `env` are empty, `debug` and
/// `stderr` do nothing, and `input`, `halt`, `import` and their kin are refused. As jq does, it takes numbers for
/// doubles: digits beyond the 17th are lost, and 1.0 becomes 1.
///
/// It runs in a process of its own, for libjq 1.6 ends its process on some inputs (`nan | todate`, for example), and takes
/// memory without a bound. The process may have 2 GiB. An input that ends it fails, and it is started anew for the others.
///
/// `@unchecked Sendable`: whoever has it uses it on one thread at a time (a stage awaits one piece of pool work before it
/// gives the next); only the watch comes from other threads, with `cjq_kill` and `cjq_progress`, which any thread may call.
public final class JQProgram: @unchecked Sendable {
    public let text: String
    private let process: OpaquePointer
    private let outputLimit: Int
    /// Looks after the runs, from any thread.
    public let watch: JQWatch

    /// An input, or an output, that nests deeper is an error.
    static let maximumDepth = 1000
    static let maximumOutputs = 100_000
    /// What is sent to the process at once, unless one input is larger.
    private static let batchSize = 1 << 20
    private static let batchCount = 1024

    /// Takes some 60 ms: a process starts, and jq compiles its own library each time.
    /// - Parameter outputLimit: bytes that the outputs of one input may have together, 1...
    /// - Throws: `JQCompileError`, also where the process cannot be started, or ends over the program.
    public init(_ text: String, outputLimit: Int = 64 << 20) throws(JQCompileError) {
        guard !text.utf8.contains(0) else { throw JQCompileError("it contains a NUL character") }
        var message: UnsafeMutablePointer<CChar>?
        let made = cjq_start_process(
            text, UInt64(outputLimit), UInt32(JQProgram.maximumOutputs), UInt32(JQProgram.maximumDepth), &message)
        guard let made else {
            defer { cjq_free_message(message) }
            throw message.map { JQCompileError(jq: String(cString: $0)) } ?? JQCompileError("no memory")
        }
        self.text = text
        self.outputLimit = outputLimit
        process = made
        let handle = ProcessHandle(made)
        watch = JQWatch(progress: { handle.progress }, stop: { handle.kill() })
    }

    deinit { cjq_free_process(process) }

    /// Runs the program on texts, one after the other.
    /// - Parameters:
    ///   - inputs: valid JSON each.
    ///   - writer: gets the outputs, one behind the other; of an input that fails, none.
    ///   - body: called for each input, in order, with where its outputs stand in what the writer has; it may empty the
    ///     writer.
    public func run(
        _ inputs: [Bytes], into writer: inout ByteWriter,
        _ body: (_ writer: inout ByteWriter, _ index: Int, _ outputs: [Range<Int>], _ end: JQEnd) -> Void
    ) {
        var start = writer.count
        var outputs: [Range<Int>] = []
        exchange(inputs, asksIfHolds: false) { text in
            let first = writer.count
            writer.append(text)
            outputs.append(first..<writer.count)
        } discard: {
            writer.truncate(to: start)
            outputs.removeAll(keepingCapacity: true)
        } ended: { index, end, _ in
            body(&writer, index, outputs, end)
            start = writer.count
            outputs.removeAll(keepingCapacity: true)
        }
    }

    /// Whether the program gives, for each text, any output but `false` and `null`; it is not run further than to the first.
    /// - Parameter body: called for each input, in order; false where the end is not `.done`.
    public func holds(for inputs: [Bytes], _ body: (_ index: Int, _ holds: Bool, _ end: JQEnd) -> Void) {
        exchange(inputs, asksIfHolds: true) { _ in
        } discard: {
        } ended: { index, end, holds in
            body(index, holds, end)
        }
    }

    // MARK: - The process

    /// - Parameters:
    ///   - discard: the outputs of the input in hand do not count.
    private func exchange(
        _ inputs: [Bytes], asksIfHolds: Bool, output: (UnsafeRawBufferPointer) -> Void, discard: () -> Void,
        ended: (Int, JQEnd, _ holds: Bool) -> Void
    ) {
        var next = 0
        /// An input that the process has ended over, and what is to be said of it when those before it are through: some of
        /// their answers may have gone with the process.
        var broken: (index: Int, end: JQEnd)?
        /// The last one that was tried again after the process was killed from outside.
        var retried: Int?
        while next < inputs.count {
            if let (index, end) = broken, index == next {
                ended(next, end, false)
                next += 1
                broken = nil
                continue
            }
            let isOpen = watch.begin()
            guard isOpen, let end = send(inputs, from: next, before: broken?.index ?? inputs.count, asksIfHolds) else {
                _ = watch.end()
                ended(next, isOpen ? .failed(reason) : .halted, false)
                next += 1
                continue
            }
            let first = next
            next = receive(first..<end, output, discard, ended)
            let wasStopped = watch.end()
            if next == end { continue }
            discard()
            let inHand = max(next, min(first + Int(cjq_begun(process)), end) - 1)
            if wasStopped {
                broken = (inHand, .halted)
            } else if cjq_was_killed(process), retried != inHand {
                retried = inHand
            } else {
                broken = (inHand, .failed("jq ended by itself over it (\(reason))"))
            }
        }
    }

    /// Sends as many inputs as go together.
    /// - Returns: the first that was not sent; nil where the process cannot be started.
    private func send(_ inputs: [Bytes], from first: Int, before end: Int, _ asksIfHolds: Bool) -> Int? {
        var next = first
        var size = 0
        while next < end, next - first < JQProgram.batchCount {
            let input = inputs[next]
            if next > first, size + input.count > JQProgram.batchSize { break }
            input.withUnsafeBytes { cjq_add(process, $0.baseAddress, $0.count) }
            size += input.count
            next += 1
        }
        return cjq_send(process, asksIfHolds) ? next : nil
    }

    /// - Returns: the first input that has no answer: because the process has ended, or because all have one.
    private func receive(
        _ batch: Range<Int>, _ output: (UnsafeRawBufferPointer) -> Void, _ discard: () -> Void,
        _ ended: (Int, JQEnd, Bool) -> Void
    ) -> Int {
        var index = batch.lowerBound
        while index < batch.upperBound {
            var start: UnsafePointer<CChar>?
            var length = 0
            let answer = cjq_receive(process, &start, &length)
            let text = UnsafeRawBufferPointer(start: start, count: length)
            switch answer {
            case cjq_output:
                output(text)
                continue
            case cjq_ended: return index
            case cjq_done, cjq_holds: ended(index, .done, answer == cjq_holds)
            default:
                discard()
                ended(index, .failed(failure(answer, text)), false)
            }
            index += 1
        }
        return index
    }

    private func failure(_ answer: cjq_answer, _ text: UnsafeRawBufferPointer) -> String {
        switch answer {
        case cjq_unreadable: return "jq cannot take it: deeper than \(JQProgram.maximumDepth), or larger than 1 GiB"
        case cjq_too_much: return "it gives more than \(JQProgram.maximumOutputs) values or \(outputLimit) bytes"
        default: return text.isEmpty ? "jq gives no reason" : String(decoding: text, as: UTF8.self).limited(to: 200)
        }
    }

    private var reason: String { String(cString: cjq_reason(process)) }
}

/// The process as far as the watch needs it.
///
/// `@unchecked Sendable`: both calls may come from any thread; a run keeps the process alive.
private struct ProcessHandle: @unchecked Sendable {
    private let process: OpaquePointer

    init(_ process: OpaquePointer) { self.process = process }

    var progress: UInt64 { cjq_progress(process) }

    func kill() { cjq_kill(process) }
}
