// feedbus: events as the lines of a file.

import FeedbusPlugin
import Glibc

/// A batch as the text that is appended to the file: whole lines, each with its line break.
struct LineText: Sendable {
    let bytes: Bytes

    init(_ events: Chunk<Event>, format: LineFormat) {
        let size =
            if let (packed, range) = events.packedEvents { packed.weight(of: range) } else {
                events.reduce(0) { $0 + $1.weight }
            }
        var writer = ByteWriter(capacity: size + 160 * events.count)
        for event in events {
            // A line break in the data would make two lines of one. Sources minify, so this is a look and no more.
            if LineText.firstLineBreak(event.data) == nil {
                LineText.append(event, format, to: &writer)
            } else {
                var event = event
                event.data = LineText.oneLine(event.data)
                LineText.append(event, format, to: &writer)
            }
        }
        bytes = writer.finish()
    }

    init(bytes: Bytes) { self.bytes = bytes }

    /// The data of a batch as it stands in memory.
    static func runs(_ events: Chunk<Event>) -> ByteRuns {
        var runs = ByteRuns()
        if let (packed, range) = events.packedEvents, packed.areFollowed {
            packed.places[range].withUnsafeBufferPointer { runs.appendLines($0, of: packed.buffer) }
            runs.finish()
            return runs
        }
        // In place: each event that is copied costs a dozen counted references.
        let isDone: Void? = events.withContiguousStorageIfAvailable { events in
            // The ends of the lines are mostly in another core's cache. All are looked at before the first reference is
            // counted, which would make every one of them wait for the one before.
            var followed = 0
            for index in events.indices { followed += events[index].data.isFollowedByLineFeed ? 1 : 0 }
            let areAll = followed == events.count
            for index in events.indices { append(events[index].data, isFollowed: areAll, to: &runs) }
        }
        if isDone == nil { for event in events { append(event.data, isFollowed: false, to: &runs) } }
        runs.finish()
        return runs
    }

    /// - Parameter isFollowed: it is known that a line feed stands behind it in its buffer.
    private static func append(_ data: Bytes, isFollowed: Bool, to runs: inout ByteRuns) {
        if !data.isLine && firstLineBreak(data) != nil {
            runs.appendLine(oneLine(data))
        } else if isFollowed {
            runs.appendLine(data, isFollowed: true)
        } else {
            runs.appendLine(data)
        }
    }

    private static func append(_ event: Event, _ format: LineFormat, to writer: inout ByteWriter) {
        switch format {
        case .cloudevents: event.appendCloudEvent(to: &writer)
        case .data: writer.append(event.data)
        }
        writer.append(UInt8(ascii: "\n"))
    }

    /// The largest line end (the offset behind a line break) at or before `offset`; 0 where there is none.
    func lineEnd(atOrBefore offset: Int) -> Int {
        bytes.withUnsafeBytes { text in
            var end = offset
            while end > 0, text[end - 1] != 0x0A { end -= 1 }
            return end
        }
    }

    /// The first line end behind `offset`; the end of the text where there is none.
    func lineEnd(after offset: Int) -> Int {
        guard offset < bytes.count else { return bytes.count }
        return LineText.firstLineBreak(bytes[offset..<bytes.count]).map { offset + $0 + 1 } ?? bytes.count
    }

    static func firstLineBreak(_ bytes: Bytes) -> Int? {
        bytes.withUnsafeBytes { text in
            guard !text.isEmpty, let found = memchr(text.baseAddress!, 0x0A, text.count) else { return nil }
            return UnsafeRawPointer(found) - text.baseAddress!
        }
    }

    static func oneLine(_ data: Bytes) -> Bytes {
        (try? JSON.minify(data)) ?? JSON.quote(data.string)
    }
}
