// feedbus: tests of who may go on.

import FeedbusBase
import Testing

@testable import FeedbusHTTP

struct FairLineTests {
    /// What is done to a line, and what it says.
    private func told(_ most: Int, _ steps: String, atPlace: Int = 2) -> String {
        var line = FairLine<Character, String>(mostAtPlace: atPlace, most: most)
        let answers = steps.split(separator: " ").map { step -> String in
            let number = UInt64(step.dropFirst(2))!
            let place = step[step.index(after: step.startIndex)]
            switch step.first! {
            case "+": return line.enter(number, at: place, "\(number)") ? "go" : "wait"
            case "-": return line.leave(place)?.waiting ?? "none"
            default: return line.cancel(number) ?? "none"
            }
        }
        return answers.joined(separator: " ") + (line.isIdle ? " idle" : "")
    }

    @Test func firstComeFirstServedAtEachPlace() {
        let steps = "+a1 +a2 +a3 +a4 +b5 -b5 -a1 xa3 xa4 xa4 -a2 -a3"
        #expect(told(10, steps) == "go go wait wait go none 3 none 4 none none none idle")
    }

    /// A service that hangs takes no more than its places from the others.
    @Test func aBusyPlaceDoesNotStandInFrontOfOthers() {
        let steps = "+a1 +a2 +a3 +a4 +b5 +b6 +c7 -b5 -b6 -c7 -a1"
        #expect(told(3, steps) == "go go wait wait go wait wait 6 7 none 3")
    }

    /// Against a list that is searched from its front: the limits hold, nobody is lost or served twice, and each origin
    /// keeps its order.
    @Test(arguments: 0..<50 as Range<UInt64>) func anyOrderKeepsTheLimits(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let (mostToOrigin, most) = (Int.random(in: 1...4, using: &random), Int.random(in: 1...9, using: &random))
        var line = FairLine<String, UInt64>(mostAtPlace: mostToOrigin, most: most)
        var running: [UInt64: String] = [:]
        var waiting: [(number: UInt64, origin: String)] = []
        var last: UInt64 = 0
        func check() {
            #expect(running.count <= most && line.count == waiting.count)
            for origin in ["a", "b", "c"] {
                let open = running.values.filter { $0 == origin }.count
                #expect(open <= mostToOrigin)
                // Nobody waits without a reason.
                #expect(open == mostToOrigin || running.count == most || !waiting.contains { $0.origin == origin })
            }
        }
        for _ in 0..<400 {
            let origin = ["a", "b", "c"].randomElement(using: &random)!
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                last += 1
                if line.enter(last, at: origin, last) {
                    running[last] = origin
                } else {
                    waiting.append((last, origin))
                }
            case 5..<8:
                guard let one = running.keys.sorted().randomElement(using: &random) else { continue }
                if let next = line.leave(running.removeValue(forKey: one)!) {
                    let index = waiting.firstIndex { $0.number == next.waiting }
                    let place = waiting.remove(at: index!)
                    #expect(!waiting.contains { $0.origin == place.origin && $0.number < place.number })
                    running[next.number] = place.origin
                }
            case 8:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                let number = waiting.remove(at: index).number
                let left = line.cancel(number)
                #expect(left == number)
            default:
                guard Int.random(in: 0..<40, using: &random) == 0 else { continue }
                let left = line.removeAll()
                #expect(left == waiting.map(\.number))
                waiting = []
            }
            check()
        }
    }
}
