// feedbus: example program: what GitHubFeed keeps between two runs.

import Feedbus
import Glibc

/// The newest events of a repository, oldest first, and the validators of the answer that brought the last of them.
package struct History: Sendable {
    var events: [RepositoryEvent] = []
    var validators: Validators?
    /// What the last answer has added.
    var news: [RepositoryEvent] = []

    static let limit = 50

    /// - Parameter listed: newest first.
    func adding(_ listed: [RepositoryEvent], validators: Validators) -> History {
        let known = Set(events.map(\.id))
        let news = Array(listed.filter { !known.contains($0.id) }.reversed())
        return History(events: (events + news).suffix(Self.limit), validators: validators, news: news)
    }

    /// Nothing where there is no such file yet, or one that says nothing to this program.
    static func load(_ file: String, on host: any LoopHost) async throws -> History {
        guard let text = try await read(file, on: host) else { return History() }
        guard let saved = try? JSON.parse(text) else { return History() }
        return History(
            events: saved["events"]?.elements.compactMap(RepositoryEvent.init) ?? [],
            validators: saved["validators"].flatMap { Validators(json: $0.raw) })
    }

    private static func read(_ file: String, on host: any LoopHost) async throws -> Bytes? {
        do {
            return try await readWholeFile(file, limit: 1 << 20, on: host)
        } catch {
            if error.errno != ENOENT { throw error }
            return nil
        }
    }

    /// In one piece: who reads the file meanwhile sees what was there before, or this.
    func save(_ file: String, on host: any LoopHost) async throws {
        let events = events.map(\.json).joined(separator: ",\n")
        let validators = validators?.json.string ?? "null"
        try await writeWholeFileAtomically(
            file, Bytes("{\"validators\":\(validators),\n\"events\":[\n\(events)\n]}\n"), on: host)
    }
}
