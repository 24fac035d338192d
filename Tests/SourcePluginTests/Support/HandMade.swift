// feedbus: hand-made answers in the services' shapes.

import FeedbusPlugin

let github = "https://api.github.com"
let eonetBase = "https://eonet.gsfc.nasa.gov/api/v3"

/// Event number n; a larger n is newer.
func gitHubEvent(
    _ number: Int, type: String = "PushEvent", repo: String = "octo/cat", at time: String? = nil
) -> String {
    let minute = number / 60 % 60
    let second = number % 60
    func two(_ n: Int) -> String { n < 10 ? "0\(n)" : "\(n)" }
    return """
        { "id": "\(number)", "type": "\(type)",
          "actor": {"id": 1, "login": "octocat", "display_login": "octocat"},
          "repo": {"id": 9, "name": "\(repo)"}, "payload": {"n": \(number), "text": "a \\"b\\" \\u00e9"},
          "public": true, "created_at": "\(time ?? "2026-03-01T10:\(two(minute)):\(two(second))Z")" }
        """
}

/// A page of events, as numbered, newest first.
func page(_ numbers: some Sequence<Int>, repo: String = "octo/cat") -> String {
    "[" + numbers.map { gitHubEvent($0, repo: repo) }.joined(separator: ",\n ") + "]"
}

/// The header that leads to another page.
func link(_ url: String, _ relation: String = "next") -> HTTPHeaders { ["Link": "<\(url)>; rel=\"\(relation)\""] }

func repository(_ id: Int, _ name: String, stars: Int = 100) -> String {
    """
    {"id": \(id), "name": "x", "full_name": "\(name)", "owner": {"login": "o"}, "stargazers_count": \(stars), "score": 1.0}
    """
}

func found(_ repositories: String..., partial: Bool = false) -> String {
    """
    {"total_count": \(repositories.count), "incomplete_results": \(partial),
     "items": [\(repositories.joined(separator: ", "))]}
    """
}

func naturalEvent(
    _ number: Int, _ category: String = "wildfires", title: String = "Wildfires", dates: String...,
    closed: String? = nil
) -> String {
    let points = dates.map {
        "{\"magnitudeValue\": 35.00, \"date\": \"\($0)\", \"type\": \"Point\", \"coordinates\": [ -1.50, 2 ]}"
    }
    return """
        {"id": "EONET_\(number)", "title": "Fire \(number) ", "description": null, "closed": \(closed.map { "\"\($0)\"" } ?? "null"),
         "categories": [ {"id": "\(category)", "title": "\(title)"} ], "sources": [],
         "geometry": [ \(points.joined(separator: ", ")) ]}
        """
}

func naturalEvents(_ events: String...) -> String {
    "{\"title\": \"EONET Events\", \"events\": [\n\(events.joined(separator: ",\n"))\n]}"
}

func naturalCategories(_ pairs: KeyValuePairs<String, String>) -> String {
    let items = pairs.map { "{\"id\": \"\($0.key)\", \"title\": \"\($0.value)\", \"layers\": \"l\"}" }
    return "{\"title\": \"c\", \"categories\": [\(items.joined(separator: ", "))]}"
}
