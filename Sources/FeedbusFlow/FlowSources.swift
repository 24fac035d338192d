// feedbus: flows that begin somewhere: values, sequences, nothing, an error.

extension Flow {
    public static func just(_ element: Element) -> Flow { fatalError("not yet") }
    public static func from(_ elements: some Sequence<Element> & Sendable, chunk: Int = 256) -> Flow {
        fatalError("not yet")
    }
    public static func from(_ chunk: Chunk<Element>) -> Flow { fatalError("not yet") }
    public static var empty: Flow { fatalError("not yet") }
    public static var never: Flow { fatalError("not yet") }
    public static func fail(_ error: any Error) -> Flow { fatalError("not yet") }
    public static func from<Base: AsyncSequence & Sendable>(_ sequence: Base) -> Flow where Base.Element == Element {
        fatalError("not yet")
    }
}
