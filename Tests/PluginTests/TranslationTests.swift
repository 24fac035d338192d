// feedbus: the translation stage with a service that a test scripts, and with the real Apertium.

import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import FeedbusTestKit
import Glibc
import Synchronization
import Testing

@testable import TranslationPlugin

/// A service in LibreTranslate's shape: answers late, or with an error, as it is told.
private final class Libre: HTTPTransport {
    private struct State {
        var asked: [String] = []
        var now = 0
        var most = 0
        var failures: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let clock: any EventClock
    private let latency: @Sendable (String) -> Duration

    /// - Parameter failures: how often each of these texts fails.
    init(
        clock: any EventClock, failures: [String: Int] = [:],
        latency: @escaping @Sendable (String) -> Duration = { _ in .zero }
    ) {
        self.clock = clock
        self.latency = latency
        state.withLock { $0.failures = failures }
    }

    var asked: [String] { state.withLock(\.asked) }
    var most: Int { state.withLock(\.most) }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let text = try JSON.parse(request.body ?? Bytes())["q"]?.string ?? ""
        let fails = state.withLock { state in
            state.asked.append(text)
            state.now += 1
            state.most = max(state.most, state.now)
            let left = state.failures[text, default: 0]
            state.failures[text] = max(left - 1, 0)
            return left > 0
        }
        defer { state.withLock { $0.now -= 1 } }
        try await clock.sleep(for: latency(text))
        if fails { return HTTPResponse(status: 500, body: "{\"error\":\"out of order\"}", url: request.url) }
        return HTTPResponse(
            status: 200, body: Bytes("{\"translatedText\":\(JSON.quote("<\(text)>").string)}"), url: request.url)
    }
}

struct TranslationTests {
    private static let config =
        "{\"to\": \"es\", \"provider\": {\"name\": \"libretranslate\", \"base_url\": \"http://h\"}"

    private func texts(_ texts: [String]) -> Chunk<Event> {
        Chunk(texts.enumerated().map { event("{\"value\":\(JSON.quote($1).string)}", id: "\($0)") })
    }

    /// What the stage makes of the texts.
    private func translate(
        _ input: Flow<Event>, more: String = "", onError: ErrorPolicy = .pass, failures: [String: Int] = [:],
        latency: @escaping @Sendable (String) -> Duration = { _ in .zero },
        then look: @escaping @Sendable (_ asked: [String], _ most: Int) -> Void = { _, _ in }
    ) throws -> [Event] {
        let collected = Collected()
        try Simulation.run { simulation in
            let service = Libre(clock: simulation.clock, failures: failures, latency: latency)
            let stage = Translation(
                options: try options(TranslationOptions.self, "\(TranslationTests.config)\(more)}"),
                context: context(
                    on: ManualHost(loop: simulation.loop), clock: simulation.clock, onError: onError, transport: service
                ))
            try await stage.transform(input).collect { collected.add($0) }
            look(service.asked, service.most)
        }
        return collected.events
    }

    private func translations(_ events: [Event]) -> [String] {
        events.map { (try? JSON.parse($0.data))?["translatedValue"]?.string ?? "-" }
    }

    @Test func orderIsKeptWhateverTakesLong() throws {
        let names = (0..<40).map { "text \($0)" }
        let events = try translate(
            .from(texts(names)),
            latency: { .milliseconds(Int($0.utf8.reduce(UInt8(0), &+)) % 7 * 100) },
            then: { asked, most in
                #expect(asked.count == 40)
                #expect(most == 4)
            })
        #expect(translations(events) == names.map { "<\($0)>" })
        #expect(events.map(\.id.string) == (0..<40).map(String.init))
    }

    @Test func theSameTextIsAskedOnce() throws {
        let events = try translate(
            .from(texts(["a", "b", "a", "a", "b"])), latency: { _ in .seconds(1) },
            then: { asked, _ in #expect(asked == ["a", "b"]) })
        #expect(translations(events) == ["<a>", "<b>", "<a>", "<a>", "<b>"])
    }

    @Test func aSmallCacheForgets() throws {
        _ = try translate(
            .from(texts(["a", "b", "a"])), more: ", \"cache\": 1, \"max_concurrent\": 1", latency: { _ in .seconds(1) },
            then: { asked, _ in #expect(asked.count == 2 || asked == ["a", "b", "a"]) })
    }

    @Test func oneFailureIsRetried() throws {
        let events = try translate(
            .from(texts(["a", "b"])), failures: ["a": 1],
            then: { asked, _ in #expect(asked.filter { $0 == "a" }.count == 2) })
        #expect(translations(events) == ["<a>", "<b>"])
    }

    @Test func anEventThatCannotBeTranslatedPassesMarked() throws {
        let events = try translate(.from(texts(["a", "b", "c"])), failures: ["b": 2])
        #expect(translations(events) == ["<a>", "-", "<c>"])
        #expect(events[1].data == "{\"value\":\"b\"}")
        #expect(events[1][attribute: "translationerror"]?.string.contains("out of order") == true)
        #expect(events[0][attribute: "translationerror"] == nil)
    }

    @Test func orItIsDropped() throws {
        #expect(
            translations(try translate(.from(texts(["a", "b", "c"])), onError: .drop, failures: ["b": 2])) == [
                "<a>", "<c>",
            ])
    }

    @Test func orItStopsTheStage() throws {
        #expect(throws: FeedbusError.self) {
            _ = try translate(.from(texts(["a", "b", "c"])), onError: .fail, failures: ["b": 2])
        }
    }

    @Test func whatNeedsNoTranslationKeepsItsPlace() throws {
        let mixed: Chunk<Event> = [
            event("{\"n\":1}", id: "0"), event("{\"value\":\"a\"}", id: "1"), event("{\"n\":2}", id: "2"),
            event("[3]", id: "3"),
        ]
        let events = try translate(.from(mixed), latency: { _ in .seconds(1) })
        #expect(events.map(\.id.string) == ["0", "1", "2", "3"])
        #expect(events[0].data == "{\"n\":1}")
    }

    @Test func theCheckLooksAtWhatBelongsTogether() throws {
        let here = ["/bin/apertium", "/bin/bash"]
        #expect(try problems(Translation.self, "{\"to\": \"es\"}", programs: here) == [])
        #expect(
            try problems(Translation.self, "{\"to\": \"es\"}", programs: ["/bin/bash"]).first?.contains(
                "apt install apertium") == true)
        #expect(try problems(Translation.self, "{\"to\": \"en\"}", programs: here).count == 1)
        #expect(try problems(Translation.self, "{\"to\": \"es\", \"provider\": {\"name\": \"deepl\"}}").count == 1)
        #expect(try problems(Translation.self, "{\"to\": \"es\", \"text\": \"\"}", programs: here).count == 1)
        #expect(throws: FeedbusError.self) { _ = try options(TranslationOptions.self, "{\"to\": \"español\"}") }
    }

    // MARK: - Apertium itself

    private static let hasApertium = access("/usr/share/apertium/modes/eng-spa.mode", R_OK) == 0

    @Test(.enabled(if: hasApertium, "needs apertium and apertium-eng-spa"))
    func apertiumTranslatesAndKeepsRunning() async throws {
        let collected = Collected()
        let input = Flow.from(texts(["Twice.", "The house [is] big", "zzgrblx house", "The cat\nand the dog"]))
        try await withLoop { loop in
            let stage = Translation(
                options: try options(TranslationOptions.self, "{\"to\": \"es\"}"),
                context: context(on: loop, clock: loop.clock))
            try await stage.transform(input).collect { collected.add($0) }
        }
        #expect(
            translations(collected.events) == [
                "Dos veces.", "La casa [es] grande", "zzgrblx Casa", "El gato\ny el perro",
            ])
    }

    @Test(.enabled(if: hasApertium, "needs apertium and apertium-eng-spa"))
    func aMissingPairIsSaidAtTheStart() async throws {
        try await withLoop { loop in
            let stage = Translation(
                options: try options(TranslationOptions.self, "{\"to\": \"ja\"}"),
                context: context(on: loop, clock: loop.clock))
            await #expect {
                _ = try await stage.transform(.empty)
            } throws: { error in
                let error = error as? FeedbusError
                return error?.message.contains("apertium-eng-jpn") == true && error?.isRetriable == false
            }
        }
    }
}
