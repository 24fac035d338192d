// feedbus: the state of one collection.

/// A mutable value that belongs to one collection of a flow.
///
/// `@unchecked Sendable`, because it is touched only by that collection's producer and by the collector that it calls;
/// a producer awaits each call before the next one and before it goes on (the contract of `Flow`), so all accesses are
/// in one order, each before the next, whatever threads they are on. Where several flows run at once, it is touched only
/// inside their `SerialGate`, whose lock gives the same order. Exclusivity needs no check for the same reason.
@usableFromInline
final class Local<Value>: @unchecked Sendable {
    @exclusivity(unchecked) @usableFromInline var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
}
