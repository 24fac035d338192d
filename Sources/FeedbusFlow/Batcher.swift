// feedbus: what buffer(count:time:) does, as a value.

/// Elements on their way into lists of at most `count`.
struct Batcher<Element: Sendable>: Sendable {
    let count: Int
    var elements: [Element] = []

    init(count: Int) { self.count = count }

    /// Takes the chunk in, if it does not fill the list.
    mutating func fits(_ chunk: Chunk<Element>) -> Bool {
        guard chunk.count < count - elements.count else { return false }
        elements.append(contentsOf: chunk)
        return true
    }

    /// Takes the chunk in.
    /// - Returns: the lists that it fills.
    mutating func add(_ chunk: Chunk<Element>) -> [[Element]] {
        var lists: [[Element]] = []
        var rest = chunk
        while !rest.isEmpty {
            let part = rest.prefix(count - elements.count)
            elements.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            if elements.count == count { lists.append(take()) }
        }
        return lists
    }

    /// The list as it is.
    mutating func take() -> [Element] {
        defer { elements = [] }
        return elements
    }
}
