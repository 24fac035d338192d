// feedbus: what the command line says about one run, beside the config.

/// How to run a plan.
package struct RunOptions: Sendable, Equatable {
    /// Poll once, let finite sources end, drain, exit.
    package var once = false
    /// End by itself after this time; nil: run until told to stop.
    package var forDuration: Duration?
    /// Answers come from the recording only.
    package var offline = false
    /// Write every HTTP exchange to this file (HAR 1.2); as the user gave it, so relative to the working directory.
    package var record: String?
    /// A damaged state database is kept aside under another name, instead of being an error.
    package var resetState = false
    /// Send again what the store has, in place of running the config's sources.
    package var replay: ReplayRequest?

    package init() {}
}
