// feedbus: events into the store's form and back; the tail of a log in memory.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusStore
import Testing

@testable import FeedbusRuntime

struct EventCodecTests {
    @Test func anEventComesBackByteForByte() {
        let origin = EventOrigin(source: "https://x/ü?a=b", type: "t", node: "n", recorded: true)
        var event = Event(
            origin: origin, id: "7", subject: "s", time: "2026-11-30T10:00:00Z", data: Bytes("{\"a\":1e400}"))
        event.set("partial", to: "true")
        event.set("translationerror", to: Bytes("\"a=b\\nc, d\""))
        event.set("empty", to: Bytes())
        var codec = EventCodec()
        let parts = codec.encode([event, event])
        #expect(parts[0].origin === parts[1].origin)
        var other = EventCodec()
        let back = other.decode(parts)
        #expect(back[0].origin === back[1].origin)
        #expect(back[0].cloudEvent == event.cloudEvent)
        #expect(back[0].attributes == event.attributes)
        #expect(back[0].origin.recorded)
        #expect(back[0].receipt == nil)
    }

    @Test func aTailKeepsTheNewestWithinItsLimitsAndLetsGoWhatAllHaveTaken() {
        var tail = LogTail()
        for start in stride(from: 1, to: 5_001, by: 100) {
            tail.append(Chunk(numbered(start..<start + 100)), first: Int64(start))
        }
        #expect(tail.events(from: 5_000 - Int64(LogTail.eventLimit) - 100, most: 10) == nil)
        #expect(tail.events(from: 4_951, most: 10)?.map(\.id) == (4_951...4_960).map { Bytes(String($0)) })
        #expect(tail.events(from: 4_995, most: 100)?.count == 6)
        #expect(tail.events(from: 5_001, most: 10) == nil)
        tail.release(before: 4_950)
        #expect(tail.events(from: 4_900, most: 1) == nil)
        #expect(tail.events(from: 4_950, most: 1)?.count == 1)
        // A log that was begun anew has other numbers.
        tail.append(Chunk(numbered(1...2)), first: 9_000)
        #expect(tail.events(from: 5_000, most: 1) == nil)
        #expect(tail.events(from: 9_001, most: 9)?.map(\.id) == ["2"])
    }
}
