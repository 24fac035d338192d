// feedbus: tests of the source EONET as a whole.

import FeedbusPlugin
import Polling
import Testing

@testable import EONETPlugin

@Suite struct EONETTests {
    private static let categories = "\(eonetBase)/categories"
    private static let open = "\(eonetBase)/events?status=open&days=360"
    private static let closed = "\(eonetBase)/events?status=closed&days=360"
    private static let standard = options(EONETOptions.self, "{}")

    private static func serve(_ stage: TestStage) {
        stage.service.on(categories, tagged(naturalCategories(["wildfires": "Wildfires", "snow": "Snow"])))
        stage.service.on(
            open,
            tagged(
                naturalEvents(
                    naturalEvent(3, dates: "2026-02-03T00:00:00Z"), naturalEvent(2, dates: "2026-02-02T00:00:00Z"))))
        stage.service.on(
            closed, tagged(naturalEvents(naturalEvent(1, "snow", title: "Sno", closed: "2026-01-01T00:00:00Z"))))
    }

    @Test func categoriesThenOpenThenClosed() throws {
        try onStage(latency: .milliseconds(100)) { stage in
            Self.serve(stage)
            try await stage.once(EONET.self, Self.standard)
            #expect(
                stage.events.map { $0.id.string.prefix { $0 != "@" } } == [
                    "snow", "wildfires", "EONET_2", "EONET_3", "EONET_1",
                ])
            #expect(stage.events.map(\.origin.type.string).first == "gov.nasa.eonet.category")
            let last = try #require(stage.events.last)
            #expect(last.origin.type == "gov.nasa.eonet.event" && last.origin.source.string == "\(eonetBase)/events")
            #expect(last.time == "2026-01-01T00:00:00Z" && last.subject == "EONET_1")
            #expect(last.data.string.contains("\"title\":\"Snow\""))
            #expect(stage.service.openMost == 2)
            #expect(EONET.headline(of: last) == "Snow: Fire 1 (closed)")
            #expect(EONET.headline(of: stage.events[0]) == "category Snow")
        }
    }

    @Test func aSecondRunEmitsOnlyChanges() throws {
        try onStage { stage in
            Self.serve(stage)
            try await stage.once(EONET.self, Self.standard)
            stage.forget()
            try await stage.once(EONET.self, Self.standard)
            #expect(stage.events.isEmpty && stage.saves == 0)
            #expect(stage.service.requests.allSatisfy { $0.headers["If-None-Match"] != nil })
            stage.service.on(Self.open, tagged(naturalEvents(naturalEvent(3, dates: "2026-02-04T00:00:00Z"))))
            stage.service.on(
                Self.categories, tagged(naturalCategories(["wildfires": "Wild Fires", "snow": "Snow"])))
            try await stage.once(EONET.self, Self.standard)
            #expect(stage.events.map(\.subject.string) == ["wildfires", "EONET_3"])
            // The titles of the list as it is now.
            #expect(stage.events[1].data.string.contains("\"title\":\"Wild Fires\""))
        }
    }

    @Test func titlesAreThereAfterARestartAndA304() throws {
        try onStage { stage in
            Self.serve(stage)
            try await stage.once(EONET.self, Self.standard)
            stage.forget()
            stage.service.on(Self.closed, naturalEvents(naturalEvent(9, "snow", title: "Sno")))
            try await stage.once(EONET.self, Self.standard)
            #expect(stage.events.count == 1 && stage.events[0].data.string.contains("\"title\":\"Snow\""))
        }
    }

    @Test func failedCategoriesLeaveTheEvents() throws {
        try onStage { stage in
            Self.serve(stage)
            stage.service.on(Self.categories, failing(500))
            try await stage.once(EONET.self, Self.standard)
            #expect(stage.events.map(\.subject.string) == ["EONET_2", "EONET_3", "EONET_1"])
            #expect(stage.events[2].data.string.contains("\"title\":\"Sno\""))
            #expect(stage.log().contains { $0.hasPrefix("no categories") })
        }
    }

    @Test func aFailedHalfLeavesTheOther() throws {
        try onStage { stage in
            Self.serve(stage)
            stage.service.on(Self.open, failing(500), tagged(naturalEvents(naturalEvent(3))))
            try await stage.once(EONET.self, Self.standard)
            #expect(stage.events.map(\.subject.string) == ["snow", "wildfires", "EONET_1"])
            #expect(stage.log().contains { $0.hasPrefix("no open events") })
            try await stage.once(EONET.self, Self.standard)
            #expect(stage.events.map(\.subject.string).suffix(1) == ["EONET_3"] && stage.events.count == 4)
        }
    }

    @Test func aHalfThatTakesLongDoesNotHoldTheOther() throws {
        try onStage { stage in
            Self.serve(stage)
            stage.service.on(Self.open, failing(500))
            try await stage.run(
                EONET.self, Self.standard, for: .seconds(2),
                retry: RetryPolicy(attempts: 5, base: .seconds(60), jitter: false))
            #expect(stage.events.map(\.subject.string) == ["snow", "wildfires", "EONET_1"])
        }
    }

    @Test func aPollWithoutAnyEventsHasFailed() throws {
        try onStage { stage in
            Self.serve(stage)
            stage.service.on(Self.open, failing(500))
            stage.service.on(Self.closed, failing(500))
            await #expect(throws: FeedbusError.self) { try await stage.once(EONET.self, Self.standard) }
            #expect(stage.events.map(\.subject.string) == ["snow", "wildfires"])
        }
    }

    @Test func onlySomeCategoriesWhateverTheServiceSends() throws {
        try onStage { stage in
            Self.serve(stage)
            let snow = options(EONETOptions.self, "{\"categories\": [\"snow\"], \"status\": \"open\"}")
            stage.service.on(
                "\(Self.open)&category=snow",
                naturalEvents(naturalEvent(1), naturalEvent(2, "snow", title: "Snow")))
            try await stage.once(EONET.self, snow)
            #expect(stage.events.map(\.subject.string) == ["snow", "EONET_2"])
        }
    }

    @Test func oneRequestACategoryWithProgress() throws {
        try onStage(latency: .milliseconds(100)) { stage in
            Self.serve(stage)
            let divided = options(EONETOptions.self, "{\"by\": \"category\", \"max_concurrent\": 1}")
            stage.service.on("\(eonetBase)/events?category=snow&status=all&days=360", failing(500))
            stage.service.on(
                "\(eonetBase)/events?category=wildfires&status=all&days=360",
                naturalEvents(naturalEvent(1), naturalEvent(2)))
            try await stage.once(EONET.self, divided)
            #expect(stage.events.map(\.subject.string) == ["snow", "wildfires", "EONET_2", "EONET_1"])
            #expect(stage.service.openMost == 1)
            let progress = stage.log(.info).filter { $0.contains(" of 2: ") }
            #expect(progress == ["1 of 2: category Snow, failed", "2 of 2: category Wildfires, events: 2"])
        }
    }

    @Test func elementsThatAreNoEventsAreNamed() throws {
        try onStage { stage in
            Self.serve(stage)
            stage.service.on(Self.open, "{\"events\": [7, \(naturalEvent(1))]}")
            try await stage.once(EONET.self, Self.standard)
            #expect(stage.log() == ["left out of the open events, as they are no objects with an id: 1"])
        }
    }

    /// One unconditional request in an hour, also where every run is a new one.
    @Test func runsWithOnceAskConditionallyAgainAfterTheHour() throws {
        try onStage { stage in
            Self.serve(stage)
            let options = Self.standard
            var bare: [Bool] = []
            for _ in 1...9 {
                stage.forget()
                try await stage.once(EONET.self, options)
                bare.append(stage.service.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
                #expect(bare.last == stage.service.requests.contains { $0.headers["If-None-Match"] == nil })
                try await stage.sleep(for: .seconds(1_200))
            }
            #expect(bare == [true, false, false, true, false, false, true, false, false])
        }
    }

    @Test func whatIsRefusedRestsWhileTheRestGoesOn() throws {
        try onStage { stage in
            Self.serve(stage)
            stage.service.on(Self.categories, failing(403))
            stage.service.on(Self.closed, failing(403))
            let often = options(EONETOptions.self, "{\"every\": \"1m\"}")
            try await stage.run(EONET.self, often, for: .seconds(3_500))
            for url in [Self.categories, Self.closed] { #expect(stage.service.urls.count { $0 == url } == 4) }
            #expect(stage.service.urls.count { $0 == Self.open } > 50)
            #expect(stage.log().count == 8)
        }
    }

    /// What has failed once is asked for again at the next poll where polls are slow enough.
    @Test func aFailureOnceCostsNoPoll() throws {
        try onStage(latency: .seconds(1)) { stage in
            Self.serve(stage)
            stage.service.on(Self.categories, failing(500), tagged(naturalCategories(["snow": "Snow"])))
            stage.service.on(Self.open, failing(500), tagged(naturalEvents(naturalEvent(3))))
            try await stage.run(EONET.self, Self.standard, for: .seconds(1_100))
            #expect(stage.events.map(\.subject.string) == ["EONET_1", "snow", "EONET_3"])
        }
    }

    @Test func anEmptyAnswerIsNoReasonToRepeatEverything() throws {
        try onStage { stage in
            Self.serve(stage)
            let full = naturalEvents(naturalEvent(3), naturalEvent(2))
            stage.service.on(Self.open, full, "{\"events\": []}", full, naturalEvents(naturalEvent(2), naturalEvent(3)))
            for _ in 0..<4 { try await stage.once(EONET.self, Self.standard) }
            #expect(stage.events.map(\.subject.string) == ["snow", "wildfires", "EONET_2", "EONET_3", "EONET_1"])
        }
    }
}

@Suite(.enabled(if: SharedData.exists, SharedData.missing))
struct EONETRecordingsTests {
    private func answer(_ name: String) throws -> (body: Bytes, answer: EventsAnswer) {
        let body = try SharedData.read("eonet/\(name)")
        return (body, try EventsAnswer(HTTPResponse(status: 200, body: body, url: "u")))
    }

    /// Every event once, oldest first, its data the service's own text minified.
    private func check(_ body: Bytes, _ answer: EventsAnswer) throws {
        let originals = try #require(JSON.parse(body)["events"]).elements.map { minified($0.raw) }
        #expect(answer.unusable == 0)
        #expect(answer.events.map { $0.data(titles: [:]) } == originals)
        var memory = RevisionMemory()
        let query = EventsQuery(key: "k", url: "u", name: "n")
        let news = memory.take(answer.events, of: query)
        #expect(news.map(\.id) == answer.events.reversed().map(\.id))
        let again = memory.take(answer.events, of: query)
        #expect(again.isEmpty)
        #expect(Set(news.map { "\($0.id)@\($0.revision)" }).count == news.count)
        #expect(RevisionMemory(saved: SavedText.read(memory.saved)) == memory)
        for event in answer.events {
            #expect(!event.time.isEmpty && event.id.hasPrefix("EONET_"))
            #expect(event.categoryIDs.count == 1)
        }
    }

    @Test(arguments: [
        ("v3/aarlert__events-open-2026-07.json", 0), ("v3/cloudfright__events-open-2021-12.json", 385),
        ("v3/pratik152IT__events-open-2025-11.halfA.json", 2_831),
        ("v3/giovanniliverani__closed-with-polygon-2026-09.json", 2),
        ("v2.1/index21909427706__category-8-wildfires-2019-02.json", 5),
        ("v2.1/sneak555__category-8-wildfires-2019-10.json", 0),
    ])
    func everyListOfEvents(_ name: String, _ count: Int) throws {
        let (body, answer) = try answer(name)
        #expect(count == 0 ? !answer.events.isEmpty : answer.events.count == count)
        try check(body, answer)
    }

    @Test(arguments: [
        "v2.1/raditotev__events-array-2021-04.json", "v2.1/index3516378048__event-houston-polygon-2016.json",
    ])
    func partsOfAnswers(_ name: String) throws {
        let part = try SharedData.read("eonet/\(name)").string
        let body = Bytes("{\"events\": \(part.first == "[" ? part : "[\(part)]")}")
        try check(body, try EventsAnswer(HTTPResponse(status: 200, body: body, url: "u")))
    }

    @Test func geometriesAscendAndTheLastOneIsTheTime() throws {
        for name in ["v3/aarlert__events-open-2026-07.json", "v3/cloudfright__events-open-2021-12.json"] {
            let (body, answer) = try answer(name)
            for (event, original) in zip(answer.events, try #require(JSON.parse(body)["events"]).elements) {
                let dates = try #require(original["geometry"]).elements.compactMap { $0["date"]?.string }
                #expect(event.time.string == dates.last)
            }
        }
    }

    @Test func digitsSurvive() throws {
        let (_, storms) = try answer("v3/aarlert__events-open-2026-07.json")
        #expect(storms.events.contains { $0.data(titles: [:]).string.contains("\"magnitudeValue\":35.00") })
        let (_, fires) = try answer("v2.1/sneak555__category-8-wildfires-2019-10.json")
        #expect(fires.events.contains { $0.data(titles: [:]).string.contains("40.896999999999998") })
    }

    @Test func theOldestIsOfTwentyYearsAgoAndStillOpen() throws {
        let (body, _) = try answer("v3/pratik152IT__events-open-2025-11.halfA.json")
        let events = try #require(JSON.parse(body)["events"]).elements
        #expect(events.allSatisfy { $0["closed"]?.isNull == true })
        let dates = events.flatMap { ($0["geometry"]?.elements).map { $0.compactMap { $0["date"]?.string } } ?? [] }
        #expect(dates.min()?.hasPrefix("2002") == true || dates.min()?.hasPrefix("2011") == true)
    }

    @Test func oldEventsHaveNumbersForCategoriesAndNoClosedKey() throws {
        let (body, answer) = try answer("v2.1/index21909427706__category-8-wildfires-2019-02.json")
        #expect(answer.events.allSatisfy { $0.categoryIDs == ["8"] })
        #expect(try #require(JSON.parse(body)["events"]).elements.allSatisfy { $0["closed"] == nil })
        #expect(answer.events[0].data(titles: ["8": "Fires"]).string.contains("{\"id\":8,\"title\":\"Fires\"}"))
    }

    @Test(arguments: [
        ("v3/takervare__categories.json", "drought"), ("v2.1/index1344040943__categories-all13.json", "6"),
    ])
    func thirteenCategoriesByTitle(_ name: String, _ first: String) throws {
        let answer = try CategoriesAnswer(
            HTTPResponse(status: 200, body: try SharedData.read("eonet/\(name)"), url: "u"))
        #expect(answer.items.count == 13 && answer.unusable == 0)
        #expect(answer.items[0].category.id == first && answer.items[0].category.title == "Drought")
        #expect(answer.items.map(\.category.title) == answer.items.map(\.category.title).sorted())
    }

    @Test func aListOfOneCategory() throws {
        let body = try SharedData.read("eonet/v3/index12260521850__categories-one.json")
        #expect(try CategoriesAnswer(HTTPResponse(status: 200, body: body, url: "u")).items.count == 1)
    }

    @Test func geoJSONIsAnotherShape() throws {
        let body = try SharedData.read("eonet/v3/takervare__events-geojson-2025-09.json")
        #expect(throws: FeedbusError.self) { try EventsAnswer(HTTPResponse(status: 200, body: body, url: "u")) }
    }
}
