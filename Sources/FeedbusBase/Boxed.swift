// feedbus: a large value that is as small as a reference.

/// A value behind a reference, copied where it is changed while others have it too: for what is large and has many copies.
@dynamicMemberLookup
public struct Boxed<Value: Sendable>: Sendable {
    /// `@unchecked Sendable`: `value` is written only where there is a single reference to it, by the one who has that.
    @usableFromInline
    final class Storage: @unchecked Sendable {
        // The same reason: whoever writes is alone with it.
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable
    public init(_ value: Value) { storage = Storage(value) }

    @inlinable public var value: Value {
        get { storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }

    @inlinable
    public subscript<Part>(dynamicMember path: WritableKeyPath<Value, Part>) -> Part {
        get { storage.value[keyPath: path] }
        _modify { yield &value[keyPath: path] }
    }
}
