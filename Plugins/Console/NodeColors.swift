// feedbus: a colour for each source node.

/// Gives nodes colours in the order in which they appear, so that no two share one while there are enough.
struct NodeColors {
    /// SGR parameters: colours that can be read on a light ground as well as on a dark one.
    private static let palette = [36, 33, 35, 32, 34, 31, 96, 93, 95, 92, 94, 91]
    private var given: [String: Int] = [:]

    mutating func color(of node: String) -> Int {
        if let color = given[node] { return color }
        let color = NodeColors.palette[given.count % NodeColors.palette.count]
        given[node] = color
        return color
    }
}
