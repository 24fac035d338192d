// feedbus: packed events are the events that they stand for.

import FeedbusBase
import FeedbusFlow
import FeedbusJSON
import Synchronization
import Testing

@testable import FeedbusPlugin

struct PackedEventsTests {
    private let origin = EventOrigin(source: "file:a", type: "t", node: "n")
    private let text: Bytes = "{\"a\":1}\n{\"a\":22}\n[]\n4\n{\"a\":5}\n"
    private let places = [TextPlace(0, 7), TextPlace(8, 16), TextPlace(17, 19), TextPlace(20, 21), TextPlace(22, 29)]

    private func packed(ids: PackedEvents.IDs? = nil) -> PackedEvents {
        let made = PackedEvents.IDs.made(of: text.buffer, places, position: 100)
        return PackedEvents(
            origin: origin, buffer: text.buffer, places: places, ids: ids ?? made, areFollowed: true)
    }

    private func data(_ chunk: Chunk<Event>) -> [String] { chunk.map(\.data.string) }

    @Test func anEventIsMadeWhenItIsAskedFor() {
        let chunk = Chunk(packed())
        #expect(data(chunk) == ["{\"a\":1}", "{\"a\":22}", "[]", "4", "{\"a\":5}"])
        #expect(chunk[1].id == StableHash.id("{\"a\":22}", position: 108))
        #expect(chunk.allSatisfy { $0.origin === origin && $0.subject.isEmpty && $0.attributes.isEmpty })
        let given = Chunk(packed(ids: .texts(text.buffer, [0, 1, 2, 3, 4].map { TextPlace($0, $0 + 2) })))
        #expect(given.map(\.id.string) == ["{\"", "\"a", "a\"", "\":", ":1"])
    }

    @Test func slicesAndArraysAreThoseOfAnyChunk() {
        let chunk = Chunk(packed())
        #expect(data(chunk.prefix(2)) == ["{\"a\":1}", "{\"a\":22}"])
        #expect(data(chunk.dropFirst(3)) == ["4", "{\"a\":5}"])
        #expect(data(chunk.suffix(3).prefix(1)) == ["[]"])
        #expect(chunk.dropFirst(1).array.map(\.data.string) == data(chunk.dropFirst(1)))
        #expect(chunk.dropFirst(1).packedEvents?.range == 1..<5)
        #expect(Chunk(chunk.array).packedEvents == nil)
        #expect(chunk.withContiguousStorageIfAvailable { $0.count } == nil)
    }

    @Test func theyWeighWhatTheirEventsWeigh() {
        for ids in [nil, PackedEvents.IDs.texts(text.buffer, (1...5).map { TextPlace(0, $0) })] {
            let packed = packed(ids: ids)
            for range in [0..<5, 1..<4, 2..<2, 4..<5] {
                #expect(packed.weight(of: range) == Chunk(packed).array[range].reduce(0) { $0 + $1.weight })
            }
        }
    }

    @Test func someOfThemAreKept() {
        let other = Bytes("abcdefgh").buffer
        let elsewhere = PackedEvents.IDs.made(of: other, (1...5).map { TextPlace(0, $0) }, position: 0)
        for ids in [nil, elsewhere, .texts(text.buffer, (1...5).map { TextPlace(0, $0) })] {
            let chunk = Chunk(packed(ids: ids)).dropFirst(1)
            let all = chunk.array
            for kept in [[], [0], [1, 2], [0, 3], [0, 1, 3], [0, 1, 2, 3]] as [[Int]] {
                var number = -1
                let found = chunk.keeping(by: JSONFinder([JSONPointer("")!])) { places in
                    number += 1
                    #expect(places[0]?.text.elementsEqual(all[number].data.string.utf8) == true)
                    return kept.contains(number)
                }
                #expect(number == 3)
                #expect(
                    Chunk(all).keeping(by: JSONFinder([JSONPointer("/a")!])) { $0[0] != nil }.map(\.data)
                        == chunk.keeping(by: JSONFinder([JSONPointer("/a")!])) { $0[0] != nil }.map(\.data))
                #expect(found.map(\.id) == kept.map { all[$0].id } && found.map(\.data) == kept.map { all[$0].data })
                #expect(found.isEmpty || found.packedEvents != nil)
            }
        }
    }

    @Test func theReceiptSettlesWithTheLastOfThem() {
        final class Told: Sendable {
            let outcomes = Synchronization.Mutex<[Outcome]>([])
        }
        let told = Told()
        var chunk: Chunk<Event>? = Chunk(
            packed().with(Receipt { outcome in told.outcomes.withLock { $0.append(outcome) } }))
        var kept: Chunk<Event>? = chunk?.keeping(by: JSONFinder([JSONPointer("")!])) { $0.text.count == 2 }
        var event: Event? = chunk?[3]
        chunk = nil
        event?.receipt?.report(.dropped)
        event = nil
        #expect(told.outcomes.withLock { $0 } == [])
        #expect(kept?.count == 1)
        kept = nil
        #expect(told.outcomes.withLock { $0 } == [.dropped])
    }

    @Test func otherDataKeepsIDs() {
        let packed = packed()
        let ids = packed.ids(of: 3..<5)
        let other: Bytes = "7\n8\n"
        let made = Chunk(
            packed.replacing(
                buffer: other.buffer, places: [TextPlace(0, 1), TextPlace(2, 3)], ids: ids, areFollowed: true))
        #expect(made.map(\.id) == Chunk(packed).dropFirst(3).map(\.id))
        #expect(data(made) == ["7", "8"])
        // What is kept for the ids is weighed too: it holds the memory.
        #expect(made.packedEvents?.events.weight(of: 0..<2) == made.array.reduce(0) { $0 + $1.weight } + 1 + 7)
        #expect(made.packedEvents?.events.weight(of: 1..<2) == made[1].weight + 7)
    }
}
