// feedbus: Exec with real children.

import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import Synchronization
import Testing

@testable import ExecPlugin

struct ExecTests {
    private func sourceOptions(_ command: String..., more: String = "") throws -> ExecOptions {
        let list = command.map { JSON.quote($0).string }.joined(separator: ", ")
        return try options(ExecOptions.self, "{\"command\": [\(list)]\(more)}")
    }

    // MARK: - Source

    private func run(_ options: ExecOptions, book: LogBook = LogBook()) async throws -> [Event] {
        let collected = Collected()
        try await withLoop { loop in
            try await ExecSource(options: options, context: context(on: loop, clock: loop.clock, book: book)).run(
                collected.output)
        }
        return collected.events
    }

    @Test func linesBecomeEventsInOrder() async throws {
        let events = try await run(try sourceOptions("seq", "1", "5000"))
        #expect(events.map(\.data.string) == (1...5_000).map(String.init))
        #expect(Set(events.map(\.id)).count == 5_000)
    }

    @Test func theLastLineNeedsNoLineBreak() async throws {
        #expect(try await run(try sourceOptions("printf", "1\\n2")).map(\.data) == ["1", "2"])
    }

    @Test func badAndLongLinesCostOnlyThemselves() async throws {
        let book = LogBook()
        let script = "echo 1; echo no json; echo; printf '\"%0100d\"\\n' 7; echo 2"
        let events = try await run(try sourceOptions("sh", "-c", script, more: ", \"max_line\": \"64B\""), book: book)
        #expect(events.map(\.data) == ["1", "2"])
        let said = book.messages(.warning)
        #expect(said.count == 3)
        #expect(said[0].contains("line 2 is not JSON"))
        #expect(said[1].contains("line 4 is too long"))
        #expect(said[2].contains("2 lines were left out"))
    }

    @Test func anEndWithAnotherCodeIsAFailure() async throws {
        let options = try sourceOptions("sh", "-c", "echo 1; exit 3")
        try await withLoop { loop in
            let collected = Collected()
            let source = ExecSource(options: options, context: context(on: loop, clock: loop.clock))
            await #expect {
                try await source.run(collected.output)
            } throws: { error in
                describeError(error).contains("exit code 3") && (error as? FeedbusError)?.isRetriable == true
            }
            #expect(collected.data == ["1"])
        }
    }

    @Test func stderrGoesIntoTheLog() async throws {
        let book = LogBook()
        _ = try await run(try sourceOptions("sh", "-c", "echo careful >&2"), book: book)
        #expect(book.messages().contains("stderr: careful"))
    }

    @Test func aStopEmitsWhatWasPrinted() async throws {
        let options = try sourceOptions("sh", "-c", "trap 'echo 2; exit 0' TERM; echo 1; while :; do sleep 0.01; done")
        try await withLoop { loop in
            let collected = Collected()
            let first = Mutex<CheckedContinuation<Void, Never>?>(nil)
            let made = context(on: loop, clock: loop.clock)
            let source = ExecSource(options: options, context: made)
            let output = Output { events, _ in
                collected.add(events)
                first.withLock { $0.take() }?.resume()
            }
            var running: Task<Void, any Error>?
            await withCheckedContinuation { continuation in
                first.withLock { $0 = continuation }
                running = made.task { try await source.run(output) }
            }
            running?.cancel()
            await #expect(throws: CancellationError.self) { try await running?.value }
            #expect(collected.data == ["1", "2"])
        }
    }

    @Test func aChildThatWillNotEndIsKilled() async throws {
        let options = try sourceOptions("sh", "-c", "trap '' TERM; echo 1; while :; do sleep 0.01; done")
        try await withLoop { loop in
            let made = context(on: loop, clock: SleeplessClock())
            let source = ExecSource(options: options, context: made)
            let running = Mutex<Task<Void, any Error>?>(nil)
            let task = made.task {
                try await source.run(Output { _, _ in running.withLock(\.self)?.cancel() })
            }
            running.withLock { $0 = task }
            if case .success = await task.result { Issue.record("not stopped") }
        }
    }

    // MARK: - Stage

    private func transform(_ options: ExecOptions, _ input: Flow<Event>) async throws -> [Event] {
        let collected = Collected()
        try await withLoop { loop in
            let stage = ExecStage(options: options, context: context(on: loop, clock: loop.clock))
            try await stage.transform(input).collect { collected.add($0) }
        }
        return collected.events
    }

    @Test func aStageThatCopiesKeepsEverything() async throws {
        var wanted = Array(numbered(0..<3_000))
        wanted[5].set("extra", to: "\"x\"")
        wanted[6].time = "2026-01-01T00:00:00Z"
        let events = try await transform(try sourceOptions("cat"), .from(wanted, chunk: 100))
        #expect(events.map(\.cloudEvent) == wanted.map(\.cloudEvent))
    }

    @Test func aStageMayFilterAndAnswerWithBareData() async throws {
        let even = try await transform(
            try sourceOptions("grep", "--line-buffered", "\"n\":[0-9]*[02468]}"), .from(numbered(0..<2_000)))
        #expect(even.map(\.id.string) == stride(from: 0, to: 2_000, by: 2).map(String.init))
        let bare = try await transform(
            try sourceOptions("sed", "s/.*\"data\"://; s/}$//"), .from(numbered(0..<50)))
        #expect(bare.map(\.data.string) == (0..<50).map { "{\"n\":\($0)}" })
        #expect(bare.first?.origin.type == "dev.feedbus.line")
        #expect(bare.first?.origin.node == "src")
        #expect(Set(bare.map(\.id)).count == 50)
    }

    @Test func aChildThatHasEnoughCompletesTheStage() async throws {
        let events = try await transform(try sourceOptions("head", "-n", "3"), .from(numbered(0..<20_000)))
        #expect(events.map(\.id) == ["0", "1", "2"])
    }

    @Test func receiptsAreHeldUntilTheChildAnswers() async throws {
        let settled = Mutex<[String]>([])
        let options = try sourceOptions("sh", "-c", "head -n 1; exit 5")
        try await withLoop { loop in
            let stage = ExecStage(options: options, context: context(on: loop, clock: loop.clock))
            let input = Flow<Event> { emit in
                let events = (0..<3).map { number in
                    var event = event("{}", id: "\(number)")
                    event.receipt = Receipt { _ in settled.withLock { $0.append("\(number)") } }
                    return event
                }
                try await emit(Chunk(events))
            }
            await #expect(throws: FeedbusError.self) { try await stage.transform(input).collect { _ in } }
            // The first was answered; the others are let go with the stage that failed.
            #expect(settled.withLock(\.self) == ["0"])
            _ = stage
        }
        #expect(settled.withLock { $0.count } == 3)
    }

    // MARK: - Sink

    @Test func aSinkWritesCloudEvents() async throws {
        try await withFolder { folder in
            let made = try options(ExecSinkOptions.self, "{\"command\": [\"sh\", \"-c\", \"cat > got\"]}")
            try await withLoop { loop in
                let sink = ExecSink(
                    options: made, context: context(on: loop, clock: loop.clock, directory: folder.path))
                try await sink.open()
                try await sink.write(numbered(0..<1_000))
                await sink.close()
            }
            #expect(folder.lines("got") == numbered(0..<1_000).map(\.cloudEvent.string))
        }
    }

    @Test func aDeadChildIsStartedAnewByOpen() async throws {
        try await withFolder { folder in
            let made = try options(
                ExecSinkOptions.self, "{\"command\": [\"sh\", \"-c\", \"head -n 1 >> got; exit 4\"]}")
            let book = LogBook()
            try await withLoop { loop in
                let sink = ExecSink(
                    options: made, context: context(on: loop, clock: loop.clock, book: book, directory: folder.path))
                try await sink.open()
                var failures = 0
                for number in 0..<3 {
                    // As the runtime does it: open again before each further try.
                    while true {
                        do {
                            try await sink.write(numbered(number..<number + 1))
                            try await sink.write(Chunk(one: event("\"\(String(repeating: "x", count: 200_000))\"")))
                        } catch {
                            failures += 1
                            #expect((error as? FeedbusError)?.isRetriable == true)
                            try await sink.open()
                        }
                        break
                    }
                }
                await sink.close()
                #expect(failures == 3)
            }
            #expect(folder.lines("got").count >= 3)
        }
    }

    // MARK: - Check

    @Test func aMissingProgramIsFoundBeforeTheStart() throws {
        #expect(try problems(ExecSource.self, "{\"command\": [\"nope\"]}").count == 1)
        #expect(try problems(ExecSink.self, "{\"command\": [\"./run\"]}", programs: ["/config/run"]) == [])
        #expect(try problems(ExecStage.self, "{\"command\": [\"cat\"]}", programs: ["/bin/cat"]) == [])
        #expect(throws: FeedbusError.self) { _ = try options(ExecOptions.self, "{\"command\": []}") }
    }
}
