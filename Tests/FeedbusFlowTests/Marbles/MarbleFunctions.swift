// feedbus: the functions and conditions that marble cases name.

/// What stands behind a name like `x*10`, `even` or `sum`; nil where nobody has told.
enum MarbleFunctions {
    /// `x`, `x*N`, `x/N`, `x+N`, `x-N`, `x%N`, `throw_on:N`.
    static func function(_ name: String) -> (@Sendable (MarbleValue) throws -> MarbleValue)? {
        if name == "x" { return { $0 } }
        if let number = number(after: "throw_on:", in: name) {
            return { value in
                if value == .int(number) { throw TestError("T") }
                return value
            }
        }
        let operations: [(String, @Sendable (Int, Int) -> Int)] = [
            ("x*", { $0 * $1 }), ("x/", { $0 / $1 }), ("x+", { $0 + $1 }), ("x-", { $0 - $1 }), ("x%", { $0 % $1 }),
        ]
        for (prefix, operation) in operations {
            if let number = number(after: prefix, in: name) { return { .int(operation($0.int ?? 0, number)) } }
        }
        return nil
    }

    static let all: @Sendable (MarbleValue) throws -> Bool = { _ in true }

    /// `even`, `odd`, `<N`, `>N`, `<=N`, `>=N`, `throw_on:N`.
    static func predicate(_ name: String) -> (@Sendable (MarbleValue) throws -> Bool)? {
        if name == "even" { return { ($0.int ?? 0) % 2 == 0 } }
        if name == "odd" { return { ($0.int ?? 0) % 2 != 0 } }
        if let number = number(after: "throw_on:", in: name) {
            return { value in
                if value == .int(number) { throw TestError("T") }
                return true
            }
        }
        let relations: [(String, @Sendable (Int, Int) -> Bool)] = [
            ("<=", { $0 <= $1 }), (">=", { $0 >= $1 }), ("<", { $0 < $1 }), (">", { $0 > $1 }),
        ]
        for (prefix, relation) in relations {
            if let number = number(after: prefix, in: name) { return { relation($0.int ?? 0, number) } }
        }
        return nil
    }

    /// `sum`, `sum_throw_on:N`.
    static func step(_ name: String) -> (@Sendable (MarbleValue, MarbleValue) throws -> MarbleValue)? {
        let failing = number(after: "sum_throw_on:", in: name)
        guard name == "sum" || failing != nil else { return nil }
        return { sum, value in
            if value.int == failing, failing != nil { throw TestError("T") }
            return .int((sum.int ?? 0) + (value.int ?? 0))
        }
    }

    private static func number(after prefix: String, in name: String) -> Int? {
        name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.count)) : nil
    }
}
