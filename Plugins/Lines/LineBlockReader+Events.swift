// feedbus: the scanned lines of a block as events.

import FeedbusPlugin

extension LineBlockReader {
    /// Lines as events: packed, where all of them are plain.
    func content(of range: Range<Int>, _ lines: Lines, _ block: LineBlock) -> LineBlock.Content {
        let start = lines.text.lowerBound
        var places: [TextPlace] = []
        places.reserveCapacity(range.count)
        var ids: [TextPlace] = []
        if finder != nil { ids.reserveCapacity(range.count) }
        var areFollowed = true
        /// Events that are not plain, each with the number of plain ones before it.
        var others: [(before: Int, event: Event)] = []
        var index = range.lowerBound
        while index < range.upperBound {
            let end = finder == nil ? range.upperBound : index + 1
            let stop = scanner.appendValues(
                of: index..<end, offset: start, longest: settings.maxLine, to: &places, &areFollowed)
            if index < stop, appendID(lines.buffer, to: &ids, &places) {
                index = stop
                continue
            }
            let line = scanner[index]
            let text = Bytes(
                buffer: lines.buffer, range: start + line.range.lowerBound..<start + line.range.upperBound)
            let event = lookAt(
                text, number: lines.before + line.number + 1, offset: lines.offset + line.range.lowerBound, block)
            if let event { others.append((places.count, event)) }
            index += 1
        }
        let plain = PackedEvents(
            // Its own for each chunk: threads that count references to one and the same object wait for each other.
            origin: EventOrigin(sameAs: reader.plainOrigin), buffer: lines.buffer, places: places,
            // Places count from where the input began.
            ids: finder != nil
                ? .texts(lines.buffer, ids)
                : .made(
                    of: lines.buffer, places, position: UInt64(truncatingIfNeeded: lines.offset &+ idBase &- start)),
            areFollowed: areFollowed)
        if others.isEmpty { return .packed(plain) }
        var events: [Event] = []
        events.reserveCapacity(plain.count + others.count)
        var next = 0
        for (before, event) in others {
            while next < before {
                events.append(plain.element(at: next))
                next += 1
            }
            events.append(event)
        }
        while next < plain.count {
            events.append(plain.element(at: next))
            next += 1
        }
        return .events(events)
    }

    /// Finds the id of the last of the places; takes that off where its id does not simply stand there.
    private func appendID(_ buffer: ByteBuffer, to ids: inout [TextPlace], _ places: inout [TextPlace]) -> Bool {
        guard let finder else { return true }
        let line = Bytes(buffer: buffer, range: places[places.count - 1].range)
        guard let id = Self.id(in: line, finder) else {
            places.removeLast()
            return false
        }
        ids.append(TextPlace(id.range.lowerBound, id.range.upperBound))
        return true
    }

    /// The id that stands in a line; nil where there is none, or it has to be decoded.
    private static func id(in line: Bytes, _ finder: JSONFinder) -> Bytes? {
        var found: Range<Int>?
        line.withUnsafeBytes { text in
            finder.find(in: text) { places in
                guard let range = places.range(0), let value = places[0] else { return }
                switch value.kind {
                case .number, .bool: found = range
                case .string where value.plainContent?.isEmpty == false:
                    found = range.lowerBound + 1..<range.upperBound - 1
                default: break
                }
            }
        }
        return found.map { line[$0] }
    }

    /// A line that is no plain value, or whose id has to be looked for.
    private func lookAt(_ text: Bytes, number: Int, offset: Int, _ block: LineBlock) -> Event? {
        guard text.count <= settings.maxLine else {
            let limit = ByteSize.text(settings.maxLine)
            block.refused.append(
                RefusedLine(
                    number: number, offset: offset, reason: "is too long: \(text.count) bytes, max_line is \(limit)"))
            return nil
        }
        do throws(LineReader.BadLine) {
            // The byte order mark of the first line is gone already.
            switch try reader.read(text, number: max(number, 2), position: offset &+ idBase) {
            case .event(let event), .data(let event, _): return event
            case nil: return nil
            }
        } catch {
            block.refused.append(
                RefusedLine(number: number, offset: offset, reason: "is not JSON: \(error.reason)", text: text))
            return nil
        }
    }
}
