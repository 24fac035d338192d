// feedbus: what a good config becomes, and which files are read.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import Testing

@testable import FeedbusRuntime

@Suite struct ConfigLoaderTests {
    @Test func everyFieldArrivesInThePlan() throws {
        let (plan, problems) = load(
            """
            {
              "$schema": "./feedbus.schema.json", // comments of
              /* both kinds */
              "feedbus": { "state": "var/cursors", "shutdown_grace": "2s", "log": { "level": "debug", "format": "json" },
                           "supervision": { "max_restarts": 3, "within": "1m" } },
              "http": { "user_agent": "me", "offline": "../demo.har" },
              "sinks": { "log": { "plugin": "JSONLines", "from": ["few", "all"], "with": { "path": "log.jsonl" },
                                  "buffer": { "events": 16, "bytes": "1MB", "when_full": "drop_oldest" },
                                  "retry": { "attempts": 2, "base": "100ms", "cap": "200ms", "jitter": "none" } } },
              "stages": { "few": { "plugin": "Take", "from": ["all"], "with": { "count": 2 }, "on_error": "drop" } },
              "subjects": { "all": { "from": ["jokes"], "replay": 50, "scope": "forever", "store": "memory" } },
              "sources": { "jokes": { "plugin": "Jokes" } }
            }
            """, files: ["/demo.har": "{}"])
        #expect(problems == [])
        let settings = try #require(plan?.settings)
        #expect(settings.directory == "/home")
        #expect(settings.state == "/home/var/cursors")
        #expect(settings.shutdownGrace == .seconds(2))
        #expect(settings.logLevel == .debug)
        #expect(settings.logFormat == .json)
        #expect(settings.supervision.maxRestarts == 3)
        #expect(settings.supervision.within == .seconds(60))
        #expect(settings.userAgent == "me")
        #expect(settings.offlineRecording == "/demo.har")
        let nodes = try #require(plan?.nodes)
        #expect(nodes.map(\.name) == ["jokes", "all", "few", "log"])
        #expect(nodes.map(\.plugin) == ["Jokes", nil, "Take", "JSONLines"])
        guard case .subject(replay: 50, scope: .forever) = nodes[1].role else {
            Issue.record("\(nodes[1].role)")
            return
        }
        #expect(nodes[2].onError == .drop)
        #expect(nodes[3].from == ["few", "all"])
        #expect(nodes[3].buffer.events == 16)
        #expect(nodes[3].buffer.bytes == 1_000_000)
        #expect(nodes[3].buffer.whenFull == .dropOldest)
        #expect(
            nodes[3].retry
                == RetryPolicy(attempts: 2, base: .milliseconds(100), cap: .milliseconds(200), jitter: false))
    }

    @Test func defaultsAreThoseOfThePlan() throws {
        let plan = try #require(load(minimal()).plan)
        #expect(plan.settings.state == "/home/var")
        #expect(plan.settings.shutdownGrace == Settings().shutdownGrace)
        #expect(plan.settings.supervision == SupervisionPolicy())
        #expect(plan.nodes.map(\.name) == ["jokes", "log"])
        #expect(plan.nodes[1].buffer == BufferPlan())
        #expect(plan.nodes[1].retry == RetryPolicy())
        #expect(plan.nodes[1].onError == .pass)
    }

    @Test func aFileThatIsNotThereIsNamedWithTheReason() {
        let loader = ConfigLoader(registry: .stubs, environment: [:], files: files())
        let (plan, problems) = loader.load(path: "nowhere.json")
        #expect(plan == nil)
        #expect(
            ProblemText(file: "nowhere.json").lines(problems)
                == "nowhere.json: error: cannot read the config: No such file or directory\n")
    }

    @Test func relativePathsCountFromTheFolderOfTheConfig() throws {
        let loader = ConfigLoader(
            registry: .stubs, environment: [:], files: files(["/home/etc/feedbus/config.json": minimal()]))
        let plan = try #require(loader.load(path: "etc/./feedbus/config.json").plan)
        #expect(plan.settings.directory == "/home/etc/feedbus")
        #expect(plan.settings.state == "/home/etc/feedbus/var")
    }

    @Test(arguments: ["", "[]", "{", "nonsense", "{}", "42"])
    func whatIsNoConfigIsRefused(_ text: String) {
        let (plan, problems) = load(text)
        #expect(plan == nil)
        #expect(!problems.isEmpty)
    }

    @Test func anotherRootIsToldOnce() {
        #expect(problems("[]") == ["1:1: error: a config is an object with sections, found a list"])
        #expect(problems("{").count == 1)
    }

    @Test func theRealFileSystemReadsAndExplains() throws {
        let system = FileAccess.system
        #expect(system.workingDirectory.hasPrefix("/"))
        #expect(try system.read("/proc/self/status", 1 << 20).string.hasPrefix("Name:"))
        #expect(throws: FileAccess.Unreadable.self) { try system.read("/proc/self/status", 10) }
        #expect(system.exists("/bin/sh") && !system.exists("/no/such/file"))
        #expect(system.isExecutable("/bin/sh") && !system.isExecutable("/bin") && !system.isExecutable("/etc/passwd"))
        let unreadable = #expect(throws: FileAccess.Unreadable.self) { try system.read("/", 10) }
        #expect(unreadable?.reason == "Is a directory")
    }
}
