// feedbus: elements that are made only when somebody looks at them.

/// What a chunk may hold in place of an array: many elements in a form of their own, immutable, of which each is made anew
/// whenever it is asked for.
///
/// Whoever knows the form works on all of them at once and makes none. To everybody else it is a chunk like any other.
package protocol PackedElements<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    var count: Int { get }

    /// - Parameter index: 0..<count.
    func element(at index: Int) -> Element

    /// The weights of these elements together, as an edge that bounds them by weight sees them. See `Edge`'s `weigh`.
    func weight(of range: Range<Int>) -> Int
}
