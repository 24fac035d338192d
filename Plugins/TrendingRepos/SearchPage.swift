// feedbus: the answer of GitHub's repository search.

import FeedbusPlugin
import Polling

/// What a search found, best first.
struct SearchPage: Sendable {
    /// One repository found.
    struct Repository: Sendable {
        /// GitHub's number; it stays when the repository is renamed.
        let id: String
        /// `owner/name`
        let name: String
        let value: JSONValue
        let attributes: [Event.Attribute]
    }

    let repositories: [Repository]
    /// The search ran out of time: what is there is right, but not all.
    let isPartial: Bool
    let isRecorded: Bool
    /// Items without an id or a name, and repeated ones.
    let unusable: Int

    /// - Throws: where the answer has not the documented shape.
    init(_ response: HTTPResponse) throws {
        let body = try JSONBody(response)
        guard let items = body.root["items"], items.kind == .array else {
            throw FeedbusError.shape("the answer has no list \"items\"")
        }
        var seen: Set<String> = []
        repositories = items.elements.compactMap { item in
            guard let id = item["id"]?.identifier, let name = item["full_name"]?.string, SearchPage.isPath(name),
                seen.insert(id).inserted
            else { return nil }
            return Repository(id: id, name: name, value: item, attributes: body.attributes(of: item.raw))
        }
        unusable = items.count - repositories.count
        isPartial = body.root["incomplete_results"]?.bool ?? false
        // A partial answer makes nothing forgotten.
        if !isPartial {
            try FeedbusError.requireUsable(repositories.count, unusable: unusable, what: "a repository")
        }
        isRecorded = body.isRecorded
    }

    /// The name becomes part of an address: `owner/name`, and nothing else.
    private static func isPath(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty && part != "." && part != ".."
                    && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#%\\\"<>".utf8.contains($0) }
            }
    }
}
