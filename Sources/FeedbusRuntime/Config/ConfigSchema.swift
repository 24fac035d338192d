// feedbus: the JSON Schema of a config, from the declarations that also decode and check it.

import FeedbusBase
import FeedbusPlugin

/// Builds the schema (draft 2020-12) of all configs that the plugins of a registry allow.
package struct ConfigSchema: Sendable {
    private let registry: PluginRegistry

    package init(registry: PluginRegistry) { self.registry = registry }

    /// The schema as JSON text with a final line break.
    package var text: String {
        var properties: [(key: String, value: SchemaNode)] = [
            ("$schema", .object([("type", .text("string")), ("description", .text("path or URL of this schema"))])),
            ("feedbus", described(objectSchema(FeedbusSection.summaries), "the program itself")),
            ("http", described(objectSchema(HTTPSection.summaries), "what all HTTP requests have in common")),
        ]
        var definitions: [(key: String, value: SchemaNode)] = [
            (
                "variable",
                .object([
                    ("type", .text("string")), ("pattern", .text(#"\$\{"#)),
                    ("description", .text("text with ${NAME} or ${NAME:-default} from the environment")),
                ])
            )
        ]
        for section in NodeSection.allCases {
            properties.append((section.rawValue, sectionSchema(section)))
            definitions.append((section.definition, nodeSchema(section)))
            for plugin in plugins(section) {
                definitions.append((plugin.definition, described(objectSchema(plugin.options), plugin.summary)))
            }
        }
        let schema: SchemaNode = .object([
            ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            ("title", .text("feedbus config")),
            ("type", .text("object")),
            ("properties", .object(properties)),
            ("required", .texts(["sources", "sinks"])),
            ("additionalProperties", .raw("false")),
            ("$defs", .object(definitions)),
        ])
        return schema.print() + "\n"
    }

    private func plugins(_ section: NodeSection) -> [PluginDescription] {
        registry.plugins.filter { $0.kind == section.pluginKind }
    }

    private func sectionSchema(_ section: NodeSection) -> SchemaNode {
        .object([
            ("type", .text("object")), ("description", .text(section.help)),
            ("propertyNames", .object([("pattern", .text(NodeSection.namePattern))])),
            ("additionalProperties", reference(section.definition)),
        ])
    }

    /// The fields of a node, and for each plugin what its `with` must be.
    private func nodeSchema(_ section: NodeSection) -> SchemaNode {
        guard case .members(var members) = objectSchema(section.fields), section.pluginKind != nil else {
            return objectSchema(section.fields)
        }
        let plugins = plugins(section)
        if case .members(var properties)? = members.first(where: { $0.key == "properties" })?.value {
            for index in properties.indices {
                switch properties[index].key {
                case "plugin":
                    properties[index].value = .object([
                        ("description", .text("the plugin that runs the node")),
                        ("anyOf", .list([.object([("enum", .texts(plugins.map(\.name)))]), reference("variable")])),
                    ])
                case "with":
                    properties[index].value = .object([
                        ("type", .text("object")), ("description", .text("the plugin's own options")),
                    ])
                default: break
                }
            }
            members[members.firstIndex { $0.key == "properties" }!].value = .members(properties)
        }
        let conditions: [SchemaNode] = plugins.map { plugin in
            let named: SchemaNode = .object([
                ("properties", .object([("plugin", .object([("const", .text(plugin.name))]))])),
                ("required", .texts(["plugin"])),
            ])
            var then: [(key: String, value: SchemaNode)] = [
                ("properties", .object([("with", reference(plugin.definition))]))
            ]
            if plugin.options.contains(where: \.isRequired) { then.append(("required", .texts(["with"]))) }
            return .object([("if", named), ("then", .object(then))])
        }
        if !conditions.isEmpty { members.append(.init(key: "allOf", value: .list(conditions))) }
        return .members(members)
    }

    private func objectSchema(_ options: [OptionSummary]) -> SchemaNode {
        var members: [(key: String, value: SchemaNode)] = [
            ("type", .text("object")),
            ("properties", .object(options.map { ($0.name, optionSchema($0)) })),
        ]
        let required = options.filter(\.isRequired).map(\.name)
        if !required.isEmpty { members.append(("required", .texts(required))) }
        members.append(("additionalProperties", .raw("false")))
        return .object(members)
    }

    private func optionSchema(_ option: OptionSummary) -> SchemaNode {
        guard case .members(var members) = described(kindSchema(option.kind), option.help) else { return .raw("true") }
        if let text = option.defaultText { members.append(.init(key: "default", value: .raw(text))) }
        if let text = option.example { members.append(.init(key: "examples", value: .list([.raw(text)]))) }
        return .members(members)
    }

    private func kindSchema(_ kind: OptionKind) -> SchemaNode {
        switch kind {
        case .string: return .object([("type", .text("string"))])
        case .boolean: return .object([("type", .text("boolean"))])
        case .integer(let range):
            var members: [(key: String, value: SchemaNode)] = [("type", .text("integer"))]
            if range.lowerBound != .min { members.append(("minimum", .raw("\(range.lowerBound)"))) }
            if range.upperBound != .max { members.append(("maximum", .raw("\(range.upperBound)"))) }
            return .object(members)
        case .duration(let range):
            return pattern(
                #"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$"#,
                "a duration from \(range.lowerBound.text) to \(range.upperBound.text)")
        case .size(let range):
            return pattern(
                #"^[0-9]+(\.[0-9]+)?(B|kB|KB|MB|GB|KiB|MiB|GiB)$"#,
                "a size from \(ByteSize.text(range.lowerBound)) to \(ByteSize.text(range.upperBound))")
        case .choice(let words): return orVariable(.object([("enum", .texts(words))]))
        case .pointer: return pattern(#"^(/([^~/]|~[01])*)*$"#, "a JSON pointer (RFC 6901)")
        case .url: return pattern("^[Hh][Tt][Tt][Pp][Ss]?://", "an http or https URL")
        case .secret:
            let place: SchemaNode = .object([("type", .text("string")), ("pattern", .text(#"^(env:|file:|.*\$\{)"#))])
            return .object([
                ("type", .text("object")), ("properties", .object([("secret", place)])),
                ("required", .texts(["secret"])), ("additionalProperties", .raw("false")),
            ])
        case .list(let element): return .object([("type", .text("array")), ("items", kindSchema(element))])
        case .object(let options): return objectSchema(options)
        case .map(let element):
            return .object([("type", .text("object")), ("additionalProperties", kindSchema(element))])
        case .json(let kind, let words):
            guard let kind else { return .object([("title", .text(words))]) }
            return .object([("type", .text(kind == .bool ? "boolean" : kind.rawValue)), ("title", .text(words))])
        case .either(let kinds): return .object([("anyOf", .list(kinds.map { kindSchema($0) }))])
        }
    }

    private func pattern(_ pattern: String, _ title: String) -> SchemaNode {
        orVariable(.object([("type", .text("string")), ("pattern", .text(pattern)), ("title", .text(title))]))
    }

    /// Text of a certain form may also come from the environment.
    private func orVariable(_ schema: SchemaNode) -> SchemaNode {
        .object([("anyOf", .list([schema, reference("variable")]))])
    }

    private func reference(_ definition: String) -> SchemaNode { .object([("$ref", .text("#/$defs/\(definition)"))]) }

    private func described(_ schema: SchemaNode, _ text: String) -> SchemaNode {
        guard case .members(let members) = schema else { return schema }
        return .members([.init(key: "description", value: .text(text))] + members)
    }
}

extension NodeSection {
    fileprivate var definition: String { String(rawValue.dropLast()) }
}

extension PluginDescription {
    fileprivate var definition: String { "\(kind.rawValue).\(name)" }
}
