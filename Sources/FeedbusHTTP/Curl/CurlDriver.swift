// feedbus: the actor that owns libcurl, on the loop.

import CCurl
import FeedbusBase
internal import FeedbusLoop

/// Starts, cancels and ends transfers. Everything here runs on the loop's thread.
actor CurlDriver {
    private nonisolated let loop: EventLoop
    private let userAgent: String
    /// Made by the first request, because it belongs to the loop's thread. Nil again after `close`.
    private var multi: CurlMulti?
    private var transfers: [UInt64: CurlTransfer] = [:]
    /// Requests beyond what may be under way at a time.
    private var line = FairLine<String, Waiting>(
        mostAtPlace: CurlMulti.mostToOrigin, most: CurlMulti.most)
    private let bodies = BodyPool()
    /// Requests that are about to start, and whether they were cancelled before they did.
    private var starting: [UInt64: Bool] = [:]
    private var lastID: UInt64 = 0
    private var isClosed = false

    private typealias Continuation = UnsafeContinuation<HTTPResponse, any Error>

    private struct Waiting {
        var request: HTTPRequest
        var origin: String
        var continuation: Continuation
    }

    init(loop: EventLoop, userAgent: String) {
        self.loop = loop
        self.userAgent = userAgent
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.serialExecutor }

    func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = announce()
        return try await withCancellation {
            try await withUnsafeThrowingContinuation { enter(id, request, $0) }
        } onCancel: {
            loop.perform { self.assumeIsolated { $0.cancel(id) } }
        }
    }

    private func announce() -> UInt64 {
        loop.preconditionOnLoop()
        lastID += 1
        starting[lastID] = false
        return lastID
    }

    private func enter(_ id: UInt64, _ request: HTTPRequest, _ continuation: Continuation) {
        loop.preconditionOnLoop()
        if starting.removeValue(forKey: id) == true { return continuation.resume(throwing: CancellationError()) }
        if isClosed { return continuation.resume(throwing: closedError()) }
        let origin: String
        do { origin = try request.origin ?? HTTPURL(request.url).origin } catch {
            return continuation.resume(throwing: error)
        }
        let waiting = Waiting(request: request, origin: origin, continuation: continuation)
        if line.enter(id, at: origin, waiting), !start(id, waiting) { startNext(after: origin) }
    }

    /// Starts a request that has its place.
    /// - Returns: false where that failed: its place is free again.
    private func start(_ id: UInt64, _ waiting: Waiting) -> Bool {
        do {
            let multi = try multi ?? makeMulti()
            self.multi = multi
            guard let handle = multi.takeHandle(for: waiting.request.url) else {
                throw FeedbusError(FeedbusError.Code("http.curl"), "libcurl has no memory", isRetriable: true)
            }
            let transfer = CurlTransfer(
                id: id, request: waiting.request, origin: waiting.origin, handle: handle, pool: bodies,
                continuation: waiting.continuation)
            do {
                try transfer.prepare(userAgent: userAgent)
            } catch {
                multi.giveBack(handle, isWhole: false)
                throw error
            }
            guard multi.add(transfer) else {
                multi.giveBack(handle, isWhole: false)
                throw FeedbusError(FeedbusError.Code("http.curl"), "libcurl refuses a transfer", isRetriable: true)
            }
            transfers[id] = transfer
            return true
        } catch {
            waiting.continuation.resume(throwing: error)
            return false
        }
    }

    /// A place is free.
    private func startNext(after origin: String) {
        var origin = origin
        while let (id, waiting) = line.leave(origin), !start(id, waiting) { origin = waiting.origin }
    }

    private func cancel(_ id: UInt64) {
        loop.preconditionOnLoop()
        if starting[id] != nil {
            starting[id] = true
        } else if let transfer = transfers[id] {
            end(transfer)
            transfer.fail(CancellationError())
            startNext(after: transfer.origin)
        } else if let waiting = line.cancel(id) {
            waiting.continuation.resume(throwing: CancellationError())
        }
    }

    /// Ends all transfers, closes all connections, frees libcurl's handles. Later requests fail.
    func close() {
        loop.preconditionOnLoop()
        guard !isClosed else { return }
        isClosed = true
        abandon(closedError())
    }

    // MARK: - From the loop

    private func makeMulti() throws(FeedbusError) -> CurlMulti {
        // Weak: the loop must not keep alive what only it would still know.
        let owner = WeakDriver(self)
        return try CurlMulti(
            makePoll: { [loop] socket in
                try loop.makePoll(fd: socket) { events in
                    owner.driver?.assumeIsolated { $0.socketReady(socket, events) }
                }
            },
            makeTimer: { [loop] in
                loop.makeTimer { owner.driver?.assumeIsolated { $0.timerFired() } }
            })
    }

    private func socketReady(_ socket: Int32, _ events: PollEvents) {
        guard let multi else { return }
        settle(multi, isAlive: multi.socketReady(socket, events))
    }

    private func timerFired() {
        guard let multi else { return }
        settle(multi, isAlive: multi.timerFired())
    }

    private func settle(_ multi: CurlMulti, isAlive: Bool) {
        while let (transfer, code) = multi.nextFinished() {
            // Before the handle goes back: its figures are asked for.
            multi.remove(transfer)
            if transfer.beginRepeat(after: code), sendAgain(transfer, multi) { continue }
            transfers[transfer.id] = nil
            transfer.finish(code)
            multi.giveBack(transfer.handle, isWhole: code == CURLE_OK)
            startNext(after: transfer.origin)
        }
        if !isAlive {
            abandon(
                FeedbusError(FeedbusError.Code("http.curl"), "libcurl cannot watch a socket", isRetriable: true))
        }
    }

    private func sendAgain(_ transfer: CurlTransfer, _ multi: CurlMulti) -> Bool {
        // It could be sent before.
        (try? transfer.prepare(userAgent: userAgent)) != nil && multi.add(transfer)
    }

    /// Takes a transfer out of libcurl.
    private func end(_ transfer: CurlTransfer) {
        transfers[transfer.id] = nil
        multi?.remove(transfer)
        multi?.giveBack(transfer.handle, isWhole: false)
    }

    private func abandon(_ error: FeedbusError) {
        let waiting = line.removeAll()
        for transfer in transfers.values.sorted(by: { $0.id < $1.id }) {
            end(transfer)
            transfer.fail(error)
            _ = line.leave(transfer.origin)
        }
        for one in waiting { one.continuation.resume(throwing: error) }
        multi?.close()
        multi = nil
    }

    private func closedError() -> FeedbusError { FeedbusError(.httpClosed, "the program is ending: no more requests") }
}

/// A driver that may be gone.
private struct WeakDriver: Sendable {
    weak let driver: CurlDriver?

    init(_ driver: CurlDriver) { self.driver = driver }
}
