// feedbus: how far a file was read.

import FeedbusPlugin
import Lines

/// What a run leaves to the next one.
struct LineCursor: Equatable {
    var inode: UInt64
    var place: LinePlace
    /// How many files of this name came before.
    var generation: Int

    init(inode: UInt64, place: LinePlace, generation: Int) {
        self.inode = inode
        self.place = place
        self.generation = generation
    }

    /// Nil where it is not the text of a cursor.
    init?(_ text: Bytes) {
        guard let value = try? JSON.parse(text), let inode = value["inode"]?.raw.string, let number = UInt64(inode),
            let offset = value["offset"]?.int, let lines = value["lines"]?.int, offset >= 0, lines >= 0
        else { return nil }
        self.init(
            inode: number, place: LinePlace(offset: offset, lines: lines), generation: value["generation"]?.int ?? 0)
    }

    var text: Bytes {
        Bytes(
            "{\"inode\":\(inode),\"offset\":\(place.offset),\"lines\":\(place.lines),\"generation\":\(generation)}")
    }
}
