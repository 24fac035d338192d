// feedbus: the first flow to give a sign.

import FeedbusBase

extension Flow {
    /// The flow that is first to emit, complete or fail; the others are released at once.
    ///
    /// ```
    /// a      -----1--2--|
    /// b      --7-----8--|
    /// amb    --7-----8--|
    /// ```
    /// Flows are subscribed in order; one that gives a sign at once keeps the later ones from being touched. What the others
    /// fail with is dropped. Without flows it completes at once. Back-pressure: a direct call. Combine has none; Reactor:
    /// `firstWithSignal`; rxjs: `race`.
    public static func amb(_ flows: [Flow]) -> Flow {
        Flow { emit in
            let race = Race()
            try await withCancellation {
                for flow in flows {
                    let hasStarted = race.start(isolation: #isolation) { number in
                        try await flow.collect { chunk in
                            guard race.claim(number) else { throw CancellationError() }
                            try await emit(chunk)
                        }
                    }
                    if !hasStarted { break }
                }
                try await race.finish()
            } onCancel: {
                race.cancel()
            }
        }
    }

    /// This flow or another. See `amb(_:)`.
    public func amb(_ other: Flow) -> Flow { .amb([self, other]) }
}
