// feedbus: feedbus schema

import FeedbusRuntime

struct SchemaCommand: Command {
    static let name = "schema"
    static let summary = "print the JSON Schema of the config, for editors"
    static let details = """
        Draft 2020-12. Save it beside the config and name it there:
          feedbus schema > feedbus.schema.json
          { "$schema": "./feedbus.schema.json", … }
        """

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        .done(out: ConfigSchema(registry: input.registry).text)
    }
}
