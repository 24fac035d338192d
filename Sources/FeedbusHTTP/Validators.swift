// feedbus: what a poller remembers so that an unchanged answer costs a 304 only.

public import FeedbusBase
import FeedbusJSON

/// The validators of the last answer (RFC 9110, section 8.8), kept exactly as received, and how long they have said
/// "nothing new". Kept with the cursor.
public struct Validators: Sendable, Hashable {
    /// `ETag` with its quotes and `W/`.
    public var etag: String?
    public var lastModified: String?
    /// 304 answers since the last whole one.
    public var notModifiedInARow: Int
    /// When the last whole answer came.
    public var lastFull: WallTime

    public init(etag: String?, lastModified: String?, notModifiedInARow: Int = 0, lastFull: WallTime) {
        self.etag = etag
        self.lastModified = lastModified
        self.notModifiedInARow = notModifiedInARow
        self.lastFull = lastFull
    }

    /// As JSON text, for the cursor.
    public var json: Bytes {
        var writer = ByteWriter()
        writer.append("{")
        for (name, value) in [("etag", etag), ("lastModified", lastModified)] {
            guard let value else { continue }
            writer.append("\"\(name)\":")
            writer.appendJSONString(value)
            writer.append(",")
        }
        writer.append("\"notModified\":\(notModifiedInARow),\"lastFull\":\"\(lastFull.rfc3339())\"}")
        return writer.finish()
    }

    /// Reads what `json` wrote; nil for anything else.
    public init?(json: Bytes) {
        guard let value = try? JSON.parse(json), value.kind == .object, let count = value["notModified"]?.int,
            let lastFull = value["lastFull"]?.string.flatMap({ WallTime(rfc3339: $0) })
        else { return nil }
        self.init(
            etag: value["etag"]?.string, lastModified: value["lastModified"]?.string, notModifiedInARow: count,
            lastFull: lastFull)
    }
}
