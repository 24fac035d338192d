// feedbus: the elements of a flow that share a key.

/// One group of `groupBy`: its key, and its elements as a flow, to be collected once.
public struct FlowGroup<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    public let key: Key
    public let flow: Flow<Element>
}
