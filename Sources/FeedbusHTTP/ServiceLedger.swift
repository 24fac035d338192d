// feedbus: what all nodes know together about the services that they use.

/// Budgets and back-off of every service, shared by all nodes of a program.
package final class ServiceLedger: Sendable {
    package init() {}
}
