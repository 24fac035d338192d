// feedbus: the sections of a config, in the order in which people write them.

/// The top level of a config.
enum ConfigSections {
    static let names = ["$schema", "feedbus", "http", "sources", "stages", "subjects", "sinks"]

    /// What people call a section elsewhere.
    static let synonyms = [
        "inputs": "sources", "transforms": "stages", "pipeline": "stages", "outputs": "sinks", "topics": "subjects",
    ]
}
