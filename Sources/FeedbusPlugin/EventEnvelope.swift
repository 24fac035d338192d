// feedbus: what the CloudEvents objects of one source and type have in common, as text.

import FeedbusBase
import FeedbusJSON

/// The members of a CloudEvents object that an origin says, ready to be copied.
final class EventEnvelope: Sendable {
    /// `,"source":"…","type":"…"`
    let beforeSubject: Bytes
    /// `,"datacontenttype":"application/json","feedbusnode":"…"`, and `,"recorded":true` where it is.
    let afterTime: Bytes

    init(_ origin: EventOrigin) {
        var writer = ByteWriter()
        writer.append(",\"source\":" as StaticString)
        writer.appendJSONString(origin.source)
        writer.append(",\"type\":" as StaticString)
        writer.appendJSONString(origin.type)
        beforeSubject = writer.finish()
        writer.append(",\"datacontenttype\":\"application/json\",\"feedbusnode\":" as StaticString)
        writer.appendJSONString(origin.node)
        if origin.recorded { writer.append(",\"recorded\":true" as StaticString) }
        afterTime = writer.finish()
    }
}
