// feedbus: tests of the options of the four sources.

import EONETPlugin
import FeedbusPlugin
import GitHubEventsPlugin
import JokesPlugin
import Testing
import TrendingReposPlugin

@Suite struct OptionsTests {
    @Test(arguments: ["interval", "intervall", "period", "poll_interval"])
    func everyIsFoundUnderOtherNames(_ name: String) {
        let text = "{\"\(name)\": \"10s\"}"
        let problems = [
            decode(GitHubEventsOptions.self, text).problems, decode(TrendingReposOptions.self, text).problems,
            decode(EONETOptions.self, text).problems, decode(JokesOptions.self, text).problems,
        ]
        for found in problems { #expect(found.map(\.suggestion) == ["every"]) }
    }

    @Test(arguments: [
        "{\"repo\": 17}", "{\"repo\": \"noslash\"}", "{\"repo\": \"a/b/c\"}", "{\"repo\": \"a/..\"}",
        "{\"repo\": \"a/b?c\"}",
        "{\"repos\": []}", "{\"repos\": [\"a/b\", \"c\"]}", "{\"per_page\": 0}", "{\"per_page\": 101}",
        "{\"max_pages\": \"many\"}", "{\"history\": \"some\"}", "{\"history\": -1}", "{\"history\": true}",
        "{\"every\": \"often\"}", "{\"every\": \"500ms\"}", "{\"token\": \"ghp_plain\"}", "{\"org\": \"a b\"}",
        "{\"base_url\": \"ftp://x\"}", "{\"timeout\": \"1ms\"}",
    ])
    func wrongOptionsOfGitHubEvents(_ text: String) {
        #expect(decode(GitHubEventsOptions.self, text).problems.count == 1)
    }

    @Test(arguments: [
        "{\"limit\": 0}", "{\"limit\": 101}", "{\"sort\": \"star\"}", "{\"on\": \"always\"}", "{\"q\": \"\"}",
        "{\"max_concurrent\": 0}",
    ])
    func wrongOptionsOfTrendingRepos(_ text: String) {
        #expect(decode(TrendingReposOptions.self, text).problems.count == 1)
    }

    @Test(arguments: [
        "{\"api\": \"v1\"}", "{\"days\": 0}", "{\"status\": \"all\"}", "{\"categories\": []}",
        "{\"categories\": \"drought\"}",
        "{\"categories\": [\"a&b\"]}", "{\"categories\": [null]}", "{\"by\": \"event\"}", "{\"limit\": 0}",
    ])
    func wrongOptionsOfEONET(_ text: String) {
        #expect(decode(EONETOptions.self, text).problems.count == 1)
    }

    @Test(arguments: [
        "{\"service\": \"icanhazdadjokes\"}", "{\"count\": 0}", "{\"category\": \"a b\"}", "{\"category\": \"\"}",
    ])
    func wrongOptionsOfJokes(_ text: String) {
        #expect(decode(JokesOptions.self, text).problems.count == 1)
    }

    @Test func everyDefaultIsShownAndEveryOptionHasHelp() {
        let lists = [
            GitHubEventsOptions.summaries, TrendingReposOptions.summaries, EONETOptions.summaries,
            JokesOptions.summaries,
        ]
        for summaries in lists {
            #expect(Set(summaries.map(\.name)).count == summaries.count)
            for summary in summaries { #expect(!summary.help.isEmpty) }
            #expect(summaries.first { $0.name == "timeout" }?.defaultText == "\"30s\"")
            #expect(summaries.first { $0.name == "max_body" }?.defaultText == "\"16MiB\"")
        }
        #expect(
            lists.map { $0.first { $0.name == "every" }?.defaultText } == ["\"60s\"", "\"10m\"", "\"15m\"", "\"10s\""])
        #expect(GitHubEventsOptions.summaries.first { $0.name == "history" }?.defaultText == "\"all\"")
    }

    // MARK: - Options against each other

    private func problems<Plugin: Source>(_ type: Plugin.Type, _ with: String) throws -> [ConfigProblem] {
        var registry = PluginRegistry()
        registry.add(type)
        let node = try #require(ConfigText.parse(Bytes("{\"with\": \(with)}")).value)
        let checking = OptionCheck(
            owner: Plugin.name, node: node, directory: "/", environment: [:], isExecutable: { _ in false })
        let context = OptionContext(owner: Plugin.name, environment: [:], readFile: { _ in nil })
        return try #require(registry.plugin(Plugin.name, .source)).prepare(checking, context).1
    }

    @Test(arguments: [
        "{}", "{\"repo\": \"a/b\", \"org\": \"c\"}", "{\"public\": false}", "{\"public\": true, \"user\": \"u\"}",
        "{\"repo\": \"a/b\", \"repos\": [\"a/b\"]}",
    ])
    func exactlyOneSubject(_ with: String) throws {
        let found = try problems(GitHubEvents.self, with)
        #expect(found.count == 1)
        for name in ["repo", "repos", "org", "user", "public"] { #expect(found[0].message.contains("\"\(name)\"")) }
    }

    @Test func oneSubjectIsFine() throws {
        #expect(try problems(GitHubEvents.self, "{\"repo\": \"a/b\", \"public\": false}").isEmpty)
    }

    @Test func dadJokesHaveNoCategories() throws {
        #expect(try problems(Jokes.self, "{\"service\": \"icanhazdadjoke\", \"category\": \"dev\"}").count == 1)
        #expect(try problems(Jokes.self, "{\"service\": \"official\", \"category\": \"dev\"}").isEmpty)
    }
}
