// feedbus: what a stage does with an event on which its expression fails.

public import FeedbusPlugin

extension PluginContext {
    /// Gives up on one event, as the node's `on_error` says: `fail` fails the stage, anything else refuses the event. (It
    /// cannot `pass`: nobody knows what would have become of it.)
    /// - Throws: `FeedbusError` with the code `stage.event-failed`.
    public func giveUp(on event: Event, reason: String) throws(FeedbusError) {
        if onError == .fail {
            throw FeedbusError(
                "stage.event-failed", "event \(event.id): \(reason)", isRetriable: true)
        }
        refuse(event, reason: reason)
    }
}
