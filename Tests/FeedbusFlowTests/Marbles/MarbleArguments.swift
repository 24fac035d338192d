// feedbus: what a step of a marble case says, by any of the names that it may have.

/// What a case needs and this runner does not have.
struct MarbleLack: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// The arguments of one step. What is missing or unknown is told, not trapped: one case must not end the others.
struct MarbleArguments: Sendable {
    let op: String
    let values: [String: MarbleValue]

    init(_ op: String, _ value: MarbleValue) {
        self.op = op
        values = value.object ?? [:]
    }

    /// The first that is there.
    func value(_ names: String...) -> MarbleValue? { value(names) }

    func value(_ names: [String]) -> MarbleValue? {
        for name in names { if let value = values[name], value != .null { return value } }
        return nil
    }

    /// As `value`, or a default, or a complaint.
    func need(_ names: String..., else fallback: MarbleValue? = nil) throws -> MarbleValue {
        guard let value = value(names) ?? fallback else { throw lack(names) }
        return value
    }

    func int(_ names: String..., else fallback: Int? = nil) throws -> Int {
        guard let value = value(names).map({ $0.int }) ?? fallback else { throw lack(names) }
        return value
    }

    func bool(_ names: String..., else fallback: Bool) -> Bool {
        if case .bool(let value)? = value(names) { value } else { fallback }
    }

    /// Milliseconds.
    func time(_ names: String...) throws -> Duration {
        let names = names + ["ms", "time", "duration", "dueTime", "timeSpan", "period"]
        guard let number = value(names)?.int else { throw lack(names) }
        return .milliseconds(number)
    }

    func function(_ names: String..., else fallback: String? = nil) throws
        -> @Sendable (MarbleValue) throws ->
        MarbleValue
    {
        guard let name = value(names + ["fn"])?.string ?? fallback else { throw lack(names) }
        guard let function = MarbleFunctions.function(name) else { throw MarbleLack("function \(name)") }
        return function
    }

    func predicate() throws -> @Sendable (MarbleValue) throws -> Bool {
        guard let name = value("pred", "predicate", "fn")?.string else { throw lack(["pred"]) }
        guard let predicate = MarbleFunctions.predicate(name) else { throw MarbleLack("condition \(name)") }
        return predicate
    }

    func step() throws -> @Sendable (MarbleValue, MarbleValue) throws -> MarbleValue {
        let name = value("fn")?.string ?? "sum"
        guard let step = MarbleFunctions.step(name) else { throw MarbleLack("function \(name)") }
        return step
    }

    func lack(_ names: [String]) -> MarbleLack { MarbleLack("operator \(op) without \(names[0])") }
}
