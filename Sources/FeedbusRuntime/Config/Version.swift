// feedbus: the one place that holds the version.

/// The version of this program and library, by Semantic Versioning 2.0.0.
public let feedbusVersion = "0.1.0"
