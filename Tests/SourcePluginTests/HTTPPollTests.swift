// feedbus: tests of the source HTTPPoll.

import FeedbusPlugin
import Polling
import Testing

@testable import HTTPPollPlugin

@Suite struct HTTPPollTests {
    private static let page = "http://x/list"

    private func setting(_ more: String = "\"id\":\"/id\"") -> HTTPPollOptions {
        options(HTTPPollOptions.self, "{\"url\":\"\(Self.page)\",\"every\":\"60s\",\(more)}")
    }

    @Test func itemsComeOldestFirstAndOnceAlsoAfterARestart() throws {
        try onStage { stage in
            stage.service.on(
                Self.page, tagged("{\"items\": [{\"id\": 3, \"at\": \"2026-01-01T00:00:00Z\"}, {\"id\": 2}]}"),
                tagged("{\"items\": [{\"id\": 4}, {\"id\": 3}, {\"id\": 2}]}"))
            let options = self.setting("\"items\":\"/items\",\"id\":\"/id\",\"time\":\"/at\",\"type\":\"com.x.y\"")
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.ids == ["2", "3"])
            #expect(stage.events[1].data == "{\"id\":3,\"at\":\"2026-01-01T00:00:00Z\"}")
            #expect(stage.events[1].time == "2026-01-01T00:00:00Z" && stage.events[0].time.isEmpty)
            #expect(stage.events[0].origin.type == "com.x.y" && stage.events[0].origin.source == "http://x/list")
            stage.forget()
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.ids == ["4"])
            stage.forget()
            // The third answer is the second again: its validator is sent, and nothing is emitted or saved.
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.service.requests[0].headers["If-None-Match"] != nil)
            #expect(stage.ids.isEmpty && stage.saves == 0)
        }
    }

    @Test func aChangedItemIsAnotherEventOnlyWhereItIsAskedFor() throws {
        try onStage { stage in
            let texts = [#"[{"id":"a","v":1.0},{"id":"b"}]"#, #"[{"id":"a","v":1.00},{"id":"b"}]"#]
            stage.service.on(Self.page, texts[0], texts[1], texts[1], texts[0])
            let options = self.setting("\"id\":\"/id\",\"on\":\"change\"")
            var seen: [[String]] = []
            for _ in 0..<4 {
                try await stage.once(HTTPPoll.self, options)
                seen.append(stage.events.map(\.data.string))
                let ids = stage.ids
                #expect(ids.allSatisfy { $0.contains("@") })
                stage.forget()
            }
            #expect(
                seen == [
                    [#"{"id":"b"}"#, #"{"id":"a","v":1.0}"#], [#"{"id":"a","v":1.00}"#], [], [#"{"id":"a","v":1.0}"#],
                ])
        }
        try onStage { stage in
            stage.service.on(Self.page, #"[{"id":"a","v":1}]"#, #"[{"id":"a","v":2}]"#)
            for expected in [["a"], []] {
                try await stage.once(HTTPPoll.self, self.setting())
                #expect(stage.ids == expected)
                stage.forget()
            }
            for _ in 0..<2 {
                try await stage.once(HTTPPoll.self, self.setting("\"id\":\"/id\",\"on\":\"poll\""))
                #expect(stage.ids == ["a"])
                stage.forget()
            }
        }
    }

    @Test func pagesAreFollowedByLinkUntilAKnownItem() throws {
        try onStage { stage in
            stage.service.on(
                Self.page, #"[{"id":6},{"id":5}]"#, headers: ["Link": "</list?p=2>; rel=\"next\""])
            stage.service.on("http://x/list?p=2", #"[{"id":5},{"id":4}]"#, headers: ["Link": "<?p=3>; rel=next"])
            stage.service.on("http://x/list?p=3", #"[{"id":3}]"#)
            try await stage.once(HTTPPoll.self, self.setting())
            #expect(stage.ids == ["3", "4", "5", "6"])
            #expect(stage.service.urls.count == 3)
            stage.forget()
            stage.service.on(
                Self.page, #"[{"id":8},{"id":7}]"#, headers: ["Link": "</list?p=2>; rel=\"next\""])
            try await stage.once(HTTPPoll.self, self.setting())
            #expect(stage.ids == ["7", "8"] && stage.service.urls.count == 2)
        }
    }

    @Test func pagesAreFollowedByAPointerAndACircleEnds() throws {
        try onStage { stage in
            stage.service.on(Self.page, #"{"r":[{"id":1}],"next":"http://x/2"}"#)
            stage.service.on("http://x/2", #"{"r":[{"id":2}],"next":"/list"}"#)
            stage.service.on("http://y/3", #"{"r":[{"id":3}]}"#)
            let options = self.setting("\"id\":\"/id\",\"items\":\"/r\",\"next\":\"/next\"")
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.ids == ["2", "1"])
            #expect(stage.service.urls == [Self.page, "http://x/2", Self.page])
            stage.forget()
            stage.service.on("http://x/2", #"{"r":[{"id":4}],"next":"http://y/3?key=hush"}"#)
            stage.service.on(Self.page, #"{"r":[{"id":9}],"next":"http://x/2"}"#)
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.ids == ["4", "9"])
            #expect(stage.log().contains { $0.contains("another server (http://y:80)") && !$0.contains("hush") })
            #expect(stage.log().contains { $0.contains("gap") })
        }
    }

    @Test func anItemWithoutAnIDIsLeftOutAndTheRestIsKept() throws {
        try onStage { stage in
            stage.service.on(Self.page, #"[{"id":1},{"x":2},7,null,{"id":""},{"id":9007199254740993}]"#)
            try await stage.once(HTTPPoll.self, self.setting())
            #expect(stage.ids == ["9007199254740993", "1"])
            #expect(stage.log().contains { $0.contains("no id at \"/id\": 4") })
        }
    }

    @Test func withoutAnIDTheTextIsTheIdentity() throws {
        try onStage { stage in
            stage.service.on(Self.page, #"["a", 1, "a"]"#, #"["b", "a"]"#)
            let options = self.setting("\"order\":\"oldest_first\"")
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.events.map(\.data) == ["\"a\"", "1"])
            stage.forget()
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.events.map(\.data) == ["\"b\""])
        }
    }

    @Test func anObjectIsAListOfOneAndAnotherShapeIsAnError() throws {
        try onStage { stage in
            stage.service.on(Self.page, #"{"status":{"id":1}}"#, #"{"status":3}"#, #"{}"#)
            let options = self.setting("\"id\":\"/id\",\"items\":\"/status\"")
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.ids == ["1"])
            for words in ["no list at items \"/status\", but number", "nothing at items \"/status\""] {
                let error = await #expect(throws: FeedbusError.self) {
                    try await stage.once(HTTPPoll.self, options)
                }
                #expect(error?.message.contains(words) == true)
                #expect(error?.message.contains(Self.page) == true)
            }
        }
    }

    @Test func theFirstPollMayLeaveThePastOut() throws {
        for (history, expected) in [("\"none\"", []), ("1", ["3"])] {
            try onStage { stage in
                stage.service.on(Self.page, #"[{"id":3},{"id":2}]"#, #"[{"id":4},{"id":3},{"id":2}]"#)
                let options = self.setting("\"id\":\"/id\",\"history\":\(history)")
                try await stage.once(HTTPPoll.self, options)
                #expect(stage.ids == expected)
                stage.forget()
                try await stage.once(HTTPPoll.self, options)
                #expect(stage.ids == ["4"])
            }
        }
    }

    @Test func secretsGoWithTheRequestAndAreNotShown() throws {
        try onStage { stage in
            let url = "http://x/list?a=1&key=secret-token"
            stage.service.on(url, failing(400, "bad key secret-token"))
            let options = options(
                HTTPPollOptions.self,
                #"{"url":"http://x/list?a=1","headers":{"X-Mine":{"secret":"env:TOKEN"}},"query":{"key":{"secret":"env:TOKEN"}}}"#
            )
            let error = await #expect(throws: FeedbusError.self) { try await stage.once(HTTPPoll.self, options) }
            #expect(stage.service.requests[0].headers["X-Mine"] == "secret-token")
            #expect(error?.message.contains("secret-token") == false)
            #expect(error?.message.contains("http://x/list") == true)
            #expect(!stage.cursors.keys.contains { $0.contains("secret") })
        }
    }

    @Test func whatIsWrongWithTheOptionsIsSaidAllAtOnce() {
        let (_, problems) = decode(
            HTTPPollOptions.self,
            #"{"url":"ftp://x","headers":{"a b":"c","d":1},"query":{"k":{"secret":"env:NONE"}},"id":"x"}"#)
        #expect(
            problems.map(\.code).sorted() == [
                "not-a-pointer", "not-a-url", "out-of-range", "unset-variable", "wrong-type",
            ])
        #expect(decode(HTTPPollOptions.self, "{}").problems.map(\.code) == ["missing-option"])
        // What may be a key is not repeated.
        let (_, hidden) = decode(HTTPPollOptions.self, #"{"url":"http://user:pass@x/?k=hidden"}"#)
        #expect(hidden.count == 1 && !hidden[0].message.contains("pass@") && !hidden[0].message.contains("hidden"))
    }

    @Test func theMemoryIsBoundedButNeverForgetsWhatIsListed() {
        let keys = (0..<10).map { ItemMemory.Key(id: $0, content: $0) }
        var memory = ItemMemory().after(keys, limit: 1)
        #expect(memory.keys == keys)
        memory = memory.after([ItemMemory.Key(id: 3, content: 9), ItemMemory.Key(id: 11, content: 0)], limit: 1)
        #expect(memory.keys.map(\.id) == [8, 9, 3, 11])
        let json = try? JSON.parse(memory.json)
        #expect(ItemMemory(json: json) == memory)
        #expect(ItemMemory(json: try? JSON.parse("\"0\"")) == nil)
    }

    /// One unconditional request in an hour, also where every run is a new one.
    @Test func runsWithOnceAskConditionallyAgainAfterTheHour() throws {
        try onStage { stage in
            stage.service.on(Self.page, tagged(#"[{"id":1}]"#))
            let options = self.setting()
            var bare: [Bool] = []
            for _ in 1...9 {
                stage.forget()
                try await stage.once(HTTPPoll.self, options)
                bare.append(stage.service.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
                #expect(bare.last == stage.service.requests.contains { $0.headers["If-None-Match"] == nil })
                try await stage.sleep(for: .seconds(1_200))
            }
            #expect(bare == [true, false, false, true, false, false, true, false, false])
        }
    }

    /// A message in place of the list is no first poll, and its validators are not kept.
    @Test(arguments: [#"{"error":"maintenance"}"#, #"[{"message":"x"}]"#, "[null]"])
    func anAnswerWithoutOneUsableItemIsNoPoll(_ message: String) throws {
        try onStage { stage in
            stage.service.on(Self.page, tagged(message), tagged(#"[{"id":2},{"id":1}]"#))
            let options = self.setting("\"id\":\"/id\",\"history\":\"none\"")
            await #expect(throws: FeedbusError.self) { try await stage.once(HTTPPoll.self, options) }
            #expect(stage.saves == 0)
            try await stage.once(HTTPPoll.self, options)
            #expect(stage.ids.isEmpty && stage.saves == 1)
            #expect(stage.service.requests[1].headers["If-None-Match"] == nil)
        }
    }

    @Test func anEmptyListIsAPoll() throws {
        try onStage { stage in
            stage.service.on(Self.page, tagged("[]"), tagged(#"[{"id":1}]"#))
            for _ in 0..<2 {
                try await stage.once(HTTPPoll.self, self.setting("\"id\":\"/id\",\"history\":\"none\""))
            }
            #expect(stage.ids == ["1"] && stage.service.requests[1].headers["If-None-Match"] != nil)
        }
    }
}
