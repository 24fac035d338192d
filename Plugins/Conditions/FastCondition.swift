// feedbus: a condition on values in an event's text, without a document and without jq.

import FeedbusPlugin

/// What must be true of the value at one pointer. A value that is not there is unlike any other: it only satisfies
/// `exists(false)`, `differs` and `outside`.
enum Comparison: Sendable {
    case exists(Bool)
    case equals(Scalar)
    case differs(Scalar)
    case inside(ScalarSet)
    case outside(ScalarSet)
    case less(Scalar)
    case lessOrEqual(Scalar)
    case greater(Scalar)
    case greaterOrEqual(Scalar)
    case startsWith(Bytes)
    case contains(Bytes)

    func holds(for value: RawJSON?) -> Bool {
        guard let value else {
            switch self {
            case .exists(let wanted): return !wanted
            case .differs, .outside: return true
            default: return false
            }
        }
        switch self {
        case .exists(let wanted): return wanted
        case .equals(let scalar): return scalar.equals(value)
        case .differs(let scalar): return !scalar.equals(value)
        case .inside(let scalars): return scalars.contains(value)
        case .outside(let scalars): return !scalars.contains(value)
        case .less(let scalar): return scalar.order(of: value).map { $0 < 0 } ?? false
        case .lessOrEqual(let scalar): return scalar.order(of: value).map { $0 <= 0 } ?? false
        case .greater(let scalar): return scalar.order(of: value).map { $0 > 0 } ?? false
        case .greaterOrEqual(let scalar): return scalar.order(of: value).map { $0 >= 0 } ?? false
        case .startsWith(let text): return text.withUnsafeBytes { value.hasPrefix($0) }
        case .contains(let text): return text.withUnsafeBytes { value.containsString($0) }
        }
    }
}

/// Comparisons put together; pointers are numbers in the finder's list.
indirect enum ConditionTree: Sendable {
    case compare(pointer: Int, Comparison)
    case all([ConditionTree])
    case any([ConditionTree])
    case not(ConditionTree)

    func holds(_ places: borrowing JSONPlaces) -> Bool {
        switch self {
        case .compare(let pointer, let comparison): return comparison.holds(for: places[pointer])
        case .all(let parts):
            for part in parts where !part.holds(places) { return false }
            return true
        case .any(let parts):
            for part in parts where part.holds(places) { return true }
            return false
        case .not(let part): return !part.holds(places)
        }
    }
}

/// A condition that is answered by one walk over the text.
struct FastCondition: Sendable {
    let tree: ConditionTree
    let finder: JSONFinder

    func holds(for text: Bytes) -> Bool {
        var holds = false
        text.withUnsafeBytes { raw in finder.find(in: raw) { holds = tree.holds($0) } }
        return holds
    }
}
