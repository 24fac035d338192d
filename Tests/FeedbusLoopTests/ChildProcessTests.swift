// feedbus: child processes.

import FeedbusBase
import FeedbusLoop
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ChildProcessTests {
    private func shell(_ script: String, stdin: Bool = true) -> ChildCommand {
        ChildCommand(["sh", "-c", script], stdin: stdin)
    }

    @Test func outputErrorsAndExitCodeArrive() async throws {
        try await withLoop { loop in
            let child = try await loop.spawn(shell("echo out; echo err >&2; exit 7"))
            let out = try await readAll(child.readOutput)
            let errors = try await readAll(child.readErrors)
            #expect(out == "out\n" && errors == "err\n")
            #expect(await child.wait() == .code(7))
            // Reported again, and the output stays ended.
            #expect(await child.wait() == .code(7))
            let more = try await child.readOutput()
            #expect(more == nil)
            #expect(loop.isOnLoop)
        }
    }

    @Test func whatWasWrittenBeforeTheEndCanBeReadAfterIt() async throws {
        try await withLoop { loop in
            let child = try await loop.spawn(shell("printf %060000d 0"))
            #expect(await child.wait() == .code(0))
            let out = try await readAll(child.readOutput)
            #expect(out.count == 60_000)
        }
    }

    @Test func tenMegabytesGoThroughCat() async throws {
        try await withLoop { loop in
            let child = try await loop.spawn(ChildCommand(["cat"]))
            let size = 10 << 20
            let sent = Bytes(
                buffer: ByteBuffer(capacity: size) { target in
                    for index in 0..<size { target[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 7) }
                    return size
                })
            let isWritten = Counter()
            let writer = loop.task {
                try await child.write(sent)
                isWritten.increment()
                child.closeInput()
            }
            // Nobody reads yet: the pipes hold less than this.
            var received = [UInt8]()
            received.reserveCapacity(size)
            while let bytes = try await child.readOutput() {
                #expect(!bytes.isEmpty && bytes.count <= 65_536)
                if received.isEmpty { #expect(isWritten.value == 0) }
                bytes.withUnsafeBytes { received.append(contentsOf: $0) }
            }
            try await writer.value
            #expect(Bytes(received) == sent)
            #expect(await child.wait() == .code(0))
        }
    }

    @Test func aChildThatIsNotReadHasToWait() async throws {
        try await withLoop { loop in
            // Says on stderr how far it has come; the pipe for its output holds 64 KiB.
            let script = "while head -c 32768 /dev/zero; do echo . >&2; done"
            let child = try await loop.spawn(shell(script))
            var dots = 0
            while dots < 4 { dots += try await child.readErrors()?.count ?? 0 }
            // It hangs in the third piece now; with something taken it goes on.
            #expect(dots == 4)
            var taken = 0
            while taken < 32_768 { taken += try await child.readOutput()?.count ?? 0 }
            dots += try await child.readErrors()?.count ?? 0
            #expect(dots > 4 && taken <= 65_536 + 32_768)
            child.kill(SIGKILL)
            #expect(await child.wait() == .signal(SIGKILL))
        }
    }

    @Test func writesToAChildThatHasEndedFail() async throws {
        try await withLoop { loop in
            let child = try await loop.spawn(shell("read line; exit 3"))
            await #expect(throws: FeedbusError.self) {
                // More than the pipe holds: part of it is under way when the child ends.
                try await child.write(Bytes(Array(repeating: 0x0A, count: 1 << 20)))
            }
            #expect(await child.wait() == .code(3))
            do {
                try await child.write("more")
                Issue.record("written to nobody")
            } catch let error as FeedbusError {
                #expect(error.code == .execClosed)
            }
            child.closeInput()
        }
    }

    @Test func closeInputComesAfterWhatIsBeingWritten() async throws {
        try await withLoop { loop in
            let child = try await loop.spawn(ChildCommand(["wc", "-c"]))
            let begun = Counter()
            let writers = (0..<3).map { _ in
                loop.task {
                    begun.increment()
                    try await child.write(Bytes(Array(repeating: 0x61, count: 300_000)))
                }
            }
            while begun.value < 3 { await Task.yield() }
            child.closeInput()
            for writer in writers { try await writer.value }
            let out = try await readAll(child.readOutput)
            #expect(out == "900000\n")
        }
    }

    @Test func readingIsCancelledAtOnceAndLosesNothing() async throws {
        try await withLoop { loop in
            let child = try await loop.spawn(ChildCommand(["cat"]))
            let reading = Gate()
            let reader = loop.task {
                reading.open()
                return try await child.readOutput()
            }
            await reading.wait()
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            try await child.write("still here")
            child.closeInput()
            let out = try await readAll(child.readOutput)
            #expect(out == "still here")
        }
    }

    @Test func writingIsCancelledAtOnce() async throws {
        try await withLoop { loop in
            let child = try await loop.spawn(ChildCommand(["sleep", "3600"]))
            let writer = loop.task { try await child.write(Bytes(Array(repeating: 0, count: 1 << 20))) }
            await Task.yield()
            writer.cancel()
            await #expect(throws: CancellationError.self) { try await writer.value }
            child.kill(SIGTERM)
            #expect(await child.wait() == .signal(SIGTERM))
        }
    }

    @Test func killReachesTheWholeGroup() async throws {
        try await withLoop { loop in
            // The grandchild holds the pipe open: it must go too, else there is no end of the output.
            let child = try await loop.spawn(shell("sleep 3600 & echo started; wait"))
            let started = try await child.readOutput()
            #expect(started == "started\n")
            child.kill(SIGKILL)
            let rest = try await child.readOutput()
            #expect(rest == nil)
            #expect(await child.wait() == .signal(SIGKILL))
            child.kill(SIGKILL)
        }
    }

    @Test func aDroppedChildIsEnded() async throws {
        try await withLoop { loop in
            let pid = try await loop.spawn(shell("exec sleep 3600")).pid
            // Its parent is this process: the kernel knows it until libuv has collected it.
            while Glibc.kill(pid, 0) == 0 { await Task.yield() }
            #expect(errno == ESRCH)
        }
    }

    @Test func aChildHasItsOwnSessionFolderAndEnvironment() async throws {
        try await withLoop { loop in
            var command = shell("pwd; echo $FEEDBUS_TEST-$HOME; ps -o sid= -p $$ | tr -d ' '; trap '' PIPE 2>&1")
            command.workingDirectory = "/"
            command.environment = ["FEEDBUS_TEST": "yes", "PATH": "/usr/bin:/bin"]
            let child = try await loop.spawn(command)
            let out = try await readAll(child.readOutput)
            #expect(out.string.hasPrefix("/\nyes-\n"))
            #expect(out.string.contains("\n\(child.pid)\n") || out.string == "/\nyes-\n")
            #expect(getsid(0) != child.pid)
        }
    }

    @Test func withoutPipesThereIsNothing() async throws {
        try await withLoop { loop in
            var command = shell("cat; echo lost; echo lost >&2")
            (command.stdin, command.stdout, command.stderr) = (false, false, false)
            let child = try await loop.spawn(command)
            let (out, errors) = (try await child.readOutput(), try await child.readErrors())
            #expect(out == nil && errors == nil)
            await #expect(throws: FeedbusError.self) { try await child.write("x") }
            #expect(await child.wait() == .code(0))
        }
    }

    @Test func theChildsPipesAreRealPipesAndSignalsAreAtTheirDefaults() async throws {
        try await withLoop { loop in
            // A socket could not be opened by this name. SIGPIPE must end `yes`, though this process ignores it.
            let child = try await loop.spawn(shell("cat < /dev/stdin > /dev/stdout; yes | head -c 2 >/dev/stderr"))
            try await child.write("a\n")
            child.closeInput()
            let out = try await readAll(child.readOutput)
            let errors = try await readAll(child.readErrors)
            #expect(out == "a\n" && errors == "y\n")
            #expect(await child.wait() == .code(0))
        }
    }

    @Test(arguments: [
        (["/no/such/program"], "exec.not-found"), (["no-such-program-anywhere"], "exec.not-found"),
        (["/etc/passwd"], "exec.denied"), ([], "exec.not-found"), ([""], "exec.not-found"),
        (["echo", "a\0b"], "exec.failed"),
    ])
    func whatCannotStartSaysSo(_ arguments: [String], _ code: String) async throws {
        try await withLoop { loop in
            do {
                _ = try await loop.spawn(ChildCommand(arguments))
                Issue.record("started")
            } catch let error as FeedbusError {
                #expect(error.code.name == code)
                #expect(error.message.hasPrefix("cannot start "))
            }
        }
    }

    @Test func aMissingFolderIsNamed() async throws {
        try await withLoop { loop in
            do {
                _ = try await loop.spawn(ChildCommand(["true"], workingDirectory: "/no/such/folder"))
                Issue.record("started")
            } catch let error as FeedbusError {
                #expect(error.code == .execNotFound && error.message.contains("/no/such/folder"))
            }
        }
    }

    @Test func manyChildrenAtOnceFromOutsideTheLoop() async throws {
        let loop = try makeLoop("children")
        let thread = try LoopThread(running: loop)
        let outputs = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let child = try await loop.spawn(ChildCommand(["cat"]))
                    try await child.write(Bytes("\(index)"))
                    child.closeInput()
                    let out = try await readAll(child.readOutput)
                    #expect(await child.wait() == .code(0))
                    return out.string
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(outputs) == Set((0..<20).map { "\($0)" }))
        loop.stop()
        await thread.join()
    }
}
