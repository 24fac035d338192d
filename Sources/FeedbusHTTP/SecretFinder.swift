// feedbus: finds a secret however it is written.

import FeedbusBase

/// Finds secrets in text, each as it is, percent-encoded (in either case of the digits, `+` for a blank, also encoded twice),
/// and escaped as in JSON (also twice): a service quotes what it was sent as its own language writes it.
struct SecretFinder {
    /// A secret's scalars, each with its bytes.
    private let secrets: [[Unicode.Scalar]]

    /// - Parameter secrets: as they are, without any encoding. Those of fewer than four bytes would be found everywhere.
    init(_ secrets: [String]) {
        self.secrets = Set(secrets).filter { $0.utf8.count >= 4 }.map { Array($0.unicodeScalars) }
    }

    var isEmpty: Bool { secrets.isEmpty }

    /// The text with `mark` in the place of each secret; nil where none was found.
    /// - Parameter most: bytes of the result that are wanted, at least: what is behind them need not be looked through.
    func hiding(_ text: UnsafeRawBufferPointer, as mark: StaticString, most: Int = .max) -> Bytes? {
        guard !secrets.isEmpty else { return nil }
        var starts = [Bool](repeating: false, count: 256)
        for byte in "%\\+".utf8 { starts[Int(byte)] = true }
        for secret in secrets { starts[Int(UTF8.encode(secret[0])!.first!)] = true }
        var writer: ByteWriter?
        var kept = 0
        var at = 0
        while at < text.count, (writer?.count ?? 0) + at - kept < most {
            guard starts[Int(text[at])], let end = secrets.lazy.compactMap({ self.end(of: $0, in: text, at) }).max()
            else {
                at += 1
                continue
            }
            if writer == nil { writer = ByteWriter(capacity: text.count) }
            writer?.append(UnsafeRawBufferPointer(rebasing: text[kept..<at]))
            writer?.append(mark)
            kept = end
            at = end
        }
        writer?.append(UnsafeRawBufferPointer(rebasing: text[kept..<(most == .max ? text.count : at)]))
        return writer?.finish()
    }

    /// Where a secret that begins at `start` ends; nil where none does.
    ///
    /// Step by step with all places that it may have come to, as forms overlap: `%25` is a percent sign, or the first half
    /// of one that was encoded twice.
    private func end(of secret: [Unicode.Scalar], in text: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        var places = [start]
        for scalar in secret {
            var next: [Int] = []
            for place in places { Self.step(over: scalar, in: text, place, &next) }
            if next.isEmpty { return nil }
            places = next
        }
        return places.max()
    }

    /// Adds to `ends` where one scalar may end that is written at `start` in any form.
    private static func step(
        over scalar: Unicode.Scalar, in text: UnsafeRawBufferPointer, _ start: Int, _ ends: inout [Int]
    ) {
        var places = [start]
        for byte in UTF8.encode(scalar)! {
            var next: [Int] = []
            for place in places where place < text.count {
                if text[place] == byte || (byte == 0x20 && text[place] == UInt8(ascii: "+")) { add(place + 1, &next) }
                stepOverPercent(byte, in: text, place, &next)
            }
            places = next
        }
        for place in places { add(place, &ends) }
        stepOverEscape(scalar, in: text, start, &ends)
    }

    private static func add(_ place: Int, _ places: inout [Int]) {
        if !places.contains(place) { places.append(place) }
    }

    /// `%41`, `%2541` or `%252541`.
    private static func stepOverPercent(
        _ byte: UInt8, in text: UnsafeRawBufferPointer, _ start: Int, _ ends: inout [Int]
    ) {
        guard text[start] == UInt8(ascii: "%") else { return }
        for at in [start + 1, start + 3, start + 5] where at + 1 < text.count {
            guard let high = Percent.digit(text[at]), let low = Percent.digit(text[at + 1]) else { return }
            let found = high << 4 | low
            if found == byte { add(at + 2, &ends) }
            if found != UInt8(ascii: "%") { return }
        }
    }

    /// `\/`, `\n`, `\u0041` or a pair of such; several backslashes in front, where JSON stands in JSON.
    private static func stepOverEscape(
        _ scalar: Unicode.Scalar, in text: UnsafeRawBufferPointer, _ start: Int, _ ends: inout [Int]
    ) {
        var at = start
        for unit in UTF16.encode(scalar)! {
            let first = at
            while at < text.count, at - first < 8, text[at] == UInt8(ascii: "\\") {
                at += 1
                if unit == 0x5C { add(at, &ends) }
            }
            guard at > first, at < text.count else { return }
            if text[at] == UInt8(ascii: "u"), at + 4 < text.count {
                var found: UInt16 = 0
                for place in at + 1...at + 4 {
                    guard let digit = Percent.digit(text[place]) else { return }
                    found = found << 4 | UInt16(digit)
                }
                guard found == unit else { return }
                at += 5
            } else {
                guard unit < 0x80, text[at] == short(UInt8(unit)) else { return }
                at += 1
            }
        }
        add(at, &ends)
    }

    /// What stands behind the backslash.
    private static func short(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        case 0x22, 0x27, 0x2F: byte
        default: nil
        }
    }
}
