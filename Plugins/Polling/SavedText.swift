// feedbus: what polling sources save, as JSON text with a version.

public import FeedbusPlugin

/// A cursor's text: a JSON object whose first member is the version of its form.
public enum SavedText {
    public static let version = 1

    /// `{"v":1,` and the members.
    public static func make(_ members: [(key: String, value: Bytes)]) -> Bytes {
        var writer = ByteWriter(capacity: members.reduce(32) { $0 + $1.key.utf8.count + $1.value.count + 8 })
        writer.append("{\"v\":\(version)")
        for member in members {
            writer.append(UInt8(ascii: ","))
            writer.appendJSONString(member.key)
            writer.append(UInt8(ascii: ":"))
            writer.append(member.value)
        }
        writer.append(UInt8(ascii: "}"))
        return writer.finish()
    }

    /// What `make` wrote; nil for another text or another version.
    public static func read(_ text: Bytes) -> JSONValue? {
        guard let value = try? JSON.parse(text), value["v"]?.int == version else { return nil }
        return value
    }

    /// A JSON object of values that are JSON text themselves.
    public static func object(_ members: some Sequence<(key: String, value: Bytes)>) -> Bytes {
        var writer = ByteWriter()
        writer.append(UInt8(ascii: "{"))
        var isFirst = true
        for member in members {
            if !isFirst { writer.append(UInt8(ascii: ",")) }
            isFirst = false
            writer.appendJSONString(member.key)
            writer.append(UInt8(ascii: ":"))
            writer.append(member.value)
        }
        writer.append(UInt8(ascii: "}"))
        return writer.finish()
    }

    /// A JSON array of values that are JSON text themselves.
    public static func array(_ elements: some Sequence<Bytes>) -> Bytes {
        var writer = ByteWriter()
        writer.append(UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { writer.append(UInt8(ascii: ",")) }
            isFirst = false
            writer.append(element)
        }
        writer.append(UInt8(ascii: "]"))
        return writer.finish()
    }
}

extension PluginContext {
    /// Reads a cursor of this form. One that cannot be read is reported and counts as none: the source begins anew.
    public func savedText(_ key: String) async throws -> JSONValue? {
        guard let text = try await cursor(key) else { return nil }
        if let value = SavedText.read(text) { return value }
        log.warning("the saved cursor \"\(key)\" cannot be read; beginning anew, events may be repeated")
        return nil
    }
}
