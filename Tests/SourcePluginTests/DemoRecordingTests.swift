// feedbus: the sample's recording answers what the sample's sources ask.

import EONETPlugin
import FeedbusHTTP
import FeedbusPlugin
import FeedbusTestKit
import GitHubEventsPlugin
import JokesPlugin
import Testing
import TrendingReposPlugin

@Suite struct DemoRecordingTests {
    /// What a source of the sample emits within a time, from the recording.
    private func play<Plugin: Source>(
        _ type: Plugin.Type, _ with: String, for duration: Duration = .seconds(5)
    ) throws -> [Event] {
        let har = try SharedData.read("\(SharedData.packageFolder)/Recordings/demo.har")
        let recording = try RecordedTransport(har: har, name: "demo.har")
        return try Simulation.run { simulation in
            let stage = TestStage(simulation, recording: recording)
            try await stage.run(type, options(Plugin.Options.self, with), for: duration)
            #expect(stage.log() == [])
            return stage.events
        }
    }

    private func check<Plugin: Source>(_ events: [Event], _ type: Plugin.Type) {
        #expect(Set(events.map(\.id)).count == events.count)
        for event in events {
            #expect(event.origin.recorded)
            #expect(type.headline(of: event) != nil)
        }
    }

    @Test func eventsOfTwoPages() throws {
        let events = try play(GitHubEvents.self, "{\"repo\": \"ReactiveX/RxSwift\"}", for: .seconds(600))
        #expect(events.count == 36)
        check(events, GitHubEvents.self)
        let times = events.map(\.time.string)
        #expect(times == times.sorted())
        #expect(Set(events.map(\.origin.type.string)).count >= 12)
    }

    @Test func fiveRepositoriesWithFiveEventsEach() throws {
        let events = try play(TrendingRepos.self, "{\"q\": \"language:swift\", \"limit\": 5}")
        #expect(events.count == 30)
        check(events, TrendingRepos.self)
    }

    @Test func thirteenCategoriesAndTheEvents() throws {
        let events = try play(EONET.self, "{\"days\": 360}")
        #expect(events.count { $0.origin.type == "gov.nasa.eonet.category" } == 13)
        #expect(events.count == 26)
        check(events, EONET.self)
    }

    @Test func twelveJokes() throws {
        let jokes = try play(Jokes.self, "{\"every\": \"10s\"}", for: .seconds(300))
        #expect(jokes.count == 12)
        check(jokes, Jokes.self)
    }
}
