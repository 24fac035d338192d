// feedbus: a state database that cannot be used: named, and kept aside when the user says so.

import FeedbusBase
import Glibc

/// What is done about a damaged database.
package enum DamagedState {
    /// `var/feedbus.sqlite.corrupt-20261130T101500Z`
    static func name(_ path: String, _ time: String) -> String { "\(path).corrupt-\(time)" }

    static func error(_ path: String, _ reason: String) -> FeedbusError {
        FeedbusError(
            "state.corrupt",
            "the state database \(path) is damaged (\(reason)). Start with --reset-state to keep it aside as"
                + " \(name(path, "TIME")) and begin afresh: what was delivered before may then be delivered again")
    }

    /// Renames the database, with what belongs to it.
    /// - Returns: its new name.
    static func setAside(_ path: String, at now: WallTime) throws -> String {
        let (year, month, day, hour, minute, second) = now.components
        let time =
            padded(year, 4) + padded(month, 2) + padded(day, 2) + "T" + padded(hour, 2) + padded(minute, 2)
            + padded(second, 2) + "Z"
        var target = name(path, time)
        var number = 1
        while access(target, F_OK) == 0 {
            number += 1
            target = name(path, "\(time)-\(number)")
        }
        guard rename(path, target) == 0 else {
            throw FeedbusError(
                "state.open", "the damaged state database \(path) cannot be renamed to \(target): \(systemError(errno))"
            )
        }
        // A log of changes left behind would be taken for that of the new database.
        for suffix in ["-wal", "-shm", "-journal"] { rename(path + suffix, target + suffix) }
        return target
    }
}
