// feedbus: one item of a list, as far as feedbus looks into it.

import FeedbusPlugin
import Polling

/// An element of a list. Its text is passed on as it is.
struct Item: Sendable {
    /// The event's id: the item's own, and with `on: "change"` `@` and a hash of its text behind it.
    let id: Bytes
    let subject: Bytes
    let time: Bytes
    let data: Bytes
    let attributes: [Event.Attribute]
    let isRecorded: Bool
    let key: ItemMemory.Key

    /// Nil where `options.fields.id` leads to no usable id.
    init?(_ value: JSONValue, of body: JSONBody, options: HTTPPollOptions) {
        let content = value.raw.contentHash
        let name: Bytes
        if let pointer = options.fields.id {
            guard let found = value[pointer]?.identifier else { return nil }
            name = Bytes(found)
        } else {
            name = Bytes(Bytes.digits(ofHash: content))
        }
        // A changed item is another event: CloudEvents wants another id for it.
        id = options.fields.on == .change ? Bytes("\(name.string)@\(Bytes.digits(ofHash: content))") : name
        subject = options.fields.subject.flatMap { value[$0]?.identifier }.map { Bytes($0) } ?? Bytes()
        time = options.fields.time.flatMap { value[$0]?.timeText } ?? Bytes()
        data = value.raw
        attributes = body.attributes(of: value.raw)
        isRecorded = body.isRecorded
        key = ItemMemory.Key(id: name.contentHash, content: content)
    }
}
