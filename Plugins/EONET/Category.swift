// feedbus: a category of EONET's.

/// One category, as far as feedbus looks into it.
struct Category: Sendable, Equatable {
    /// Text in v3 (`wildfires`), the digits of a number in v2.1 (`8`).
    let id: String
    let title: String
    /// Changes with what the category says.
    let revision: String
}
