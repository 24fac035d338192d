// feedbus: an event as the text of a CloudEvents JSON object.

public import FeedbusBase
import FeedbusJSON
import Synchronization

extension Event {
    /// Appends the event as one line of CloudEvents JSON (structured mode), without a line break.
    ///
    /// The order of members is fixed; `data` is copied byte for byte.
    public func appendCloudEvent(to writer: inout ByteWriter) {
        writer.append("{\"specversion\":\"1.0\",\"id\":" as StaticString)
        writer.appendJSONString(id)
        let envelope = origin.envelope.load() ?? origin.envelope.storeIfNil(EventEnvelope(origin))
        writer.append(envelope.beforeSubject)
        if !subject.isEmpty {
            writer.append(",\"subject\":" as StaticString)
            writer.appendJSONString(subject)
        }
        if !time.isEmpty {
            writer.append(",\"time\":" as StaticString)
            writer.appendJSONString(time)
        }
        writer.append(envelope.afterTime)
        for attribute in attributes {
            writer.append(",\"" as StaticString)
            writer.append(attribute.name)
            writer.append("\":" as StaticString)
            writer.append(attribute.value)
        }
        writer.append(",\"data\":" as StaticString)
        writer.append(data)
        writer.append(UInt8(ascii: "}"))
    }

    /// The event as CloudEvents JSON text.
    public var cloudEvent: Bytes {
        var writer = ByteWriter(capacity: data.count + 320)
        appendCloudEvent(to: &writer)
        return writer.finish()
    }
}
