// feedbus: a replay on stdout: one CloudEvents object a line.

import FeedbusBase
import FeedbusPlugin
import FeedbusStore

package enum ReplayText {
    /// Prints; blocks. Nothing is removed.
    /// - Parameter write: takes some lines; false ends it.
    /// - Throws: `FeedbusError` with a code of the state store, or `replay.nothing`.
    package static func print(_ content: ReplayRequest.Content, folder: String, write: (Bytes) -> Bool) throws {
        let file = try StateFile.open(folder: folder)
        var codec = EventCodec()
        func send(_ events: [Event]) -> Bool {
            var writer = ByteWriter(capacity: 1 << 16)
            for event in events {
                event.appendCloudEvent(to: &writer)
                writer.append(UInt8(ascii: "\n"))
            }
            return write(writer.finish())
        }
        switch content {
        case .subject(let subject, let start):
            guard var at = try file?.find(start.inLog, in: subject) else {
                throw FeedbusError("replay.nothing", "the log of \(subject) \(start.missing)")
            }
            while let part = try file?.events(of: subject, from: at) {
                guard send(codec.decode(part.events)) else { return }
                at = part.first + Int64(part.events.count)
            }
        case .deadLetters(let node):
            var last: Int64 = 0
            while let letters = try file?.deadLetters(after: last, node: node), let final = letters.last {
                last = final.number
                let events = letters.compactMap { letter -> Event? in
                    guard case .event(let event) = letter.body else { return nil }
                    return codec.decode(event)
                }
                guard send(events) else { return }
            }
        }
    }
}
