// feedbus: the schema of the config is made from the declarations of the options.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin
import Testing

@testable import FeedbusRuntime

@Suite struct ConfigSchemaTests {
    private let schema: JSONValue

    init() throws { schema = try JSON.parse(Bytes(ConfigSchema(registry: .stubs).text)) }

    private func at(_ pointer: String) -> String? { schema[JSONPointer(pointer)!]?.raw.string }

    @Test func sectionsAndFields() {
        #expect(at("/$schema") == "\"https://json-schema.org/draft/2020-12/schema\"")
        for section in ConfigSections.names { #expect(at("/properties/\(section)") != nil) }
        #expect(at("/additionalProperties") == "false")
        #expect(at("/properties/sources/additionalProperties/$ref") == "\"#/$defs/source\"")
        #expect(at("/$defs/sink/required") == #"["plugin", "from"]"#)
        #expect(at("/$defs/source/properties/from") == nil)
        #expect(at("/$defs/subject/properties/replay/maximum") == "1000000")
        #expect(at("/$defs/subject/properties/store/anyOf/0/enum") == #"["memory", "disk"]"#)
        #expect(at("/$defs/sink/properties/buffer/properties/when_full/anyOf/0/enum")?.contains("drop_oldest") == true)
    }

    @Test func eachPluginHasItsOwnOptions() {
        #expect(at("/$defs/source/allOf/0/if/properties/plugin/const") == "\"Jokes\"")
        #expect(at("/$defs/source/allOf/0/then/properties/with/$ref") == "\"#/$defs/source.Jokes\"")
        #expect(at("/$defs/source/allOf/0/then/required") == nil)
        #expect(at("/$defs/source.Jokes/properties/every/default") == "\"10s\"")
        #expect(at("/$defs/source.Jokes/properties/every/examples") == #"["1m"]"#)
        #expect(at("/$defs/sink/allOf/0/then/required") == #"["with"]"#)
        #expect(at("/$defs/sink.JSONLines/required") == #"["path"]"#)
        #expect(at("/$defs/source/properties/plugin/anyOf/0/enum") == #"["Jokes", "GitHubEvents"]"#)
    }
}
