// feedbus: the example programs as a reader starts them, from the recording of the sample.

import Glibc
import Testing

struct BinaryTests {
    /// Runs a program that was built beside these tests.
    private func run(_ command: String) -> (code: Int32, lines: [String]) {
        var folder = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
        folder.removeLast()
        let words = "cd '\(packageFolder)' && PATH='\(folder.joined(separator: "/"))':$PATH; \(command) 2>&1"
        guard let pipe = popen(words, "r") else { return (-1, []) }
        var text: [UInt8] = []
        var byte = fgetc(pipe)
        while byte != EOF {
            text.append(UInt8(byte))
            byte = fgetc(pipe)
        }
        let status = pclose(pipe)
        return (status >> 8 & 0xff, String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    private let offline = "--offline Recordings/demo.har"

    @Test func gitHubFeed() {
        let folder = TemporaryFolder()
        let command = "GitHubFeed \(offline) ReactiveX/RxSwift '\(folder.path)/feed.json'"
        let first = run(command)
        #expect(first.code == 0)
        // 30 of the repository, 5 of each of the 5 top ones.
        #expect(first.lines.count == 55)
        #expect(first.lines.filter { $0.contains(" ReactiveX/RxSwift: ") }.count == 30)
        let second = run(command)
        #expect(second.code == 0)
        #expect(second.lines.prefix(30).allSatisfy { $0.hasSuffix(" (saved)") })
        #expect(second.lines.count == 55)
    }

    @Test func jokesWithTranslation() {
        // In the reader's own language: no translator is needed.
        let result = run("JokesWithTranslation \(offline) en")
        #expect(result.code == 0)
        #expect(
            result.lines == ["[en] Chuck Norris does not wait for the kettle. The water boils out of respect."])
        let untranslated = run("JokesWithTranslation \(offline) xx")
        #expect(untranslated.code == 0)
        #expect(untranslated.lines.count == 2)
        #expect(untranslated.lines.first?.hasPrefix("JokesWithTranslation: warning: not translated: ") == true)
    }

    @Test func naturalEvents() {
        let result = run("NaturalEvents \(offline)")
        #expect(result.code == 0)
        #expect(result.lines.first == "2026-11-27 Wildfires: Wildfire at Cinder Creek, Oregon")
        #expect(result.lines.contains { $0.hasSuffix(" (closed)") })
        #expect(result.lines.contains("Wildfires: \(result.lines.filter { $0.contains(" Wildfires: ") }.count)"))
    }

    @Test func mistakesAreNamed() {
        #expect(
            run("NaturalEvents some") == (2, ["NaturalEvents: some is no number of days"]))
        #expect(run("NaturalEvents --offline nowhere.har").code == 1)
        #expect(run("NaturalEvents --fast").code == 2)
        #expect(
            run("NaturalEvents --help") == (
                0, ["usage: NaturalEvents [DAYS] [options]", "options: --offline FILE.har, --once, --verbose, --help"]
            ))
    }

    /// A reader that has enough ends the program.
    @Test func aPipeThatCloses() {
        #expect(run("NaturalEvents \(offline) | head -1").lines.count == 1)
    }
}
