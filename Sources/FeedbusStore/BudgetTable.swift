// feedbus: the table of what services have said last about their rate limits.

import FeedbusBase

/// One row a budget. It holds no secret: a credential has a name of its own there.
enum BudgetTable {
    static func save(_ budgets: [ServiceBudget], _ connection: SQLiteConnection) throws {
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

    static func read(_ connection: SQLiteConnection) throws -> [ServiceBudget] {
        var budgets: [ServiceBudget] = []
        try connection.each(
            "SELECT service, credential, resource, quota, remaining, resets, seen FROM budgets"
                + " ORDER BY service, credential, resource"
        ) { row in
            budgets.append(
                ServiceBudget(
                    service: row.text(0), credential: row.text(1), resource: row.text(2),
                    limit: row.isNull(3) ? nil : Int(row.integer(3)), remaining: Int(row.integer(4)),
                    resetsAt: row.isNull(5) ? nil : WallTime(milliseconds: row.integer(5)),
                    seenAt: WallTime(milliseconds: row.integer(6))))
            return true
        }
        return budgets
    }
}
