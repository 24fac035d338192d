// feedbus: tests of the source GitHubEvents as a whole.

import FeedbusPlugin
import Testing

@testable import GitHubEventsPlugin

@Suite struct GitHubEventsTests {
    private static let list = "\(github)/repos/octo/cat/events"
    private static let first = "\(list)?per_page=30"
    private static let one = options(GitHubEventsOptions.self, "{\"repo\": \"octo/cat\"}")

    @Test func cloudEventsOldestFirst() throws {
        try onStage { stage in
            stage.service.on(Self.first, page([3, 2, 1]))
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == ["1", "2", "3"])
            let event = stage.events[0]
            #expect(event.origin.source == Bytes(Self.list) && event.origin.node == "rx" && !event.origin.recorded)
            #expect(event.origin.type == "com.github.event.PushEvent")
            #expect(event.subject == "octo/cat" && event.time == "2026-03-01T10:00:01Z")
            #expect(event.data == minified(Bytes(gitHubEvent(1))))
            let request = stage.service.requests[0]
            #expect(request.headers["Accept"] == "application/vnd.github+json")
            #expect(request.headers["X-GitHub-Api-Version"] == "2022-11-28")
            #expect(request.headers["If-None-Match"] == nil)
        }
    }

    @Test func aSecondRunEmitsOnlyWhatIsNew() throws {
        try onStage { stage in
            stage.service.on(Self.first, page([2, 1]))
            try await stage.once(GitHubEvents.self, Self.one)
            stage.forget()
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == [])
            stage.service.on(Self.first, page([4, 3, 2, 1]))
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == ["3", "4"])
            #expect(stage.log() == [])
        }
    }

    @Test func nothingNewIsNotSavedAgain() throws {
        try onStage { stage in
            stage.service.on(Self.first, tagged(page([2, 1])))
            try await stage.run(GitHubEvents.self, Self.one, for: .seconds(600))
            #expect(stage.service.urls.count >= 8)
            #expect(stage.service.requests.dropFirst().allSatisfy { $0.headers["If-None-Match"] != nil })
            #expect(stage.ids == ["1", "2"] && stage.saves == 1)
        }
    }

    @Test func pagesAreFollowedAndOnlyTheFirstIsConditional() throws {
        try onStage { stage in
            let second = "\(github)/repositories/9/events?per_page=30&page=2"
            stage.service.on(
                Self.first, tagged(page([4, 3]), headers: link(second)), tagged(page([9, 8]), headers: link(second)))
            stage.service.on(second, tagged(page([2, 1])), tagged(page([7, 4, 3])))
            try await stage.once(GitHubEvents.self, Self.one)
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == ["1", "2", "3", "4", "7", "8", "9"])
            #expect(stage.service.urls == [Self.first, second, Self.first, second])
            #expect(stage.service.requests.map { $0.headers["If-None-Match"] != nil } == [false, false, true, false])
            #expect(stage.log() == [])
        }
    }

    @Test func theTokenStaysWithItsService() throws {
        try onStage { stage in
            stage.service.on(Self.first, page([1]), headers: link("https://evil.example/events?page=2"))
            let secret = options(
                GitHubEventsOptions.self, "{\"repo\": \"octo/cat\", \"token\": {\"secret\": \"env:TOKEN\"}}")
            try await stage.once(GitHubEvents.self, secret)
            #expect(stage.service.urls == [Self.first])
            #expect(stage.service.requests[0].bearer?.reveal() == "secret-token")
            #expect(stage.ids == ["1"])
            #expect(stage.log().contains { $0.contains("another server") })
        }
    }

    @Test func a422BehindTheLastPageIsQuiet() throws {
        try onStage { stage in
            let second = "\(github)/p2"
            stage.service.on(Self.first, page([1]), headers: link(second))
            stage.service.on(second, failing(422, "pagination is limited"))
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == ["1"] && stage.log() == [])
        }
    }

    @Test func a422OfTheFirstPageIsAnError() throws {
        try onStage { stage in
            stage.service.on(Self.first, failing(422, "no such thing"))
            await #expect(throws: FeedbusError.self) { try await stage.once(GitHubEvents.self, Self.one) }
        }
    }

    @Test func aFailingSecondPageLosesNothing() throws {
        try onStage { stage in
            let second = "\(github)/p2"
            stage.service.on(Self.first, tagged(page([4, 3]), headers: link(second)))
            stage.service.on(second, failing(500), tagged(page([2, 1])))
            await #expect(throws: FeedbusError.self) { try await stage.once(GitHubEvents.self, Self.one) }
            #expect(stage.ids == [] && stage.saves == 0)
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == ["1", "2", "3", "4"])
        }
    }

    @Test func aGapIsAnnounced() throws {
        try onStage { stage in
            stage.service.on(Self.first, page([2, 1]), page([20, 19]))
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.log() == [])
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == ["1", "2", "19", "20"])
            #expect(stage.log().contains { $0.hasPrefix("gap:") })
        }
    }

    @Test(arguments: [("\"none\"", []), ("2", ["4", "5"]), ("0", []), ("99", ["1", "2", "3", "4", "5"])])
    func historyLimitsTheFirstPoll(_ history: String, _ expected: [String]) throws {
        try onStage { stage in
            let limited = options(GitHubEventsOptions.self, "{\"repo\": \"octo/cat\", \"history\": \(history)}")
            stage.service.on(Self.first, page([5, 4, 3, 2, 1]), page([6, 5, 4, 3, 2, 1]))
            try await stage.once(GitHubEvents.self, limited)
            #expect(stage.ids == expected)
            try await stage.once(GitHubEvents.self, limited)
            #expect(stage.ids == expected + ["6"])
        }
    }

    @Test func typesAreKeptAndTheOthersAreKnownAllTheSame() throws {
        try onStage { stage in
            let stars = options(
                GitHubEventsOptions.self, "{\"repo\": \"octo/cat\", \"types\": [\"WatchEvent\"], \"history\": 1}")
            let body =
                "[\(gitHubEvent(3)), \(gitHubEvent(2, type: "WatchEvent")), \(gitHubEvent(1, type: "WatchEvent"))]"
            stage.service.on(
                Self.first, body, "[\(gitHubEvent(5)), \(gitHubEvent(4, type: "WatchEvent")), \(gitHubEvent(3))]")
            try await stage.once(GitHubEvents.self, stars)
            try await stage.once(GitHubEvents.self, stars)
            #expect(stage.ids == ["2", "4"] && stage.log() == [])
        }
    }

    @Test func aStuckValidatorIsNoticed() throws {
        try onStage { stage in
            stage.service.on(
                Self.first,
                { request, turn in
                    request.headers["If-None-Match"] != nil
                        ? reply("", status: 304, to: request)
                        : reply(page(turn == 0 ? [1] : [2, 1]), headers: ["ETag": "\"e\(turn)\""], to: request)
                })
            let often = options(
                GitHubEventsOptions.self, "{\"repo\": \"octo/cat\", \"every\": \"1s\", \"revalidate_after\": 3}")
            try await stage.run(GitHubEvents.self, often, for: .seconds(10))
            #expect(stage.ids == ["1", "2"])
            #expect(
                stage.service.requests.prefix(6).map { $0.headers["If-None-Match"] != nil } == [
                    false, true, true, true, false, true,
                ])
            #expect(stage.log().count { $0.contains("stuck validator") } == 1)
        }
    }

    @Test func severalRepositoriesOneAfterTheOther() throws {
        try onStage(latency: .milliseconds(100)) { stage in
            let many = options(GitHubEventsOptions.self, "{\"repos\": [\"a/a\", \"b/b\", \"A/A\", \"c/c\"]}")
            stage.service.on("\(github)/repos/a/a/events?per_page=30", page([1], repo: "a/a"))
            stage.service.on("\(github)/repos/b/b/events?per_page=30", failing(404))
            stage.service.on("\(github)/repos/c/c/events?per_page=30", page([2], repo: "c/c"))
            try await stage.run(GitHubEvents.self, many, for: .seconds(200))
            #expect(stage.ids == ["1", "2"])
            #expect(Set(stage.cursors.keys) == ["\(github)/repos/a/a/events", "\(github)/repos/c/c/events"])
            #expect(stage.service.openMost == 1)
            // The missing one rests for five minutes, the others are asked every minute.
            #expect(stage.service.urls.count { $0.contains("b/b") } == 1)
            #expect(stage.service.urls.count { $0.contains("a/a") } >= 3)
            #expect(stage.log(.error).count == 1)
        }
    }

    @Test func onceFailsWhereOneRepositoryDoesAfterTheOthersAreDone() throws {
        try onStage { stage in
            let many = options(GitHubEventsOptions.self, "{\"repos\": [\"b/b\", \"a/a\"]}")
            stage.service.on("\(github)/repos/a/a/events?per_page=30", page([1], repo: "a/a"))
            stage.service.on("\(github)/repos/b/b/events?per_page=30", failing(404))
            await #expect(throws: FeedbusError.self) { try await stage.once(GitHubEvents.self, many) }
            #expect(stage.ids == ["1"])
        }
    }

    @Test func thePollIntervalIsObeyed() throws {
        try onStage { stage in
            stage.service.on(Self.first, tagged(page([1]), headers: ["X-Poll-Interval": "60"]))
            let often = options(GitHubEventsOptions.self, "{\"repo\": \"octo/cat\", \"every\": \"1s\"}")
            try await stage.run(GitHubEvents.self, often, for: .seconds(125))
            #expect(stage.service.urls.count == 3)
        }
    }

    @Test(arguments: [
        ("{\"org\": \"apple\"}", "/orgs/apple/events"), ("{\"user\": \"octocat\"}", "/users/octocat/events"),
        ("{\"public\": true}", "/events"), ("{\"repo\": \"a/b\"}", "/repos/a/b/events"),
    ])
    func everyKindOfList(_ text: String, _ path: String) {
        #expect(options(GitHubEventsOptions.self, text).lists == [github + path])
    }

    @Test func anUnreadableCursorIsReported() throws {
        try onStage { stage in
            stage.setCursor(Self.list, "nonsense")
            stage.service.on(Self.first, page([1]))
            try await stage.once(GitHubEvents.self, Self.one)
            #expect(stage.ids == ["1"])
            #expect(stage.log().contains { $0.contains("cannot be read") })
        }
    }

    @Test func anotherPageSizeHasOtherValidators() throws {
        try onStage { stage in
            stage.service.on(Self.first, tagged(page([2, 1])))
            stage.service.on("\(Self.list)?per_page=100", tagged(page([3, 2, 1])))
            try await stage.once(GitHubEvents.self, Self.one)
            let larger = options(GitHubEventsOptions.self, "{\"repo\": \"octo/cat\", \"per_page\": 100}")
            try await stage.once(GitHubEvents.self, larger)
            #expect(stage.service.requests[1].headers["If-None-Match"] == nil)
            #expect(stage.ids == ["1", "2", "3"])
        }
    }

    /// One unconditional request in an hour, also where every run is a new one.
    @Test func runsWithOnceAskConditionallyAgainAfterTheHour() throws {
        try onStage { stage in
            let url = "\(github)/repos/octo/cat/events?per_page=30"
            stage.service.on(url, tagged(page([2, 1])))
            let options = options(GitHubEventsOptions.self, "{\"repo\": \"octo/cat\"}")
            var bare: [Bool] = []
            for _ in 1...9 {
                stage.forget()
                try await stage.once(GitHubEvents.self, options)
                bare.append(stage.service.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
                #expect(bare.last == stage.service.requests.contains { $0.headers["If-None-Match"] == nil })
                try await stage.sleep(for: .seconds(1_200))
            }
            #expect(bare == [true, false, false, true, false, false, true, false, false])
        }
    }

    /// A message in place of the list is no first poll, and its validators are not kept.
    @Test func anAnswerWithoutOneEventIsNoPoll() throws {
        try onStage { stage in
            let url = "\(github)/repos/octo/cat/events?per_page=30"
            stage.service.on(url, tagged("[{\"message\": \"maintenance\"}]"), tagged(page([2, 1])))
            let options = options(GitHubEventsOptions.self, "{\"repo\": \"octo/cat\", \"history\": \"none\"}")
            await #expect(throws: FeedbusError.self) { try await stage.once(GitHubEvents.self, options) }
            #expect(stage.saves == 0)
            try await stage.once(GitHubEvents.self, options)
            #expect(stage.ids.isEmpty && stage.saves == 1)
            #expect(stage.service.requests[1].headers["If-None-Match"] == nil)
        }
    }
}
