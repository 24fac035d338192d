// feedbus: reads the nodes of a config one by one.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// Decodes nodes and has their plugins check them. Nothing here looks at two nodes at once.
struct NodeReader {
    let registry: PluginRegistry
    let environment: [String: String]
    let directory: String
    let files: FileAccess
    private(set) var problems: [ConfigProblem] = []

    init(registry: PluginRegistry, environment: [String: String], directory: String, files: FileAccess) {
        self.registry = registry
        self.environment = environment
        self.directory = directory
        self.files = files
    }

    /// What options may need from outside, in the name of `owner`.
    func context(owner: String) -> OptionContext {
        OptionContext(owner: owner, environment: environment) { [files, directory] path in
            try? files.read(FileAccess.absolute(path, in: directory), 1 << 20).string
        }
    }

    /// Reads a node; what is wrong with it is added to `problems`.
    mutating func read(_ member: PositionedValue.Member, in section: NodeSection) -> ConfigNode {
        var node = ConfigNode(
            section: section, name: member.key, keyPosition: member.keyPosition, value: member.value)
        if !NodeSection.isName(member.key) {
            problems.append(
                ConfigProblem(
                    "\"\(member.key)\" is no name for \(section.label): a name begins with a letter a-z and goes on with"
                        + " a-z, 0-9, _ and -", at: member.keyPosition, code: "bad-name", path: member.value.path))
        }
        switch section {
        case .sources: readPluginNode(&node, NodeFields<SourceNode>.self)
        case .stages: readPluginNode(&node, NodeFields<StageNode>.self)
        case .sinks: readPluginNode(&node, NodeFields<SinkNode>.self)
        case .subjects: readSubject(&node)
        }
        return node
    }

    private mutating func readSubject(_ node: inout ConfigNode) {
        guard let fields = decode(SubjectFields.self, &node) else { return }
        take(fields.from, &node)
        problems += fields.contradictions(in: node.value)
        node.planned = PlannedNode(
            name: node.name, plugin: nil, role: .subject(replay: fields.replay, scope: fields.scope),
            from: fields.from.compactMap(\.string), retention: fields.retention)
    }

    private mutating func readPluginNode<Kind>(_ node: inout ConfigNode, _ type: NodeFields<Kind>.Type) {
        guard let fields = decode(type, &node) else { return }
        if node.section != .sources { take(fields.from, &node) }
        if fields.retry.base > fields.retry.cap {
            let place = node.value["retry"] ?? node.value
            problems.append(
                place.problem(
                    "\"base\" (\(fields.retry.base.text)) is longer than \"cap\" (\(fields.retry.cap.text)) at \(place.path)",
                    code: "out-of-range"))
        }
        guard let kind = node.section.pluginKind, let named = node.value["plugin"], named.string != nil,
            let plugin = lookUp(named, kind)
        else { return }
        node.isRouting = plugin.form == .routing
        node.readsInTurn = plugin.readsInTurn
        check(fields.from, of: node, plugin)
        if fields.workers > 1, let place = node.value["workers"], plugin.form != .one(allowsWorkers: true) {
            problems.append(
                place.problem(
                    "\(plugin.name) cannot share its work between several instances: leave \"workers\" of \(node.path) out",
                    code: "no-workers"))
        }
        if fields.timeout != nil, let place = node.value["timeout"], plugin.kind == .stage, !plugin.answersChunks {
            problems.append(
                place.problem(
                    "\(plugin.name) may hold events for as long as it likes, and has no calls that \"timeout\" could bound:"
                        + " leave it out of \(node.path)", code: "no-timeout"))
        }
        let checking = OptionCheck(
            owner: plugin.name, node: node.value, directory: directory, environment: environment,
            isExecutable: files.isExecutable)
        let (prepared, found) = plugin.prepare(checking, context(owner: plugin.name))
        problems += MisplacedOptions(node: node, plugin: plugin).explain(found)
        node.claimedFiles = checking.claimedFiles
        let role: PlannedNode.Role
        switch prepared {
        case .source(let make): role = .source(make)
        case .stage(let make): role = .stage(make)
        case .join(let make): role = .join(make)
        case .routing(let routes, let make):
            role = .routing(routes: routes, make)
            node.routes = routes
        case .sink(let make): role = .sink(make)
        case nil: return
        }
        node.planned = PlannedNode(
            name: node.name, plugin: plugin.name, role: role, from: fields.from.compactMap(\.string),
            buffer: fields.buffer.plan, retry: fields.retry.policy, onError: fields.onError,
            workers: fields.workers, timeout: fields.timeout, resume: fields.resume)
    }

    /// A plugin that joins flows needs at least two.
    private mutating func check(_ from: [PositionedValue], of node: ConfigNode, _ plugin: PluginDescription) {
        guard plugin.form == .join, from.count == 1, let list = node.value["from"] else { return }
        problems.append(
            list.problem(
                "\(plugin.name) joins several nodes: the \"from\" of \(node.path) must name at least 2, and names 1",
                code: "too-few-inputs"))
    }

    /// The fields of a node, with their defaults where they are wrong; nil where the node is no object.
    private mutating func decode<Fields: PluginOptions>(_ type: Fields.Type, _ node: inout ConfigNode) -> Fields? {
        let (fields, found) = Fields.decode(
            node.value, owner: node.value, context: context(owner: node.section.label))
        let plugin = node.section.pluginKind.flatMap { kind in
            node.value["plugin"]?.string.flatMap { registry.plugin($0, kind) }
        }
        problems += MisplacedOptions(node: node, plugin: plugin).explain(found)
        guard let members = node.value.members else {
            node.fromIsKnown = false
            return nil
        }
        guard node.section != .sources, node.value["from"]?.elements == nil else { return fields }
        // What a misspelt "from" names is read all the same, so that its nodes are not called unread.
        let misspelt = found.first { $0.code == "unknown-option" && $0.suggestion == "from" }
        if node.value["from"] == nil, let member = members.first(where: { $0.value.path == misspelt?.path }),
            let elements = member.value.elements
        {
            node.from = elements
        } else {
            node.fromIsKnown = false
        }
        return fields
    }

    private mutating func take(_ from: [PositionedValue], _ node: inout ConfigNode) {
        guard let list = node.value["from"], list.elements != nil else { return }
        node.from = from
        if from.isEmpty {
            problems.append(
                list.problem("\(node.path) reads nobody: its \"from\" is an empty list", code: "reads-nobody"))
        }
    }

    private mutating func lookUp(_ named: PositionedValue, _ kind: PluginKind) -> PluginDescription? {
        guard let name = named.string else { return nil }
        if let plugin = registry.plugin(name, kind) { return plugin }
        let node = named.path.split(separator: ".").dropLast().joined(separator: ".")
        let others = PluginKind.allCases.filter { registry.plugin(name, $0) != nil }
        if let other = others.first {
            problems.append(
                named.problem(
                    "\(name) is a \(other.rawValue), not a \(kind.rawValue): \(node) belongs into \"\(other.section)\"",
                    code: "wrong-kind"))
        } else {
            let ofKind = registry.plugins.filter { $0.kind == kind }.map(\.name)
            problems.append(
                named.problem(
                    "unknown \(kind.rawValue) plugin \"\(name)\" at \(node)", code: "unknown-plugin",
                    suggestion: nearestName(to: name, in: ofKind)))
        }
        return nil
    }
}
