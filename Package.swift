// swift-tools-version: 6.3
// feedbus: a plugin-based event bus with actor concurrency. See README.md.

import PackageDescription

/// The same rules for every Swift target: language mode 6, warnings are errors.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A module under Sources/.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

/// A feedbus plugin (not a SwiftPM one): one folder under Plugins/, one target, one plugin.
func plugin(_ name: String) -> Target {
    .target(
        name: "\(name)Plugin", dependencies: ["FeedbusPlugin"] + sharedByPlugins[name, default: []],
        path: "Plugins/\(name)", swiftSettings: swiftSettings)
}

/// What several plugins share, in targets of their own between FeedbusPlugin and them.
let sharedByPlugins: [String: [Target.Dependency]] = [
    "GitHubEvents": ["GitHubAPI", "Polling"], "TrendingRepos": ["GitHubAPI", "Polling"], "EONET": ["Polling"],
    "Jokes": ["Polling"], "HTTPPoll": ["Polling"], "CombineLatest": ["Joining"], "Zip": ["Joining"],
    "WithLatestFrom": ["Joining"],
    "Filter": ["Conditions"], "Map": ["Conditions"], "Scan": ["Conditions"],
    "Switch": ["Conditions"],
    "Exec": ["Lines"], "JSONLinesFile": ["Lines"],
]

/// A program under Examples/ that uses feedbus as a library.
func example(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: ["Feedbus"], path: "Examples/\(name)", swiftSettings: swiftSettings)
}

/// The tests of a target, under Tests/.
func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, swiftSettings: swiftSettings)
}

let pluginNames = [
    "GitHubEvents", "TrendingRepos", "EONET", "Jokes", "HTTPPoll", "Translation", "Console", "JSONLines", "Exec",
    "Null", "Take", "CombineLatest", "Zip", "WithLatestFrom", "Concat", "Switch", "Window",
    "Filter", "Map", "Distinct", "Scan", "Debounce", "Throttle", "Sample", "Delay",
    "JSONLinesFile", "Generate",
]

let package = Package(
    name: "feedbus",
    products: [
        .executable(name: "feedbus", targets: ["FeedbusCommand"]),
        .executable(name: "feedbus-benchmarks", targets: ["FeedbusBenchmarks"]),
        .executable(name: "feedbus-polls", targets: ["PollBenchmark"]),
        .library(name: "Feedbus", targets: ["Feedbus"]),
        .library(name: "FeedbusFlow", targets: ["FeedbusFlow"]),
        .library(name: "FeedbusPlugin", targets: ["FeedbusPlugin"]),
        .library(name: "FeedbusTestKit", targets: ["FeedbusTestKit"]),
    ],
    targets: [
        // C libraries, from Debian's -dev packages.
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        // apt: libcurl4-openssl-dev. It is loaded when it is first needed.
        .target(name: "CCurl"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // apt: libjq-dev
        .target(name: "CJQ", dependencies: ["CSimdJSON"], linkerSettings: [.linkedLibrary("jq")]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),  // apt: libsimdjson-dev

        // The house, from the ground up. A target imports only what stands above it in this list.
        module("FeedbusBase"),
        module("FeedbusFlow", ["FeedbusBase"]),
        module("FeedbusJSON", ["FeedbusBase", "CSimdJSON"]),
        module("FeedbusLoop", ["FeedbusBase", "CLibuv"]),
        module("FeedbusJQ", ["FeedbusBase", "CJQ"]),
        module("FeedbusHTTP", ["FeedbusLoop", "FeedbusJSON", "FeedbusBase", "CCurl"]),
        module("FeedbusStore", ["FeedbusLoop", "FeedbusBase", "CSQLite"]),
        // For programs that use feedbus as a library.
        module("Feedbus", ["FeedbusFlow", "FeedbusHTTP", "FeedbusJSON", "FeedbusLoop", "FeedbusBase"]),
        module("FeedbusPlugin", ["FeedbusFlow", "FeedbusHTTP", "FeedbusJSON", "FeedbusLoop", "FeedbusBase"]),
        module("FeedbusRuntime", ["FeedbusPlugin", "FeedbusStore"]),
        module(
            "FeedbusTestKit",
            [
                "FeedbusRuntime", "Feedbus", "FeedbusPlugin", "FeedbusHTTP", "FeedbusFlow", "FeedbusLoop",
                "FeedbusBase",
            ]),
    ]
        + [
            // Polling: options, memory and saved text of sources that poll. GitHubAPI: events, pages and links of GitHub.
            .target(
                name: "Polling", dependencies: ["FeedbusPlugin"], path: "Plugins/Polling", swiftSettings: swiftSettings),
            .target(
                name: "GitHubAPI", dependencies: ["FeedbusPlugin", "Polling"], path: "Plugins/GitHub",
                swiftSettings: swiftSettings),
            // Joining: stages that make one event of several.
            .target(
                name: "Joining", dependencies: ["FeedbusPlugin"], path: "Plugins/Joining", swiftSettings: swiftSettings),
            // Conditions: conditions on events, and jq expressions, of the stages that look into them.
            .target(
                name: "Conditions", dependencies: ["FeedbusPlugin", "FeedbusJQ"], path: "Plugins/Conditions",
                swiftSettings: swiftSettings),
            // Lines: JSON lines from files and children as events.
            .target(
                name: "Lines", dependencies: ["FeedbusPlugin", "CZlib"], path: "Plugins/Lines",
                swiftSettings: swiftSettings),
        ]
        + pluginNames.map(plugin)
        + [
            .target(
                name: "AllPlugins",
                dependencies: ["FeedbusPlugin"] + pluginNames.map { .byName(name: "\($0)Plugin") },
                path: "Plugins/All", swiftSettings: swiftSettings),
            .executableTarget(
                name: "FeedbusCommand",
                dependencies: ["FeedbusRuntime", "FeedbusTestKit", "FeedbusLoop", "AllPlugins"],
                swiftSettings: swiftSettings),
            .executableTarget(
                name: "FeedbusBenchmarks",
                dependencies: ["FeedbusPlugin", "FeedbusFlow", "FeedbusLoop", "FeedbusBase"],
                path: "Benchmarks/FeedbusBenchmarks", swiftSettings: swiftSettings),
            .executableTarget(
                name: "StoreBenchmark", dependencies: ["FeedbusStore", "FeedbusLoop", "FeedbusBase", "CSQLite"],
                path: "Benchmarks/StoreBenchmark", swiftSettings: swiftSettings),
            .executableTarget(
                name: "SinkBenchmark",
                dependencies: ["JSONLinesPlugin", "FeedbusPlugin", "FeedbusLoop", "FeedbusBase"],
                path: "Benchmarks/SinkBenchmark", swiftSettings: swiftSettings),
            .executableTarget(
                name: "PollBenchmark", dependencies: ["FeedbusHTTP", "FeedbusLoop", "FeedbusBase"],
                path: "Benchmarks/PollBenchmark", swiftSettings: swiftSettings),
            // The plugins that Docs/WritingAPlugin.md shows.
            .target(
                name: "ExamplePlugins", dependencies: ["FeedbusPlugin"], path: "Examples/Plugins",
                swiftSettings: swiftSettings),
            example("GitHubFeed"), example("JokesWithTranslation"), example("NaturalEvents"),
            tests("FeedbusFlow", ["FeedbusTestKit", "FeedbusLoop", "FeedbusBase"]),
            tests("FeedbusPlugin", ["FeedbusFlow", "FeedbusJSON", "FeedbusBase"]),
            tests("FeedbusLoop", ["FeedbusBase"]),
            tests("FeedbusHTTP", ["FeedbusTestKit", "FeedbusLoop", "FeedbusJSON", "FeedbusBase"]),
            tests("FeedbusJSON", ["FeedbusBase"]),
            tests("FeedbusJQ", ["FeedbusBase"]),
            tests("FeedbusStore", ["FeedbusLoop", "FeedbusBase", "CSQLite"]),
            tests(
                "FeedbusRuntime",
                [
                    "FeedbusTestKit", "FeedbusPlugin", "FeedbusStore", "FeedbusHTTP", "FeedbusLoop", "FeedbusFlow",
                    "FeedbusJSON", "FeedbusBase",
                ]),
            // Whole graphs of real and of test plugins, with faults, in orders drawn from seeds.
            .testTarget(
                name: "FeedbusSimulationTests",
                dependencies: ["AllPlugins", "FeedbusTestKit", "FeedbusPlugin", "FeedbusFlow", "FeedbusBase"],
                swiftSettings: swiftSettings),
            tests(
                "FeedbusCommand",
                [
                    "FeedbusRuntime", "FeedbusStore", "FeedbusTestKit", "FeedbusPlugin", "FeedbusJSON", "FeedbusLoop",
                    "FeedbusBase",
                ]),
            .testTarget(
                name: "PluginTests",
                dependencies: [
                    "NullPlugin", "TakePlugin", "ConsolePlugin", "JSONLinesPlugin", "ExecPlugin", "TranslationPlugin",
                    "JSONLinesFilePlugin", "GeneratePlugin", "Lines", "FeedbusPlugin", "FeedbusTestKit",
                ], swiftSettings: swiftSettings),
            // What writes a user's files, on files whose system calls fail.
            .testTarget(
                name: "FileFaultTests",
                dependencies: ["JSONLinesPlugin", "FeedbusPlugin", "FeedbusTestKit", "FeedbusLoop"],
                swiftSettings: swiftSettings),
            .testTarget(
                name: "StagePluginTests",
                dependencies: [
                    "CombineLatestPlugin", "ZipPlugin", "WithLatestFromPlugin", "ConcatPlugin", "SwitchPlugin",
                    "Joining",
                    "FilterPlugin", "MapPlugin", "DistinctPlugin", "ScanPlugin", "DebouncePlugin", "ThrottlePlugin",
                    "SamplePlugin", "DelayPlugin", "TakePlugin", "WindowPlugin", "Conditions", "FeedbusPlugin",
                    "FeedbusTestKit",
                ], swiftSettings: swiftSettings),
            // The plugins of Docs/WritingAPlugin.md, compiled and tested.
            .testTarget(
                name: "ExamplePluginTests", dependencies: ["ExamplePlugins", "FeedbusPlugin", "FeedbusTestKit"],
                swiftSettings: swiftSettings),
            // The programs under Examples/, and the snippets of Docs/ComingFrom.md.
            .testTarget(
                name: "ExampleProgramTests",
                dependencies: ["GitHubFeed", "JokesWithTranslation", "NaturalEvents", "Feedbus", "FeedbusTestKit"],
                swiftSettings: swiftSettings),
            .testTarget(
                name: "SourcePluginTests",
                dependencies: [
                    "GitHubEventsPlugin", "TrendingReposPlugin", "EONETPlugin", "JokesPlugin", "HTTPPollPlugin",
                    "GitHubAPI", "Polling",
                    "FeedbusPlugin", "FeedbusTestKit",
                ], swiftSettings: swiftSettings),
        ],
    cxxLanguageStandard: .cxx17
)
