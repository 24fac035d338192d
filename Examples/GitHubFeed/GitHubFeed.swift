// feedbus: example program: the activity of a GitHub repository, and of the repositories with the most stars.

import Feedbus

/// Shows the saved events of one repository at once, then its new ones as they come, merged with the combined activity of
/// the repositories that a search ranks highest.
package struct GitHubFeed: Sendable {
    let app: App
    let repository: String
    /// What the top repositories are searched by.
    let search: String
    /// Keeps the newest events between two runs.
    let file: String

    private let api = "https://api.github.com"

    package init(_ app: App, repository: String, search: String, file: String) {
        self.app = app
        self.repository = repository
        self.search = search
        self.file = file
    }

    package func run() async throws {
        let history = try await History.load(file, on: app.host)
        for event in history.events { try await app.print("\(event) (saved)") }
        try await Flow.merge([activity(since: history), topActivity()])
            .distinct(remember: 10_000, by: \.id)
            .collect { events in
                for event in events { try await app.print("\(event)") }
            }
    }

    /// The repository's new events. They are kept before they are passed on, with the validators of the answer that brought
    /// them: the next run asks for what is newer only.
    func activity(since saved: History) -> Flow<RepositoryEvent> {
        app.poll(events(of: repository, count: 30), every: .seconds(60), since: saved.validators) {
            try RepositoryEvent.list(in: $0)
        }
        .scan(saved) { history, answer in
            history.adding(answer.value ?? [], validators: answer.validators)
        }
        .do(onNext: { histories in
            if let newest = histories.last { try await newest.save(file, on: app.host) }
        })
        .concatMap { .from($0.news) }
    }

    /// The five repositories of the moment, all at once. A new ranking ends the polls of the one before.
    func topActivity() -> Flow<RepositoryEvent> {
        app.poll(
            github("/search/repositories?q=\(search)&sort=stars&order=desc&per_page=5"), every: .seconds(1800),
            resource: "search"
        ) { answer in
            try JSON.parse(answer.body)["items"]?.elements.compactMap { $0["full_name"]?.string } ?? []
        }
        .map { $0.value ?? [] }
        .distinctUntilChanged()
        .flatMapLatest { names in
            .merge(
                names.map { name in
                    app.poll(events(of: name, count: 5), every: .seconds(300)) { try RepositoryEvent.list(in: $0) }
                        .concatMap { .from($0.value ?? []) }
                })
        }
    }

    private func events(of repository: String, count: Int) -> HTTPRequest {
        github("/repos/\(repository)/events?per_page=\(count)")
    }

    private func github(_ path: String) -> HTTPRequest {
        HTTPRequest(api + path, headers: ["Accept": "application/vnd.github+json"])
    }
}
