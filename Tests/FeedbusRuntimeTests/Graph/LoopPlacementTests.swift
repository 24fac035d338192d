// feedbus: which node runs on which loop, on values.

import FeedbusPlugin
import Testing

@testable import FeedbusRuntime

struct LoopPlacementTests {
    private static func nothing(_ name: String, from: [String]) -> PlannedNode { .sink(name, from: from) { _, _ in } }

    private static let nodes: [PlannedNode] = [
        .source("s") { _, _ in }, .source("t") { _, _ in },
        .subject("all", from: ["s", "t"]),
        .stage("a", from: ["s"]) { $0 },
        .stage("b", from: ["a"]) { $0 },
        .stage("c", from: ["a"]) { $0 },
        nothing("d", from: ["b"]),
        nothing("e", from: ["all"]),
        nothing("f", from: ["c", "all"]),
        nothing("g", from: ["b", "c"]),
    ]

    private static func places(_ loops: Int) -> [String: Int] {
        let placement = LoopPlacement(nodes, loops: loops)
        return Dictionary(uniqueKeysWithValues: nodes.map { ($0.name, placement[$0.name]) })
    }

    @Test func oneLoopHostsAll() {
        #expect(Set(Self.places(1).values) == [0])
    }

    @Test func sourcesAndSubjectsAreOnTheFirstAndAllElseIsNot() {
        for loops in 2...5 {
            for (node, place) in Self.places(loops) {
                #expect((place == 0) == ["s", "t", "all"].contains(node))
                #expect(place < loops)
            }
        }
    }

    @Test func aChainStaysTogetherAndForksAreDealtOut() {
        let places = Self.places(4)
        #expect(places["a"] == 1)
        // It follows its stage; the other reader of that stage does not.
        #expect(places["b"] == 1)
        #expect(places["c"] == 2)
        #expect(places["d"] == 1)
        #expect(places["e"] == 3)
        #expect(places["f"] == 2)
        // Both stages that it reads are followed already.
        #expect(places["g"] == 1)
    }

    @Test func aRouteIsPartOfItsStage() {
        let nodes: [PlannedNode] = [
            .source("s") { _, _ in }, .stage("w", from: ["s"]) { $0 },
            Self.nothing("x", from: ["w.yes"]), Self.nothing("y", from: ["w.no"]),
        ]
        let placement = LoopPlacement(nodes, loops: 3)
        #expect(placement["w"] == 1)
        #expect(placement["x"] == 1)
        #expect(placement["y"] == 2)
    }

    @Test func loopsWithoutANodeAreNotMade() {
        var settings = Settings()
        settings.loops = 64
        #expect(Plan(settings: settings, nodes: Self.nodes).moreLoops == 7)
        settings.loops = 3
        #expect(Plan(settings: settings, nodes: Self.nodes).moreLoops == 2)
        settings.loops = 1
        #expect(Plan(settings: settings, nodes: Self.nodes).moreLoops == 0)
    }
}
