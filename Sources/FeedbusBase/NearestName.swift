// feedbus: "did you mean".

/// The candidate that is closest to a misspelt name (optimal string alignment distance, case aside), if close enough.
public func nearestName(to name: String, in candidates: some Sequence<String>) -> String? {
    // No slip of the pen is that long, and the comparison takes the product of the lengths.
    guard name.utf8.count <= 200 else { return nil }
    let wanted = Array(name.lowercased())
    var best: (name: String, distance: Int)?
    for candidate in candidates {
        let distance = editDistance(wanted, Array(candidate.lowercased()))
        if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    guard let best,
        best.distance <= max(1, max(wanted.count, best.name.count) * 2 / 5)
            || best.name.lowercased().hasPrefix(name.lowercased())
    else {
        return nil
    }
    return best.name
}

private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var previous2 = [Int]()
    var previous = Array(0...b.count)
    for i in 1...a.count {
        var row = [i]
        for j in 1...b.count {
            var cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, previous2[j - 2] + 1) }
            row.append(cost)
        }
        (previous2, previous) = (previous, row)
    }
    return previous[b.count]
}
