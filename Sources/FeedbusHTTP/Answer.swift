// feedbus: an answer, and what the rules make of it.

import FeedbusBase

/// One answer with its verdict and the waits that it asks for.
struct Answer: Sendable {
    let response: HTTPResponse
    let verdict: Verdict
    /// Nil where it asks for none; also for a recorded answer: nobody has to be spared then.
    let wait: AskedWait?
    /// The server's own words, without our secrets.
    let message: String

    init(_ response: HTTPResponse, to asking: Asking, now: WallTime, ledger: ServiceLedger) {
        var response = response
        response.body = response.body.withoutByteOrderMark
        self.response = response
        message = response.status >= 400 ? ServerMessage.find(in: response, to: asking.request) : ""
        wait =
            response.recorded
            ? nil
            : WaitCalculator.wait(
                status: response.status, headers: response.headers, message: message, now: now,
                unhintedBefore: ledger.unhintedInARow(asking.service, startedAt: asking.startedAt))
        verdict = Verdict(
            status: response.status, headers: response.headers, message: message, isConditional: asking.isConditional,
            accepted: asking.accepted, wait: wait)
    }

    /// True where the answer is not what was asked for.
    var isTrouble: Bool { verdict != .success && verdict != .notModified }

    /// `403 Forbidden: "Resource not accessible"`
    var statusLine: String {
        message.isEmpty ? statusText(response.status) : "\(statusText(response.status)): \"\(message)\""
    }

    /// How long the service asks not to be asked again after this answer.
    var minimumWait: Duration {
        response.recorded ? .zero : max(WaitCalculator.pollInterval(response.headers), wait?.duration ?? .zero)
    }
}

extension Bytes {
    /// Without the three bytes in front by which some servers mark UTF-8 (RFC 8259, section 8.1: a reader may ignore them).
    fileprivate var withoutByteOrderMark: Bytes {
        count >= 3 && self[0] == 0xEF && self[1] == 0xBB && self[2] == 0xBF ? self[3..<count] : self
    }
}
