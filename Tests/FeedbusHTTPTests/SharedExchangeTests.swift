// feedbus: tests against the headers of real GitHub answers.

import FeedbusBase
import FeedbusJSON
import FoundationEssentials
import Testing

@testable import FeedbusHTTP

/// Real answers that are not part of the repository: in the folder that `FEEDBUS_SHARED` names, else `../shared`.
private enum Exchanges {
    static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["FEEDBUS_SHARED"], !named.isEmpty {
            return named + "/data/github-http/exchanges"
        }
        return "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            + "/../shared/data/github-http/exchanges"
    }()
    static let isThere = FileManager.default.fileExists(atPath: folder)

    /// When the recordings' placeholders say "now".
    static let epoch: Int64 = 1_772_366_400
    static let date = "Sun, 01 Mar 2026 12:00:00 GMT"

    static func responses(_ name: String) throws -> [HTTPResponse] {
        let lines = try #require(FileManager.default.contents(atPath: "\(folder)/\(name).jsonl")).split(separator: 10)
        return try lines.map { line in
            let exchange = try JSON.parse(Bytes([UInt8](line)))
            let response = try #require(exchange["response"])
            var headers = HTTPHeaders()
            for pair in try #require(response["headers"]).elements {
                let parts = pair.elements.map { $0.string ?? "" }
                headers.append(parts[0], filled(parts[1]))
            }
            return HTTPResponse(
                status: try #require(response["status"]?.int), headers: headers,
                body: Bytes(response["body"]?.string ?? ""), url: exchange["request"]?["url"]?.string ?? "")
        }
    }

    /// `{{now offset='3 seconds' format='unix'}}` and the like.
    private static func filled(_ value: String) -> String {
        guard value.hasPrefix("{{") else { return value }
        guard value.contains("format='unix'") else { return date }
        let words = value.split(separator: "'")
        let parts = (words.dropFirst().first ?? "").split(separator: " ")
        let unit: Int64 = parts.last?.hasPrefix("h") == true ? 3_600 : parts.last?.hasPrefix("m") == true ? 60 : 1
        return String(epoch + (parts.first.flatMap { Int64($0) } ?? 0) * unit)
    }
}

@Suite(.enabled(if: Exchanges.isThere, "SKIPPED: SharedExchangeTests: no recorded GitHub answers (set FEEDBUS_SHARED)"))
struct SharedExchangeTests {
    private func judged(_ name: String, conditional: Bool = false) throws -> [(Verdict, Int64?)] {
        try Exchanges.responses(name).map { response in
            let message = response.status >= 400 ? ServerMessage.find(in: response) : ""
            let wait = WaitCalculator.wait(
                status: response.status, headers: response.headers, message: message,
                now: WallTime(seconds: Exchanges.epoch))
            let verdict = Verdict(
                status: response.status, headers: response.headers, message: message, isConditional: conditional,
                accepted: [], wait: wait)
            return (verdict, wait?.duration.components.seconds)
        }
    }

    @Test(
        arguments: [
            ("hub4j__AbuseLimitHandlerTest_testHandler_Wait", Verdict.limited, 3),
            ("hub4j__AbuseLimitHandlerTest_testHandler_Wait_Secondary_Limits", .limited, 61),
            ("hub4j__AbuseLimitHandlerTest_testHandler_Wait_Secondary_Limits_Too_Many_Requests", .limited, 9),
            (
                "hub4j__AbuseLimitHandlerTest_testHandler_Wait_Secondary_Limits_Too_Many_Requests_No_Retry_After",
                .limited, 61
            ),
            ("hub4j__RateLimitHandlerTest_testHandler_Fail", .limited, 4),
            ("pygithub__SpecificExceptions.testRateLimitExceeded", .limited, 61),
            ("pygithub__Exceptions.testUnknownObject", .refused, nil),
        ] as [(String, Verdict, Int64?)]) func theSecondAnswerIsTheLimit(
            _ name: String, _ verdict: Verdict, _ seconds: Int64?
        ) throws
    {
        let all = try judged(name)
        #expect(all[0] == (.success, nil))
        #expect(all[1] == (verdict, seconds))
    }

    @Test(arguments: [
        ("pygithub__Exceptions.testBadAuthentication", Verdict.refused, "Bad credentials"),
        ("pygithub__Exceptions.testInvalidInput", .refused, "Validation Failed"),
        (
            "pygithub__Exceptions.testNonJsonDataReturnedByGithub", .transient,
            "503 Service Unavailable No server is available to handle this request."
        ),
        ("pygithub__Retry.testReturnsRepoAfter1Retry", .transient, "Server Error"),
    ]) func theFirstAnswerIsAnError(_ name: String, _ verdict: Verdict, _ words: String) throws {
        #expect(try judged(name)[0] == (verdict, nil))
        #expect(ServerMessage.find(in: try Exchanges.responses(name)[0]) == words)
    }

    @Test func a304WithTheStrongFormKeepsTheWeakETag() throws {
        let answers = try Exchanges.responses(
            "hub4j__extras_OkHttpConnectorTest_OkHttpConnector_Cache_MaxAgeDefault_Zero")
        var kept = Validators(of: answers[2].headers, now: WallTime(seconds: Exchanges.epoch))
        for answer in answers[3...5] {
            #expect(answer.status == 304)
            kept = kept.afterNotModified(answer.headers)
        }
        #expect(kept.etag == "W/\"4f508593b64df214fee8f6ab42df633c\"")
        #expect(kept.notModifiedInARow == 3)
    }

    @Test(arguments: ["octokit-fixtures__rename-repository", "pygithub__Repository.testGetRepositoryWith301Redirect"])
    func renamedRepositoriesAreFollowed(_ name: String) throws {
        let moved = try #require(try Exchanges.responses(name).first { $0.status == 301 })
        let request = HTTPRequest(moved.url, bearer: Secret("t"))
        let next = try Redirects.next(
            after: request, at: HTTPURL(moved.url), status: 301, location: try #require(moved.headers["location"]))
        #expect(next.request.url.hasPrefix("https://api.github.com/repositories/"))
        #expect(next.request.bearer != nil)
    }

    @Test func noAnswerIsJudgedWithAWaitThatItDoesNotAskFor() throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: Exchanges.folder) where file.hasSuffix(".jsonl")
        {
            let name = String(file.dropLast(6))
            for (verdict, seconds) in try judged(name, conditional: true)
            where verdict == .success || verdict == .notModified {
                #expect(seconds == nil, "\(name)")
            }
        }
    }
}
