// feedbus: tests of EONET's answers, joins, requests and memory.

import FeedbusPlugin
import Polling
import Testing

@testable import EONETPlugin

/// A memory that `#expect` can change.
private final class Memory {
    var revisions = RevisionMemory()

    /// The news of a whole answer, by the request's key.
    func take(_ key: String, _ events: [NaturalEvent]) -> [String] {
        revisions.take(events, of: EventsQuery(key: key, url: "u/\(key)", name: key)).map(\.id)
    }
}

@Suite struct EONETAnswerTests {
    private func read(_ body: String) throws -> EventsAnswer {
        try EventsAnswer(HTTPResponse(status: 200, body: Bytes(body), url: "u"))
    }

    private func event(_ body: String) throws -> NaturalEvent {
        try #require(try read(naturalEvents(body)).events.first)
    }

    @Test func timeIsTheNewestGeometrysDate() throws {
        let fire = naturalEvent(
            1, dates: "2026-02-03T06:00:00Z", "2026-02-01T00:00:00Z", closed: "2026-02-09T00:00:00Z")
        #expect(try event(fire).time == "2026-02-03T06:00:00Z")
        let old = "{\"id\": \"E\", \"geometries\": [{\"date\": \"2019-01-01T00:00:00Z\"}, {\"date\": \"soon\"}, {}]}"
        #expect(try event(old).time == "2019-01-01T00:00:00Z")
        #expect(try event(naturalEvent(1, closed: "2026-02-09T00:00:00Z")).time == "2026-02-09T00:00:00Z")
        #expect(try event(naturalEvent(1)).time == "")
    }

    @Test func theRevisionChangesWithTheContentOnly() throws {
        let fire = naturalEvent(1, dates: "2026-02-01T00:00:00Z")
        let grown = naturalEvent(1, dates: "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z")
        let spaced = fire.replacing("Fire 1", with: "Fire  1")
        // Blanks inside strings are content, those between tokens are not.
        #expect(try event(fire.split(separator: "\n").joined(separator: "\n\t")).revision == event(fire).revision)
        #expect(try event(spaced).revision != event(fire).revision)
        #expect(try event(grown).revision != event(fire).revision)
        #expect(try event(fire).revision.count == 16)
    }

    @Test func theHashIsTheSameInEveryRun() {
        #expect(Bytes("EONET_1").contentHashText == "bbb8dd09d710e15c")
        #expect(Bytes("a").contentHashText != Bytes("b").contentHashText)
        #expect(Bytes("EONET").contentHashText == Bytes("EONET").contentHashText)
    }

    @Test func titlesOfTheListWinAndNothingElseChanges() throws {
        let body = """
            {"a":1.50,"categories":[{"id":"fire","title":"old","x":"\\u00e9"},{"id":"ice"},{"id":"new","title":"own"},7],"z":[]}
            """
        let whole = try event(body.replacing("{\"a\"", with: "{\"id\":\"E\",\"a\""))
        let titles = ["fire": "Wild \"Fires\"", "ice": "Ice"]
        #expect(
            whole.data(titles: titles)
                == """
                {"id":"E","a":1.50,"categories":[{"id":"fire","title":"Wild \\"Fires\\"","x":"\\u00e9"},{"id":"ice","title":"Ice"},{"id":"new","title":"own"},7],"z":[]}
                """)
        #expect(whole.data(titles: [:]).string.contains("\"title\":\"old\""))
    }

    @Test func whatIsAlreadyRightIsNotCopied() throws {
        let fire = try event(naturalEvent(1, dates: "2026-02-01T00:00:00Z"))
        let text = fire.data(titles: [:])
        #expect(fire.data(titles: ["wildfires": "Wildfires"]).buffer === text.buffer)
        #expect(text == minified(Bytes(naturalEvent(1, dates: "2026-02-01T00:00:00Z"))))
    }

    @Test func numbersAndTextAreBothIDs() throws {
        let body = "{\"id\": \"E\", \"categories\": [{\"id\": 8, \"title\": \"old\"}, {\"id\": \"x\"}, {\"id\": null}]}"
        let old = try event(body)
        #expect(old.categoryIDs == ["8", "x"])
        #expect(old.data(titles: ["8": "Fires"]).string.contains("{\"id\":8,\"title\":\"Fires\"}"))
    }

    @Test func whatIsNoEventIsCounted() throws {
        let answer = try read("{\"events\": [7, {\"title\": \"no id\"}, \(naturalEvent(1))]}")
        #expect(answer.events.count == 1 && answer.unusable == 2)
        #expect(try read("{\"events\": [\n]}").events.isEmpty)
        #expect(throws: FeedbusError.self) { try read("{\"title\": \"x\"}") }
    }

    @Test func categoriesAreSortedByTitle() throws {
        let answer = try CategoriesAnswer(
            HTTPResponse(
                status: 200,
                body: Bytes(naturalCategories(["w": "Wildfires", "d": "Drought", "s": "Severe Storms", "d": "again"])),
                url: "u"))
        #expect(answer.items.map(\.category.title) == ["Drought", "Severe Storms", "Wildfires"])
        #expect(answer.unusable == 1)
    }

    // MARK: - Requests

    private func urls(_ text: String, _ categories: [(String, String)] = []) -> [String] {
        let list = categories.map { Category(id: $0.0, title: $0.1, revision: "") }
        return EventsQuery.all(options(EONETOptions.self, text), categories: list).map(\.url)
    }

    @Test func oneRequestAStatus() {
        #expect(
            urls("{}") == ["\(eonetBase)/events?status=open&days=360", "\(eonetBase)/events?status=closed&days=360"])
        #expect(
            urls("{\"status\": \"closed\", \"days\": 7, \"limit\": 9}") == [
                "\(eonetBase)/events?status=closed&days=7&limit=9"
            ])
        #expect(
            urls("{\"status\": \"open\", \"categories\": [\"a\", \"b\"]}") == [
                "\(eonetBase)/events?status=open&days=360&category=a,b"
            ])
        #expect(
            urls("{\"status\": \"open\", \"api\": \"v2.1\", \"categories\": [8]}")
                == ["https://eonet.gsfc.nasa.gov/api/v2.1/events?status=open&days=360"])
    }

    @Test func oneRequestACategory() {
        let list = [("drought", "Drought"), ("snow", "Snow")]
        #expect(
            urls("{\"by\": \"category\"}", list)
                == ["drought", "snow"].map { "\(eonetBase)/events?category=\($0)&status=all&days=360" })
        #expect(
            urls("{\"by\": \"category\", \"categories\": [\"snow\"], \"status\": \"open\"}", list)
                == ["\(eonetBase)/events?category=snow&status=open&days=360"])
        let old = "https://eonet.gsfc.nasa.gov/api/v2.1/categories/8?status="
        #expect(
            urls("{\"by\": \"category\", \"api\": \"v2.1\"}", [("8", "Wildfires")])
                == ["\(old)open&days=360", "\(old)closed&days=360"])
        // Without the list there is nothing to divide by.
        #expect(urls("{\"by\": \"category\"}").count == 2)
    }

    // MARK: - Memory

    private func query(_ key: String) -> EventsQuery { EventsQuery(key: key, url: "u/\(key)", name: key) }

    @Test func emittedAgainOnlyWhenItChanged() throws {
        let memory = Memory()
        let one = try read(naturalEvents(naturalEvent(2), naturalEvent(1))).events
        #expect(memory.take("open", one) == ["EONET_1", "EONET_2"])
        #expect(memory.take("open", one) == [])
        let grown = try read(naturalEvents(naturalEvent(2, dates: "2026-02-01T00:00:00Z"), naturalEvent(1))).events
        #expect(memory.take("open", grown) == ["EONET_2"])
    }

    @Test func theHalvesAreOneSet() throws {
        let memory = Memory()
        let fire = try read(naturalEvents(naturalEvent(1))).events
        #expect(memory.take("open", fire) == ["EONET_1"])
        #expect(memory.take("closed", fire) == [])
        // One half is not read (304, or failed): what it had is still known.
        #expect(memory.take("open", []) == [])
        #expect(memory.take("open", fire) == [])
        #expect(memory.take("open", []) + memory.take("closed", []) == [])
        #expect(memory.revisions.lists.values.allSatisfy { $0.revisions.isEmpty })
        #expect(memory.take("open", fire) == [])
    }

    @Test func anIDThatComesTwiceInOneAnswerIsNoNewsForEver() throws {
        let memory = Memory()
        let twice = try read(naturalEvents(naturalEvent(1), naturalEvent(1, dates: "2026-02-01T00:00:00Z"))).events
        #expect(memory.take("open", twice) == ["EONET_1"])
        #expect(memory.take("open", twice) == [])
    }

    @Test func theMemorySurvivesSavingAndOtherRequests() throws {
        var memory = RevisionMemory()
        _ = memory.take(try read(naturalEvents(naturalEvent(1), naturalEvent(2))).events, of: query("open"))
        memory.keep(Validators(etag: "\"e\"", lastModified: nil, lastFull: WallTime(seconds: 9)), for: query("open"))
        let again = RevisionMemory(saved: SavedText.read(memory.saved))
        #expect(again == memory && !again.differs(from: memory))
        #expect(again.validators(for: query("open"))?.etag == "\"e\"")
        #expect(again.validators(for: EventsQuery(key: "open", url: "other", name: "")) == nil)
        var divided = again
        let news = divided.take(try read(naturalEvents(naturalEvent(1))).events, of: query("drought"))
        #expect(news.isEmpty)
        divided.forget(allBut: [query("drought")])
        #expect(divided.lists.keys.sorted() == ["drought"] && divided.differs(from: again))
    }

    @Test func anAnswerWithoutOneCategoryIsNone() throws {
        for body in ["{\"categories\": [{\"message\": \"x\"}]}", "{\"categories\": [7]}"] {
            #expect(throws: FeedbusError.self) {
                try CategoriesAnswer(HTTPResponse(status: 200, body: Bytes(body), url: "u"))
            }
        }
    }

    @Test func anAnswerThatLacksEventsIsNoReasonToRepeatThem() throws {
        let memory = Memory()
        let all = try read(naturalEvents(naturalEvent(3), naturalEvent(2), naturalEvent(1))).events
        #expect(memory.take("open", all).count == 3)
        #expect(memory.take("open", []) == [] && memory.take("open", []) == [])
        memory.revisions = RevisionMemory(saved: SavedText.read(memory.revisions.saved))
        #expect(memory.take("open", all) == [])
        #expect(memory.take("open", [all[1]]) == [] && memory.take("open", all) == [])
        // Back with another content, it is an update; also back to what it was before.
        let grown = try read(naturalEvents(naturalEvent(2, dates: "2026-02-01T00:00:00Z"))).events
        #expect(memory.take("open", []) == [] && memory.take("closed", grown) == ["EONET_2"])
        #expect(memory.take("closed", []) == [] && memory.take("open", all) == ["EONET_2"])
    }

    @Test func whatIsNoLongerListedIsBounded() throws {
        var memory = RevisionMemory()
        for number in 0..<1_500 {
            _ = memory.take(try read(naturalEvents(naturalEvent(number))).events, of: query("open"))
        }
        #expect(memory.gone.count == 1_000 && memory.gone.last?.id == "EONET_1498")
    }

    @Test func howItIsWrittenIsNoUpdate() throws {
        let one = #"{"id":"E1","title":"a é","n":[35.00,0,-1.50,100,1e400],"o":{"x":null,"y":true}}"#
        let same = #"{ "o":{"y":true, "x":null}, "n":[35.0, 0.00,-15e-1,1E2,1e400],"title":"a \u00e9", "id":"E1" }"#
        let others = [
            one.replacing("35.00", with: "35.01"), one.replacing("-1.50", with: "1.50"),
            one.replacing("null", with: "false"), one.replacing("1e400", with: "1e401"),
            one.replacing("[35.00,0", with: "[0,35.00"), one.replacing("100", with: "\"100\""),
        ]
        func revision(_ event: String) throws -> String { try read("{\"events\":[\(event)]}").events[0].revision }
        #expect(try revision(one) == revision(same))
        #expect(try Set((others + [one]).map(revision)).count == 7)
    }
}
