// feedbus: marble cases in a form that a person can write.

import FeedbusFlow
import FoundationEssentials

/// Reads cases in the notation of SEMANTICS.md:
///
/// ```
/// // A remark.
/// flatMap.inner_error: flatMap {"inner":{"1":"a"}} > take {"n":3}
/// s hot: 10:1 20:2 60:|
/// a cold: 5:11 25:#E // 10:21 30:|
/// -> 0..40 = 15:11 35:#E
/// on {"next":11} do [{"push":{"source":"s","next":2}}]
/// demand 0:1 20:2
/// subs s=[[0,35]] a=[[10,35]]
/// ```
/// A name, and the operators with their arguments; sources with their kind and what they emit (of a cold one, for each
/// attempt); subscribers with their times and what they get; below them what they do in their handlers and what they ask
/// for; the subscriptions of the sources.
enum MarbleText {
    /// Where a text is wrong.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    static func cases(_ text: String) throws -> [MarbleCase] {
        var cases: [MarbleCase] = []
        for (index, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = raw.trimmingPrefix { $0 == " " }
            if line.isEmpty || line.hasPrefix("//") { continue }
            do { try read(line, &cases) } catch { throw Fault(description: "line \(index + 1): \(error)") }
        }
        let double = Dictionary(grouping: cases, by: \.id).first { $0.value.count > 1 }
        if let double { throw Fault(description: "two cases are called \(double.key)") }
        return cases
    }

    private static func read(_ line: Substring, _ cases: inout [MarbleCase]) throws {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        if words[0].hasSuffix(":") {
            let steps = try parts(rest, " > ").map(step)
            cases.append(
                MarbleCase(
                    id: String(words[0].dropLast()), pipeline: steps, sources: [:], inputs: [], subscribers: [],
                    expect: []))
            return
        }
        guard let last = cases.indices.last else { throw Fault(description: "a case begins with its name and a colon") }
        switch words[0] {
        case "->": try subscriber(rest, &cases[last])
        case "on":
            let halves = parts(rest, " do ")
            guard halves.count == 2, let subscriber = cases[last].subscribers.indices.last else {
                throw Fault(description: "on {…} do […], below a subscriber")
            }
            let script = MarbleCase.Script(when: try json(halves[0]), do: try json(halves[1]))
            cases[last].subscribers[subscriber].on = (cases[last].subscribers[subscriber].on ?? []) + [script]
        case "demand":
            guard let subscriber = cases[last].subscribers.indices.last else {
                throw Fault(description: "a demand below a subscriber")
            }
            cases[last].subscribers[subscriber].demand = try rest.split(separator: " ").map { pair in
                let numbers = pair.split(separator: ":").compactMap { Int($0) }
                guard numbers.count == 2 else { throw Fault(description: "a demand is TIME:NUMBER") }
                return .object(["at": .int(numbers[0]), "n": .int(numbers[1])])
            }
        case "subs":
            cases[last].expectSourceSubscriptions = try Dictionary(
                uniqueKeysWithValues: rest.split(separator: " ").map { pair in
                    let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
                    return (halves[0], try json(halves.last ?? ""))
                })
        default: try source(words[0], rest, &cases[last])
        }
    }

    /// `map {"fn":"x*10"}`
    private static func step(_ text: String) throws -> MarbleCase.Step {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        return MarbleCase.Step(op: words[0], args: words.count > 1 ? try json(words[1]) : .object([:]))
    }

    /// `0..40 = 15:11 35:#E`; without times where only a script subscribes.
    private static func subscriber(_ text: String, _ item: inout MarbleCase) throws {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard halves.count == 2 else { throw Fault(description: "a subscriber is FROM..TO = EVENTS") }
        let times = parts(halves[0].filter { $0 != " " }, "..")
        item.subscribers.append(
            MarbleCase.Subscriber(
                subscribeAt: times.first.flatMap { Int($0) },
                unsubscribeAt: times.last.flatMap { times.count > 1 ? Int($0) : nil }))
        item.expect.append(try events(halves[1]))
    }

    /// `a cold: 5:11 25:#E // 10:21`, `b replay{"buffer":2}: 10:1`
    private static func source(_ name: String, _ text: String, _ item: inout MarbleCase) throws {
        guard let colon = text.firstIndex(of: ":") else { throw Fault(description: "\(name) is no source") }
        var description: [String: MarbleValue] = [:]
        var (head, tail) = (text[..<colon], text[colon...])
        if let brace = head.firstIndex(of: "{"), let end = text.firstIndex(of: "}") {
            let value: MarbleValue = try json(String(text[brace...end]))
            description = value.object ?? [:]
            (head, tail) = (text[..<brace], text[end...].dropFirst())
        }
        description["kind"] = .string(String(head))
        item.sources[name] = .object(description)
        let attempts = parts(String(tail.dropFirst()), "//")
        for (number, attempt) in attempts.enumerated() {
            let inputs = try events(attempt).map { event in
                MarbleCase.Input(
                    source: name, at: event.at, next: event.next, complete: event.complete, error: event.error,
                    attempt: attempts.count > 1 ? number : nil)
            }
            item.inputs = (item.inputs ?? []) + inputs
        }
    }

    /// `10:1 20:[1,2] 30:"x" 40:| 50:#E`
    private static func events(_ text: String) throws -> [MarbleEvent] {
        try text.split(separator: " ").map { word in
            let halves = word.split(separator: ":", maxSplits: 1).map(String.init)
            guard halves.count == 2, let at = Int(halves[0]) else { throw Fault(description: "an event is TIME:VALUE") }
            if halves[1] == "|" { return MarbleEvent(at: at, complete: true) }
            if halves[1].hasPrefix("#") { return MarbleEvent(at: at, error: String(halves[1].dropFirst())) }
            return MarbleEvent(at: at, next: try json(halves[1]))
        }
    }

    private static func json<Value: Decodable>(_ text: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // In a list: no decoder takes a bare number or string for a document everywhere.
        guard let value = try decoder.decode([Value].self, from: Data("[\(text)]".utf8)).first else {
            throw Fault(description: "nothing in \(text)")
        }
        return value
    }

    private static func parts(_ text: String, _ separator: String) -> [String] {
        text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
