// feedbus: libcurl's multi interface, told by the loop when sockets and timers are ready.

import CCurl
import FeedbusBase
internal import FeedbusLoop

/// A multi handle with its sockets, its timer and its pool of easy handles. Lives on the loop; nothing here waits.
final class CurlMulti {
    private let multi: UnsafeMutableRawPointer
    private var polls: [Int32: (poll: LoopPoll, events: PollEvents)] = [:]
    private var timer: LoopTimer?
    private var idle: [UnsafeMutableRawPointer] = []
    private let makePoll: (Int32) throws -> LoopPoll
    private let makeTimer: () -> LoopTimer

    /// Easy handles that are kept for reuse.
    private static let mostIdle = 64
    /// Connections to one host at a time. More requests wait inside libcurl.
    private static let mostToHost = 64
    /// Connections that are kept open for reuse.
    private static let mostKept = 32

    /// - Parameters:
    ///   - makePoll: a poll on a socket that calls `socketReady`.
    ///   - makeTimer: a timer that calls `timerFired`.
    /// - Throws: `FeedbusError` (`http.curl`).
    init(
        makePoll: @escaping (Int32) throws -> LoopPoll, makeTimer: @escaping () -> LoopTimer
    ) throws(FeedbusError) {
        try CurlGlobal.start()
        guard let multi = curl_multi_init() else {
            throw FeedbusError(FeedbusError.Code("http.curl"), "libcurl has no memory")
        }
        self.multi = multi
        self.makePoll = makePoll
        self.makeTimer = makeTimer
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = feedbus_curl_multi_set_callbacks(multi, socketWanted, timerWanted, context)
        _ = feedbus_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, CurlMulti.mostToHost)
        _ = feedbus_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, CurlMulti.mostKept)
    }

    /// A configured easy handle, used before or new; nil without memory.
    func takeHandle() -> UnsafeMutableRawPointer? {
        if let handle = idle.popLast() { return handle }
        guard let handle = curl_easy_init() else { return nil }
        CurlTransfer.configure(handle)
        return handle
    }

    /// Takes a handle back that is in no transfer any more. Its connection stays with the multi handle.
    /// - Parameter isPlain: it need not be configured anew.
    func giveBack(_ handle: UnsafeMutableRawPointer, isPlain: Bool) {
        guard idle.count < CurlMulti.mostIdle else { return curl_easy_cleanup(handle) }
        if isPlain {
            CurlTransfer.forget(handle)
        } else {
            curl_easy_reset(handle)
            CurlTransfer.configure(handle)
        }
        idle.append(handle)
    }

    func add(_ transfer: CurlTransfer) -> Bool { curl_multi_add_handle(multi, transfer.handle) == CURLM_OK }

    /// Ends a transfer at once; a connection that is in the middle of it is closed.
    func remove(_ transfer: CurlTransfer) { curl_multi_remove_handle(multi, transfer.handle) }

    /// - Returns: false where libcurl can go on no more.
    func socketReady(_ socket: Int32, _ events: PollEvents) -> Bool {
        var mask: Int32 = 0
        if events.contains(.readable) || events.contains(.disconnected) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        // A reset, for one. Told of an error alone (CURL_CSELECT_ERR), libcurl ends the transfer without a look at the
        // socket; told to read, it meets the error itself, and knows when to take another connection.
        if events.contains(.failed) { mask |= CURL_CSELECT_IN | CURL_CSELECT_OUT }
        let isAlive = act(on: socket, mask)
        // The poll has stopped; libcurl, where it still wants the socket, counts on being told of it.
        if events.contains(.failed), let watch = polls[socket] { watch.poll.start(watch.events) }
        return isAlive
    }

    /// - Returns: false where libcurl can go on no more.
    func timerFired() -> Bool { act(on: CURL_SOCKET_BAD, 0) }

    private func act(on socket: Int32, _ mask: Int32) -> Bool {
        var running: Int32 = 0
        return curl_multi_socket_action(multi, socket, mask, &running) == CURLM_OK
    }

    /// The next transfer that has ended; nil when there is no other.
    func nextFinished() -> (transfer: CurlTransfer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            var context: UnsafeMutableRawPointer?
            _ = feedbus_curl_get_pointer(handle, &context)
            guard let context else { continue }
            return (Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue(), message.pointee.data.result)
        }
        return nil
    }

    /// Frees everything. All transfers have been removed before.
    func close() {
        for handle in idle { curl_easy_cleanup(handle) }
        idle = []
        // Closes the kept connections, and says so through `socketWanted`.
        curl_multi_cleanup(multi)
        for watch in polls.values { watch.poll.close() }
        polls = [:]
        timer?.close()
        timer = nil
    }

    // MARK: - What libcurl wants

    fileprivate func want(_ socket: Int32, _ what: Int32) -> Int32 {
        if what == CURL_POLL_REMOVE {
            polls.removeValue(forKey: socket)?.poll.close()
            return 0
        }
        var events: PollEvents = []
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        do {
            let poll = try polls[socket]?.poll ?? makePoll(socket)
            polls[socket] = (poll, events)
            poll.start(events)
            return 0
        } catch {
            return -1
        }
    }

    fileprivate func wantTimer(_ milliseconds: Int) {
        if milliseconds < 0 {
            timer?.stop()
            return
        }
        let timer = timer ?? makeTimer()
        self.timer = timer
        // Also zero goes through the loop: libcurl must not be entered from its own callback.
        timer.start(after: .milliseconds(milliseconds))
    }
}

private func socketWanted(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ ofSocket: UnsafeMutableRawPointer?
) -> Int32 {
    Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue().want(socket, what)
}

private func timerWanted(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue().wantTimer(milliseconds)
    return 0
}
