// feedbus: state and replay, on a real state folder.

import FeedbusBase
import FeedbusLoop
import FeedbusRuntime
import FeedbusStore
import FeedbusTestKit
import Glibc
import Testing

@testable import FeedbusCommand

@Suite struct StateCommandTests {
    private static let subject = """
        { "feedbus": { "state": "STATE" },
          "sources": { "tick": { "plugin": "Tick", "with": { "labels": ["a"] } } },
          "subjects": { "all": { "from": ["tick"], "store": "disk" }, "some": { "from": ["tick"] } },
          "sinks": { "void": { "plugin": "Void", "from": ["all", "some"] } } }
        """

    /// A state with a cursor, three events in the log of `all`, and a dead letter of `void`.
    private func withState(_ body: (_ feedbus: (String...) -> Result, _ folder: String) throws -> Void) throws {
        var name = Array("/tmp/feedbus-command-test-XXXXXX".utf8CString)
        let folder = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
        defer {
            for file in ["feedbus.sqlite", "feedbus.sqlite-wal", "feedbus.sqlite-shm", "lock"] {
                unlink("\(folder)/\(file)")
            }
            rmdir(folder)
        }
        let files = ["/home/config.json": Self.subject.replacing("STATE", with: folder)]
        try body({ arguments in feedbusList(arguments, files: files) }, folder)
    }

    private func fill(_ folder: String) throws {
        let noon = WallTime(year: 2026, month: 11, day: 30, hour: 12)!
        let origin = StoredOrigin(source: "/x", type: "t", node: "tick", recorded: false)
        let events = (1...3).map { StoredEvent(origin: origin, id: Bytes("e\($0)"), data: "{}") }
        try Simulation.run { simulation in
            let store = try await StateStore.open(folder: folder, on: SimulatedHost(simulation.loop))
            try await store.save([("tick", "cursor", "12")])
            _ = try await store.openSubject("all", readers: ["void"], replay: 0)
            _ = try await store.append(
                events, to: "all", next: 1, floor: 1, retention: Retention(), now: noon)
            try await store.saveReader("void", of: "all", acked: 1)
            _ = try await store.add(
                [DeadLetter(node: "void", reason: "too \"big\"", at: noon, body: .event(events[0]))],
                cap: DeadLetterCap())
            let service = "https://api.example.com:443"
            func budget(_ resource: String, _ remaining: Int) -> ServiceBudget {
                ServiceBudget(
                    service: service, credential: "none", resource: resource, limit: 60, remaining: remaining,
                    resetsAt: noon + .seconds(3_600), seenAt: noon)
            }
            try await store.save([budget("core", 60), budget("search", 9)])
            try await store.save([budget("core", 59)])
            await store.close()
        }
    }

    @Test func aFolderWithoutStateIsNoError() throws {
        try withState { feedbus, folder in
            #expect(feedbus("state", "show").out == "no state in \(folder) yet\n")
            #expect(feedbus("state", "export").out == "")
            #expect(feedbus("replay", "--dead-letters", "--to", "-").out == "")
            #expect(feedbus("state", "reset", "--yes").code == 0)
        }
    }

    @Test func showSaysWhatThereIs() throws {
        try withState { feedbus, folder in
            try fill(folder)
            let text = feedbus("state", "show").out
            #expect(
                text.split(separator: "\n").dropFirst().joined(separator: "\n") == """
                    cursors:
                      tick: cursor, 2 bytes
                    subjects:
                      all: 3 events, 12 bytes, the oldest of 2026-11-30T12:00:00Z
                        void: 2 events to come
                    dead letters:
                      void: 1, 13 bytes, 2026-11-30T12:00:00Z to 2026-11-30T12:00:00Z; the last one: too "big"
                    budgets:
                      https://api.example.com:443 core (credential: none): 59 of 60 left, whole again at 2026-11-30T13:00:00Z; as of 2026-11-30T12:00:00Z
                      https://api.example.com:443 search (credential: none): 9 of 60 left, whole again at 2026-11-30T13:00:00Z; as of 2026-11-30T12:00:00Z
                    """)
            #expect(feedbus("state", "show", "--node", "tick").out.hasSuffix("cursors:\n  tick: cursor, 2 bytes\n"))
            let json = feedbus("state", "show", "--format", "json").out
            #expect(json.contains("\"readers\":[{\"name\":\"void\",\"acked\":1,\"behind\":2}]"))
            #expect(
                json.contains(
                    "{\"service\":\"https://api.example.com:443\",\"credential\":\"none\",\"resource\":\"core\",\"limit\":60,\"remaining\":59,\"resets\":\"2026-11-30T13:00:00Z\",\"seen\":\"2026-11-30T12:00:00Z\"}"
                ))
            #expect(json.contains("\"reason\":\"too \\\"big\\\"\""))
        }
    }

    /// A service names its budgets, and says what is wrong with an event: a terminal would obey it.
    @Test func showPrintsNothingThatATerminalObeys() throws {
        let noon = WallTime(year: 2026, month: 11, day: 30, hour: 12)!
        try withState { feedbus, folder in
            try Simulation.run { simulation in
                let store = try await StateStore.open(folder: folder, on: SimulatedHost(simulation.loop))
                try await store.save([
                    ServiceBudget(
                        service: "https://api.example.com:443", credential: "none", resource: "core\u{1B}[31m\u{9B}",
                        limit: 60, remaining: 1, resetsAt: noon, seenAt: noon)
                ])
                _ = try await store.add(
                    [DeadLetter(node: "void", reason: "bad\u{1B}[2J\nline", at: noon, body: .raw("x"))],
                    cap: DeadLetterCap())
                await store.close()
            }
            let text = feedbus("state", "show").out
            #expect(text.contains("core\\u{1b}[31m\\u{9b} (credential"))
            #expect(text.contains("bad\\u{1b}[2J\\nline"))
        }
    }

    @Test func exportAndReplayPrintTheEvents() throws {
        try withState { feedbus, folder in
            try fill(folder)
            let lines = feedbus("state", "export").out.split(separator: "\n")
            #expect(lines.count == 8)
            #expect(lines[1].hasPrefix("{\"budget\":{\"service\":\"https://api.example.com:443\""))
            #expect(lines[0] == "{\"cursor\":{\"node\":\"tick\",\"key\":\"cursor\",\"value\":\"12\"}}")
            #expect(
                lines[4].hasPrefix(
                    "{\"event\":{\"subject\":\"all\",\"number\":1,\"event\":{\"specversion\":\"1.0\",\"id\":\"e1\""))
            #expect(
                lines[7].hasPrefix("{\"dead_letter\":{\"number\":1,\"node\":\"void\",\"reason\":\"too \\\"big\\\"\""))
            func printed(_ start: String) -> Int {
                feedbus("replay", "--subject", "all", "--from", start, "--to", "-").out.split(separator: "\n").count
            }
            #expect(printed("first") == 3)
            #expect(printed("e2") == 2)
            #expect(printed("2026-11-30T12:00:00Z") == 3)
            let missing = feedbus("replay", "--subject", "all", "--from", "2027-01-01T00:00:00Z", "--to", "-")
            #expect(missing.code == 1)
            #expect(missing.err == "the log of all has no event stored at 2027-01-01T00:00:00Z or later")
            #expect(
                feedbus("replay", "--dead-letters", "--to", "-").out.hasPrefix("{\"specversion\":\"1.0\",\"id\":\"e1\"")
            )
            #expect(feedbus("replay", "--dead-letters", "--node", "other", "--to", "-").out == "")
        }
    }

    @Test func resetNeedsAYesAndForgetsWhatItWasAskedTo() throws {
        try withState { feedbus, folder in
            try fill(folder)
            let asked = feedbus("state", "reset")
            #expect(asked.code == 2 && asked.err.contains("--yes"))
            #expect(feedbus("state", "show").out.contains("tick: cursor"))
            let letters = feedbus("state", "reset", "--dead-letters")
            #expect(letters.code == 2 && letters.out.contains("void: 1, "))
            // What would stay is not listed.
            #expect(!letters.out.contains("tick") && !letters.out.contains("all:") && !letters.out.contains("budgets"))
            #expect(feedbus("state", "reset", "--dead-letters", "--yes").code == 0)
            var shown = feedbus("state", "show").out
            #expect(!shown.contains("dead letters") && shown.contains("all: 3 events"))
            #expect(feedbus("state", "reset", "--node", "void", "--yes").code == 0)
            shown = feedbus("state", "show").out
            #expect(!shown.contains("void") && shown.contains("all: 3 events") && shown.contains("tick"))
            #expect(feedbus("state", "reset", "--node", "all", "--yes").code == 0)
            #expect(!feedbus("state", "show").out.contains("all:"))
            #expect(feedbus("state", "reset", "--yes").code == 0)
            #expect(feedbus("state", "show").out.hasSuffix("\nnothing\n"))
        }
    }

    @Test func resetBesideARunningFeedbusIsRefusedAlsoWithoutADatabase() throws {
        try withState { feedbus, folder in
            // What a feedbus has from its first moment on.
            let lock = open("\(folder)/lock", O_RDWR | O_CREAT, 0o644)
            #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
            let refused = feedbus("state", "reset", "--yes")
            #expect(refused.code == 1 && refused.err.contains("is in use by another feedbus"))
            close(lock)
            let reset = feedbus("state", "reset", "--yes")
            #expect(reset.code == 0 && reset.out == "forgotten: no state in \(folder) yet\n")
        }
    }

    @Test func theFolderMayBeGivenOnTheCommandLine() throws {
        try withState { feedbus, folder in
            try fill(folder)
            #expect(feedbus("state", "show", "--set", "feedbus.state=/nowhere").out == "no state in /nowhere yet\n")
        }
    }

    @Test func replayToANodeIsARunOfItsOwn() throws {
        try withState { feedbus, _ in
            let told = feedbus("replay", "--subject", "all", "--from", "e2", "--to", "void")
            #expect(told.options?.once == true)
            #expect(
                told.options?.replay == ReplayRequest(content: .subject("all", from: .id("e2")), target: "void"))
            let letters = feedbus("replay", "--dead-letters", "--node", "void", "--log-level", "debug")
            #expect(letters.options?.replay == ReplayRequest(content: .deadLetters(node: "void"), target: nil))
            #expect(letters.plan?.settings.logLevel == .debug)
        }
    }

    @Test(arguments: [
        (["state"], "state needs show|export|reset: what to do"),
        (["state", "shwo"], "state: \"shwo\" is none of show, export, reset; did you mean show?"),
        (["state", "show", "--yes"], "--yes is for state reset"),
        (["state", "export", "--format", "json"], "--format is for state show"),
        (["replay"], "replay needs --subject NAME or --dead-letters"),
        (["replay", "--subject", "all", "--dead-letters"], "--subject and --dead-letters exclude each other"),
        (["replay", "--subject", "all"], "--subject needs --from: the id of an event, a time, or first"),
        (["replay", "--subject", "all", "--from", "first"], "--subject needs --to: a sink, or - for stdout"),
        (
            ["replay", "--subject", "al", "--from", "first", "--to", "-"],
            "there is no subject \"al\" with \"store\": \"disk\" in the config; did you mean all?"
        ),
        (
            ["replay", "--subject", "some", "--from", "first", "--to", "-"],
            "there is no subject \"some\" with \"store\": \"disk\" in the config"
        ),
        (
            ["replay", "--subject", "all", "--from", "first", "--to", "viod"],
            "--to: there is no sink \"viod\" in the config; did you mean void?"
        ),
        (["replay", "--dead-letters", "--from", "first"], "--from is for --subject"),
    ])
    func mistakesAreNamed(arguments: [String], message: String) throws {
        let told = feedbusList(arguments, files: ["/home/config.json": Self.subject])
        #expect(told.code == 2)
        #expect(told.err.hasPrefix("feedbus: \(message)\n"))
    }
}
