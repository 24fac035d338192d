// feedbus: what a service has said last about a rate limit, as it is stored.

import FeedbusBase

/// How much of a rate limit was left. Holds no secret: a credential has a name of its own here.
package struct StoredBudget: Sendable, Hashable {
    /// Scheme, host and port.
    package var service: String
    /// `none`, `token`, `token 2`.
    package var credential: String
    /// `core`, `search`.
    package var resource: String
    /// Requests that a period allows; nil where the service does not say.
    package var limit: Int?
    /// Requests that are left of it.
    package var remaining: Int
    /// When it is whole again; nil where the service does not say.
    package var resetsAt: WallTime?
    /// When the service said so.
    package var seenAt: WallTime

    package init(
        service: String, credential: String, resource: String, limit: Int?, remaining: Int, resetsAt: WallTime?,
        seenAt: WallTime
    ) {
        self.service = service
        self.credential = credential
        self.resource = resource
        self.limit = limit
        self.remaining = remaining
        self.resetsAt = resetsAt
        self.seenAt = seenAt
    }
}

/// The table of budgets.
enum BudgetTable {
    static func save(_ budgets: [StoredBudget], _ connection: SQLiteConnection) throws {
        for budget in budgets {
            try connection.run("INSERT OR REPLACE INTO budgets VALUES (?, ?, ?, ?, ?, ?, ?)") { row in
                row.bind(1, budget.service)
                row.bind(2, budget.credential)
                row.bind(3, budget.resource)
                if let limit = budget.limit { row.bind(4, Int64(limit)) } else { row.bindNull(4) }
                row.bind(5, Int64(budget.remaining))
                if let time = budget.resetsAt { row.bind(6, time.milliseconds) } else { row.bindNull(6) }
                row.bind(7, budget.seenAt.milliseconds)
            }
        }
    }

    static func read(_ connection: SQLiteConnection) throws -> [StoredBudget] {
        var budgets: [StoredBudget] = []
        try connection.each(
            "SELECT service, credential, resource, quota, remaining, resets, seen FROM budgets"
                + " ORDER BY service, credential, resource"
        ) { row in
            budgets.append(
                StoredBudget(
                    service: row.text(0), credential: row.text(1), resource: row.text(2),
                    limit: row.isNull(3) ? nil : Int(row.integer(3)), remaining: Int(row.integer(4)),
                    resetsAt: row.isNull(5) ? nil : WallTime(milliseconds: row.integer(5)),
                    seenAt: WallTime(milliseconds: row.integer(6))))
            return true
        }
        return budgets
    }
}
