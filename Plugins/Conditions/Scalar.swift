// feedbus: a value of a condition that events' values are compared with.

import FeedbusPlugin

/// A JSON value without parts.
enum Scalar: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number's own text.
    case number(Bytes)
    /// Decoded.
    case string(Bytes)

    func equals(_ value: RawJSON) -> Bool {
        switch self {
        case .string(let wanted): wanted.withUnsafeBytes { value.equalsString($0) }
        case .number: order(of: value) == 0
        case .bool(let flag): value.kind == .bool && value.isTrue == flag
        case .null: value.kind == .null
        }
    }

    /// How a value stands to this one: below, at or above zero. Nil where they are not two numbers or two strings.
    func order(of value: RawJSON) -> Int? {
        switch self {
        case .string(let wanted): wanted.withUnsafeBytes { value.compareString($0) }
        case .number(let wanted): wanted.withUnsafeBytes { value.compareNumber(RawJSON($0)) }
        default: nil
        }
    }

    init?(_ value: PositionedValue) {
        switch value.content {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let text): self = .number(Bytes(text))
        case .string(let text): self = .string(Bytes(text))
        case .array, .object: return nil
        }
    }
}

/// Several scalars of which one may be met. Many strings are searched by halves.
struct ScalarSet: Sendable {
    /// In the order of their bytes, each once.
    private let strings: [Bytes]
    private let others: [Scalar]

    init(_ scalars: [Scalar]) {
        var strings: Set<Bytes> = []
        var others: [Scalar] = []
        for scalar in scalars {
            if case .string(let text) = scalar { strings.insert(text) } else { others.append(scalar) }
        }
        self.strings = strings.sorted { left, right in
            left.withUnsafeBytes { a in right.withUnsafeBytes { b in a.lexicographicallyPrecedes(b) } }
        }
        self.others = others
    }

    func contains(_ value: RawJSON) -> Bool {
        guard value.kind == .string else { return others.contains { $0.equals(value) } }
        if strings.count <= 8 { return strings.contains { $0.withUnsafeBytes { value.equalsString($0) } } }
        var low = 0
        var high = strings.count
        while low < high {
            let middle = (low + high) / 2
            let order = strings[middle].withUnsafeBytes { value.compareString($0) } ?? 0
            if order == 0 { return true }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return false
    }
}
