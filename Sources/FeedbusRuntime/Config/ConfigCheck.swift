// feedbus: checks a parsed config from top to bottom.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// One pass over a config: sections, nodes, graph. Every problem is found, none twice.
struct ConfigCheck {
    private var reader: NodeReader
    /// False where the text is so broken that parts may be missing from the value: what is not there is then no error.
    private let isComplete: Bool
    private var found: [ConfigProblem] = []
    private var settings = Settings()
    private var nodes: [ConfigNode] = []
    /// The nodes' numbers, each after all that it reads.
    private var order: [Int] = []

    init(reader: NodeReader, isComplete: Bool) {
        self.reader = reader
        self.isComplete = isComplete
    }

    var problems: [ConfigProblem] { found + reader.problems }

    /// The plan of a config without errors.
    var plan: Plan {
        var planned: [PlannedNode] = []
        // It stays for the whole run: not with the room that growing leaves.
        planned.reserveCapacity(order.count)
        for index in order {
            if let node = nodes[index].planned { planned.append(node) }
        }
        return Plan(settings: settings, nodes: planned)
    }

    mutating func run(_ root: PositionedValue) {
        guard let members = root.members else {
            found.append(
                root.problem("a config is an object with sections, found \(root.kindName)", code: "wrong-type"))
            return
        }
        var present: Set<NodeSection> = []
        for member in members {
            switch member.key {
            case "$schema":
                if member.value.string == nil {
                    found.append(
                        member.value.problem(
                            "\"$schema\" must be a path or URL, found \(member.value.kindName)", code: "wrong-type"))
                }
            case "feedbus", "http": readSettings(member)
            default:
                guard let section = NodeSection(rawValue: member.key) ?? misspelt(member) else { continue }
                present.insert(section)
                readNodes(member, section)
            }
        }
        settings.directory = reader.directory
        settings.state = FileAccess.absolute(settings.state, in: reader.directory)
        for (section, what) in [(NodeSection.sources, "nothing would happen"), (.sinks, "nothing would come out")]
        where isComplete && !nodes.contains(where: { $0.section == section }) {
            guard root[section.rawValue]?.members != nil || !present.contains(section) else { continue }
            let place = root[section.rawValue] ?? root
            found.append(
                ConfigProblem(
                    "no \(section.rawValue): \(what)", at: place.position, code: "no-\(section.rawValue)",
                    path: section.rawValue))
        }
        // With nobody to read at all, "nobody reads" for every source is no news.
        let graph = GraphCheck(nodes, isReliable: isComplete && nodes.contains { $0.section == .sinks })
        found += graph.problems
        order = graph.order
    }

    /// Reports an unknown section. Where it is clear which one was meant, its nodes are still checked.
    private mutating func misspelt(_ member: PositionedValue.Member) -> NodeSection? {
        let candidates = ConfigSections.names + ConfigSections.synonyms.keys.sorted()
        let nearest = nearestName(to: member.key, in: candidates).map { ConfigSections.synonyms[$0] ?? $0 }
        found.append(
            ConfigProblem(
                "unknown section \"\(member.key)\"", at: member.keyPosition, code: "unknown-section",
                path: member.value.path, suggestion: nearest))
        return nearest.flatMap(NodeSection.init(rawValue:))
    }

    private mutating func readNodes(_ member: PositionedValue.Member, _ section: NodeSection) {
        guard let members = member.value.members else {
            found.append(
                member.value.problem(
                    "\"\(member.key)\" must be an object of named nodes, found \(member.value.kindName)",
                    code: "wrong-type"))
            return
        }
        nodes.reserveCapacity(nodes.count + members.count)
        for member in members { nodes.append(reader.read(member, in: section)) }
    }

    private mutating func readSettings(_ member: PositionedValue.Member) {
        let context = reader.context(owner: "the section")
        if member.key == "feedbus" {
            let (section, problems) = FeedbusSection.decode(member.value, owner: member.value, context: context)
            found += problems
            settings.state = section.state
            settings.shutdownGrace = section.shutdownGrace
            settings.loops = section.loops
            settings.logLevel = section.log.level.level
            settings.logFormat = section.log.format
            settings.supervision = section.supervision.policy
            settings.deadLetters = section.deadLetters.cap
        } else {
            let (section, problems) = HTTPSection.decode(member.value, owner: member.value, context: context)
            found += problems
            settings.userAgent = section.userAgent
            guard let recording = section.offline, let place = member.value["offline"] else { return }
            let path = FileAccess.absolute(recording, in: reader.directory)
            settings.offlineRecording = path
            if !reader.files.exists(path) {
                found.append(place.problem("there is no recording at \(path)", code: "unreadable-file"))
            }
        }
    }
}
