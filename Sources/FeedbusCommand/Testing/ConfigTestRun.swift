// feedbus: runs a test of a config, and says what is not as expected.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin
import FeedbusRuntime
import FeedbusTestKit

/// One run of a test.
struct ConfigTestRun {
    enum Outcome {
        case passed(String)
        case failed(String)
        /// It could not be run.
        case cannot(String)
    }

    let test: ConfigTest
    /// Of the test's file; paths in it count from here.
    let directory: String
    let input: CommandInput

    private struct Trouble: Error {
        var words: String
    }

    func perform(name: String, seed: UInt64, update: Bool) -> Outcome {
        let clock = ContinuousClock()
        let started = clock.now
        do {
            let (simulation, plan) = try simulation()
            try checkNames(plan)
            let result: SimulationResult
            do { result = try simulation.run(seed: seed) } catch let violation as SimulationViolation {
                return .failed("FAILED  \(name): \(violation)\n")
            }
            if update { try write(result) }
            let failures = try failures(result)
            let took = (clock.now - started).text
            let counts = result.deliveries.sorted { $0.key < $1.key }
                .map { "\(counted($0.value.count, "event")) to \($0.key)" }
            let span = result.lives.map(\.elapsed).reduce(.zero, +).text
            let summary =
                "\(counts.isEmpty ? "no events" : counts.joined(separator: ", ")); \(counted(result.requests.count, "request")); \(span) of virtual time in \(took)"
            guard failures.isEmpty else {
                return .failed(
                    "FAILED  \(name) (\(summary))\n" + failures.map { "  \($0)\n" }.joined() + log(result))
            }
            return .passed("ok  \(name) (\(summary))\n")
        } catch let trouble as Trouble {
            return .cannot(trouble.words)
        } catch {
            return .cannot("feedbus: \(describeError(error))\n")
        }
    }

    // MARK: - What is run

    private func simulation() throws -> (GraphSimulation, Plan) {
        let path = FileAccess.absolute(test.config, in: directory)
        let programs = Dictionary(
            test.programs.map { ($0.name, Self.program($0.value)) }, uniquingKeysWith: { first, _ in first })
        // The config is checked as `check` does, but for programs: there are none but the stand-ins.
        var files = input.files
        files.isExecutable = { path in programs[String(path.split(separator: "/").last ?? "")] != nil }
        var overrides: [Override] = []
        for text in test.overrides ?? [] {
            guard let override = Override(argument: text) else {
                throw Trouble(words: "feedbus: \"set\": \"\(text)\" is not of the form PATH=VALUE\n")
            }
            overrides.append(override)
        }
        let loader = ConfigLoader(registry: input.registry, environment: input.environment, files: files)
        let (plan, problems) = loader.load(path: path, overrides: overrides)
        guard let plan else {
            let text = ProblemText(
                file: test.config, overrides: overrides, color: input.mayColor(input.errIsTerminal))
            throw Trouble(words: text.lines(problems) + text.summary(problems) + "; nothing was run\n")
        }
        var services = SimulatedServices.none
        let recording = test.recording.map { FileAccess.absolute($0, in: directory) } ?? plan.settings.offlineRecording
        if let recording { services = try .recording(read(recording), name: recording) }
        var simulation = GraphSimulation(
            plan: plan, plugins: input.registry, services: services, programs: programs)
        simulation.once = test.once
        simulation.duration = test.duration
        return (simulation, plan)
    }

    private static func program(_ standIn: StandIn) -> SimulatedProgram {
        if let text = standIn.prints { return .printing(text) }
        let answers = Dictionary(
            standIn.answers.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return .answering(separator: standIn.separator.text) { answers[$0] ?? $0 }
    }

    private func read(_ path: String) throws -> Bytes {
        do { return try input.files.read(path, 256 << 20) } catch {
            throw Trouble(words: "feedbus: cannot read \(path): \(error.reason)\n")
        }
    }

    private func checkNames(_ plan: Plan) throws {
        func names(_ isWanted: (PlannedNode) -> Bool) -> [String] { plan.nodes.filter(isWanted).map(\.name) }
        let sinks = names { if case .sink = $0.role { true } else { false } }
        for expectation in test.expect where !sinks.contains(expectation.name) {
            throw Trouble(words: unknown(expectation.name, "sink", expectation.place, sinks))
        }
        let sources = names { if case .source = $0.role { true } else { false } }
        for request in test.requests {
            let first = String(request.name.prefix { $0 != " " })
            guard first != "total", !first.allSatisfy(\.isNumber), !sources.contains(first) else { continue }
            let others = names { if case .stage = $0.role { true } else { false } }
            guard !others.contains(first) else { continue }
            throw Trouble(words: unknown(first, "node", request.place, sources + others))
        }
    }

    private func unknown(_ name: String, _ what: String, _ place: PositionedValue, _ known: [String]) -> String {
        let hint = nearestName(to: name, in: known).map { "; did you mean \"\($0)\"?" } ?? ""
        return
            "feedbus: \(place.position.line):\(place.position.column): the config has no \(what) \"\(name)\"\(hint)\n"
    }

    // MARK: - What came of it

    private func failures(_ result: SimulationResult) throws -> [String] {
        var failures: [String] = []
        for life in result.lives {
            guard let code = life.exitCode, code != 0 else { continue }
            failures.append("the run ended with exit code \(code)")
        }
        for expectation in test.expect {
            let sink = expectation.name
            let found = result.deliveries[sink] ?? []
            if let count = expectation.value.count, count != found.count {
                failures.append("\(sink): expected \(counted(count, "event")), \(found.count) came")
            }
            guard let (expected, label) = try expected(expectation.value) else { continue }
            let setting = expectation.value
            let comparison = EventComparison(
                expected: expected.map { $0.compared(only: setting.only, ignore: setting.ignore) },
                found: try found.map {
                    FlatEvent(try JSON.parse($0.event.cloudEvent)).compared(only: setting.only, ignore: setting.ignore)
                }, inOrder: setting.order == .exact, label: label)
            guard !comparison.lines.isEmpty else { continue }
            failures.append(
                "\(sink): \(comparison.summary) (\(counted(expected.count, "event")) expected, \(found.count) came)")
            failures += comparison.lines.map { "  \($0)" }
        }
        for request in test.requests {
            let words = request.name.split(separator: " ").map(String.init)
            let count = result.requests.count { sent in
                words.allSatisfy { $0 == "total" || $0 == sent.node || $0 == sent.answer }
            }
            guard count != request.value else { continue }
            failures.append("requests: expected \(request.value) for \"\(request.name)\", \(count) were sent")
        }
        return failures
    }

    private func expected(_ setting: SinkExpectation) throws -> ([FlatEvent], (Int) -> String)? {
        switch setting.events {
        case nil: return nil
        case .list(let values):
            return (values.map { FlatEvent($0) }, { "events[\($0)]" })
        case .file(let name):
            let text = try read(FileAccess.absolute(name, in: directory)).string
            var events: [FlatEvent] = []
            var places: [Int] = []
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where !line.isEmpty {
                do { events.append(FlatEvent(try JSON.parse(Bytes(String(line))))) } catch {
                    throw Trouble(words: "feedbus: \(name):\(index + 1): no JSON: \(error)\n")
                }
                places.append(index + 1)
            }
            return (events, { [places] in "\(name):\(places[$0])" })
        }
    }

    /// The end of the log: why something did not come is often said there.
    private func log(_ result: SimulationResult) -> String {
        let messages = result.messages(.warning)
        guard !messages.isEmpty else { return "" }
        return "  the log says:\n" + messages.suffix(10).map { "    \($0)\n" }.joined()
    }

    private func write(_ result: SimulationResult) throws {
        for expectation in test.expect {
            guard case .file(let name)? = expectation.value.events else { continue }
            var writer = ByteWriter()
            for delivery in result.deliveries[expectation.name] ?? [] {
                delivery.event.appendCloudEvent(to: &writer)
                writer.append(UInt8(ascii: "\n"))
            }
            let path = FileAccess.absolute(name, in: directory)
            if let reason = StandardStreams.writeFile(writer.finish(), to: path) {
                throw Trouble(words: "feedbus: cannot write \(path): \(reason)\n")
            }
        }
    }
}
