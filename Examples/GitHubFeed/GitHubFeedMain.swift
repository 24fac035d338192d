// feedbus: example program: the command line of GitHubFeed.

import Feedbus

@main
enum GitHubFeedMain {
    static func main() {
        App.main("GitHubFeed", usage: "[OWNER/NAME] [FILE]") { app in
            let arguments = app.arguments
            try await GitHubFeed(
                app, repository: arguments.first ?? "ReactiveX/RxSwift", search: "language:swift",
                file: arguments.dropFirst().first ?? "github-feed.json"
            ).run()
        }
    }
}
