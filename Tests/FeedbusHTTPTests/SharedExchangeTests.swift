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
            let message = response.status >= 400 ? ServerMessage.find(in: response, to: HTTPRequest("http://h/")) : ""
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
        #expect(ServerMessage.find(in: try Exchanges.responses(name)[0], to: HTTPRequest("http://h/")) == words)
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

    @Test func theETagThatChangedReplacesTheOneThatWasSent() throws {
        let answer = try Exchanges.responses("pygithub__ConditionalRequestUpdate.testDidUpdate")[0]
        let sent = "\"8600bedcb7fed1d8065e1693e05529ce\""
        #expect(try judged("pygithub__ConditionalRequestUpdate.testDidUpdate", conditional: true)[0] == (.success, nil))
        let kept = Validators(of: answer.headers, now: WallTime(seconds: Exchanges.epoch))
        #expect(kept.etag == "\"ef281ef0e821c18f80da36902727160b\"" && kept.etag != sent)
        #expect(kept.lastModified == "Thu, 22 Aug 2013 02:14:54 GMT" && kept.notModifiedInARow == 0)
    }

    @Test func aWeakETagGoesBackAsItCame() throws {
        let answer = try Exchanges.responses("github3.py__GitHubIterator_catch_etags")[0]
        var headers = HTTPHeaders()
        Validators(of: answer.headers, now: WallTime(seconds: Exchanges.epoch)).apply(to: &headers)
        #expect(headers["If-None-Match"] == "W/\"fa2f89305cf250368e920c5f30d54b5c\"")
    }

    /// The recorded answer, as the last one that the quota allows: the wait counts from the answer's own `Date`, however
    /// wrong the clock is here.
    @Test(arguments: [
        ("github3.py__GitHubIterator_catch_etags", 0, 822), ("github3.py__GitHub_rate_limit", 0, 3_600),
        ("octokit.rb__rate_limit", 0, 3_600), ("octokit-fixtures__paginate-issues", 4, 3_443),
        ("pygithub__PaginatedList.testTotalCountWithNoLastPage", 0, 3_026),
        ("pygithub__PaginatedList.setUp", 2, 1_602), ("pygithub__ConditionalRequestUpdate.testDidUpdate", 0, 2_729),
        ("pygithub__RateLimiting.testRateLimiting", 1, 3_480), ("pygithub__RateLimiting.testGetRateLimit", 0, 3_481),
    ])
    func theResetCountsFromTheAnswersDate(_ name: String, _ index: Int, _ seconds: Int64) throws {
        var headers = try Exchanges.responses(name)[index].headers
        #expect((headers["X-RateLimit-Remaining"].flatMap { Int($0) } ?? 0) > 0)
        headers["X-RateLimit-Remaining"] = "0"
        for now in [Int64(0), 4_000_000_000] {
            let wait = WaitCalculator.wait(status: 200, headers: headers, message: "", now: WallTime(seconds: now))
            #expect(wait?.reason == .quotaSpent && wait?.duration == .seconds(seconds))
        }
    }

    /// Of 2012: a spent quota without a time of its end.
    @Test func aSpentQuotaWithoutResetIsNoWaitBesideASuccess() throws {
        var headers = try Exchanges.responses("pygithub__PaginatedList.testIteration")[0].headers
        #expect(headers["X-RateLimit-Reset"] == nil)
        headers["X-RateLimit-Remaining"] = "0"
        #expect(WaitCalculator.wait(status: 200, headers: headers, message: "", now: WallTime(seconds: 0)) == nil)
    }

    /// The recorded body has other figures than the headers; the headers are of the request that was made.
    @Test func bodiesOfRateLimitDoNotDecide() throws {
        let answer = try Exchanges.responses("pygithub__RateLimiting.testGetRateLimit")[0]
        let core = try #require(JSON.parse(answer.body)["resources"]?["core"])
        #expect(answer.headers["X-RateLimit-Remaining"] == "4904" && core["remaining"]?.int == 4_988)
        #expect(answer.headers["X-RateLimit-Reset"] == "1684195041" && core["reset"]?.int == 1_734_072_198)
        let old = try Exchanges.responses("octokit.rb__rate_limit")[0]
        #expect(try JSON.parse(old.body)["resources"] == nil)
        // The recorder's templates stand where numbers were: no JSON, and no matter.
        let name = "hub4j__GHRateLimitTest_testGitHubRateLimit"
        let answers = try Exchanges.responses(name)
        #expect(answers[1...3].allSatisfy { (try? JSON.parse($0.body)) == nil })
        #expect(try judged(name).allSatisfy { $0 == (.success, nil) })
        // Searches have a quota of their own, and in 2020 no header that says so.
        #expect(
            answers.map { $0.headers["X-RateLimit-Limit"] } == ["5000", "5000", "5000", "5000", "30", "30", "5000"])
        #expect(answers.allSatisfy { $0.headers["X-RateLimit-Resource"] == nil })
    }

    @Test func aBodyMaySayItsStatusAsText() throws {
        let path = Exchanges.folder.replacing("/exchanges", with: "/bodies") + "/antenna__404-2026-10.json"
        let body = Bytes([UInt8](try #require(FileManager.default.contents(atPath: path))))
        #expect(try JSON.parse(body)["status"]?.string == "404")
        let answer = HTTPResponse(status: 404, body: body, url: "https://api.github.com/repos/a/b/stargazers")
        #expect(ServerMessage.find(in: answer, to: HTTPRequest("http://h/")) == "Not Found")
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
