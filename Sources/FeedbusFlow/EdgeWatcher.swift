// feedbus: who is told when an edge takes no more.

import Synchronization

/// Told once, outside the edge's lock, when the edge was closed or aborted or has failed. One object for each subject that
/// feeds the edge, in a list, so that an idle subscription stays small.
///
/// `@unchecked Sendable`: `next` is written once, under the edge's lock, when the watcher enters the list, and read after
/// the list was taken out under that lock; those that inherit from it have constants only.
@usableFromInline
class EdgeWatcher: @unchecked Sendable {
    @usableFromInline final var next: EdgeWatcher?

    @inlinable
    init() {}

    @usableFromInline
    func edgeHasEnded() {}

    /// Tells this one and those that came before it.
    @usableFromInline
    final func tellAll() {
        var watcher: EdgeWatcher? = self
        while let one = watcher {
            one.edgeHasEnded()
            watcher = one.next.take()
        }
    }
}

/// One subscriber of a subject: it leaves when its edge has ended.
final class SubjectLeaver<Element: Sendable>: EdgeWatcher, @unchecked Sendable {
    private weak let subject: Subject<Element>?
    private let id: UInt64

    init(_ subject: Subject<Element>, id: UInt64) {
        self.subject = subject
        self.id = id
    }

    override func edgeHasEnded() { subject?.state.withLock { $0.leave(id) } }
}
