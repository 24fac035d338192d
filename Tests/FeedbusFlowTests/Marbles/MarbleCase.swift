// feedbus: the cases file of marble diagrams: its shape.

import FoundationEssentials
import Testing

/// A value in the cases file.
enum MarbleValue: Codable, Sendable, Equatable, Hashable, CustomStringConvertible {
    case int(Int)
    case number(Double)
    case bool(Bool)
    case string(String)
    case array([MarbleValue])
    case object([String: MarbleValue])
    case null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([MarbleValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: MarbleValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws { fatalError("the cases are read only") }

    var int: Int? { if case .int(let value) = self { value } else { nil } }
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var array: [MarbleValue]? { if case .array(let value) = self { value } else { nil } }
    var object: [String: MarbleValue]? { if case .object(let value) = self { value } else { nil } }
    subscript(key: String) -> MarbleValue? { object?[key] }

    var description: String {
        switch self {
        case .int(let value): "\(value)"
        case .number(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): value
        case .array(let values): "[" + values.map(\.description).joined(separator: ",") + "]"
        case .object(let members): "\(members)"
        case .null: "null"
        }
    }
}

/// One event of a timeline: `10:1`, `20:|`, `30:#E`.
struct MarbleEvent: Codable, Sendable, Equatable, CustomStringConvertible {
    var at: Int
    var next: MarbleValue?
    var complete: Bool?
    var error: String?

    var description: String {
        if let next { return "\(at):\(next)" }
        return complete == true ? "\(at):|" : "\(at):#\(error ?? "?")"
    }
}

/// One case of the file. See SEMANTICS.md beside it for what the fields mean.
struct MarbleCase: Decodable, Sendable, CustomTestStringConvertible {
    struct Input: Decodable, Sendable {
        var source: String
        var at: Int
        var next: MarbleValue?
        var complete: Bool?
        var error: String?
        var attempt: Int?
    }

    struct Script: Decodable, Sendable {
        struct When: Decodable, Sendable {
            var next: MarbleValue?
            var complete: Bool?
            var error: Bool?
        }

        var when: When
        var `do`: [MarbleValue]
    }

    struct Subscriber: Decodable, Sendable {
        var subscribeAt: Int?
        var unsubscribeAt: Int?
        var demand: [MarbleValue]?
        var on: [Script]?
    }

    struct Step: Decodable, Sendable {
        var op: String
        var args: MarbleValue

        private enum CodingKeys: String, CodingKey { case op, args }

        init(op: String, args: MarbleValue) { (self.op, self.args) = (op, args) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            op = try container.decode(String.self, forKey: .op)
            args = try container.decodeIfPresent(MarbleValue.self, forKey: .args) ?? .object([:])
        }
    }

    struct Recommendation: Decodable, Sendable { var expect: [[MarbleEvent]]? }

    var id: String
    var `operator`: String?
    var args: MarbleValue?
    var pipeline: [Step]?
    var sources: [String: MarbleValue]
    var inputs: [Input]?
    var subscribers: [Subscriber]
    var expect: [[MarbleEvent]]
    var expectSourceSubscriptions: [String: [[Int?]]]?
    var recommend: Recommendation?
    var engine: String?

    var testDescription: String { id }

    var steps: [Step] { pipeline ?? [Step(op: `operator` ?? "subject", args: args ?? .object([:]))] }

    /// The first step's operator and arguments.
    var first: Step { steps.first ?? Step(op: "subject", args: .object([:])) }

    /// What feedbus follows.
    var expected: [[MarbleEvent]] { recommend?.expect ?? expect }
}
