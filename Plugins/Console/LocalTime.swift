// feedbus: points in time as a clock on the wall shows them.

import FeedbusPlugin
import Glibc

/// Local times as text. The C library knows the time zone (`TZ`); its answer for the last second asked is kept.
struct LocalTime {
    private var lastSecond: Int64?
    private var lastDate = ""
    private var lastTime = ""

    /// `14:03:22` for a time of today, `2026-03-01 14:03:22` for any other.
    mutating func text(_ time: WallTime, now: WallTime) -> String {
        let today = parts(now).date
        let (date, timeOfDay) = parts(time)
        return date == today ? timeOfDay : "\(date) \(timeOfDay)"
    }

    private mutating func parts(_ time: WallTime) -> (date: String, time: String) {
        if time.seconds != lastSecond {
            var seconds = time_t(time.seconds)
            var local = tm()
            localtime_r(&seconds, &local)
            lastDate = "\(Int(local.tm_year) + 1900)-\(two(local.tm_mon + 1))-\(two(local.tm_mday))"
            lastTime = "\(two(local.tm_hour)):\(two(local.tm_min)):\(two(local.tm_sec))"
            lastSecond = time.seconds
        }
        return (lastDate, lastTime)
    }

    /// In eleven columns, so that lines of a terminal stand below each other: `   14:03:22` for a time of today,
    /// `03-01 14:03` for one of this year, ` 2025-03-01` for any other.
    mutating func column(_ time: WallTime, now: WallTime) -> String {
        let today = parts(now).date
        let (date, timeOfDay) = parts(time)
        if date == today { return "   \(timeOfDay)" }
        return date.prefix(4) == today.prefix(4) ? "\(date.dropFirst(5)) \(timeOfDay.prefix(5))" : " \(date)"
    }

    private func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
