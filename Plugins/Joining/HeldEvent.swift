// feedbus: an event that stays in force until the next one of its flow comes.

public import FeedbusPlugin
import Synchronization

/// The latest event of a flow. Its first use takes its receipt along; what stays is a copy without it, so that its source
/// can move on. An event that is never used keeps its receipt until the next one takes its place.
public final class HeldEvent: Sendable {
    private struct State {
        var event: Event
        var uses = 0
    }

    private let state: Mutex<State>

    public init(_ event: Event) { state = Mutex(State(event: event)) }

    public func use() -> Event {
        state.withLock { state in
            let event = state.event
            switch state.uses {
            case 0: state.event.receipt = nil
            // It is really kept, and not for one use only: what it was read in need not stay in memory for it.
            case 1: state.event = event.detached()
            default: break
            }
            state.uses = min(state.uses + 1, 2)
            return event
        }
    }
}
