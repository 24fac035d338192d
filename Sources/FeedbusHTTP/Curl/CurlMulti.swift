// feedbus: libcurl's multi interface, told by the loop when sockets and timers are ready.

import CCurl
import FeedbusBase
internal import FeedbusLoop
import Glibc

/// A multi handle with its sockets, its timer and its pool of easy handles. Lives on the loop; nothing here waits.
final class CurlMulti {
    /// A socket that the loop watches.
    private struct Watch {
        let poll: LoopPoll
        /// What the loop tells of it; empty: nothing.
        var events: PollEvents
        /// libcurl wants to be told. Between two transfers it does not, and the watch goes on unheard: to end it and begin
        /// it anew would take half a dozen system calls for every request.
        var isWanted: Bool
    }

    private let multi: UnsafeMutableRawPointer
    /// By descriptor, which are small numbers.
    private var watches: [Watch?] = []
    /// Descriptors that were opened here, so that their end is known here.
    private var opened: Set<Int32> = []
    private var timer: LoopTimer?
    private var idle: [CurlHandle] = []
    private let makePoll: (Int32) throws -> LoopPoll
    private let makeTimer: () -> LoopTimer

    /// Transfers to one origin at a time; the line in front of libcurl sees to it. The same number bounds the connections
    /// to one host, which may be kept open by none.
    static let mostToOrigin = 64
    /// Transfers in all.
    static let most = 512
    /// Easy handles that are kept for reuse.
    private static let mostIdle = 64
    /// Connections that are open. With fewer than there are transfers at a time, each that ends would cost one.
    private static let mostKept = 128

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
        _ = feedbus_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, CurlMulti.mostToOrigin)
        _ = feedbus_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, CurlMulti.mostKept)
    }

    /// An easy handle, used before or new; nil without memory.
    /// - Parameter url: of the request that it is for: a handle that has sent it before is told little.
    func takeHandle(for url: String) -> CurlHandle? {
        if let index = idle.lastIndex(where: { $0.url == url }) { return idle.remove(at: index) }
        if let handle = idle.popLast() { return handle }
        // `self` is there until the multi handle is freed, and with it every connection.
        let context = Unmanaged.passUnretained(self).toOpaque()
        return CurlHandle { _ = feedbus_curl_set_sockets($0, openSocket, closeSocket, context) }
    }

    /// Takes a handle back that is in no transfer any more. Its connection stays with the multi handle.
    /// - Parameter isWhole: its transfer came to its end by itself.
    func giveBack(_ handle: CurlHandle, isWhole: Bool) {
        guard idle.count < CurlMulti.mostIdle else { return }
        handle.settle(isWhole: isWhole)
        idle.append(handle)
    }

    func add(_ transfer: CurlTransfer) -> Bool { curl_multi_add_handle(multi, transfer.handle.raw) == CURLM_OK }

    /// Ends a transfer at once; a connection that is in the middle of it is closed.
    func remove(_ transfer: CurlTransfer) { curl_multi_remove_handle(multi, transfer.handle.raw) }

    /// - Returns: false where libcurl can go on no more.
    func socketReady(_ socket: Int32, _ events: PollEvents) -> Bool {
        guard var watch = watch(of: socket) else { return true }
        if !watch.isWanted {
            // Most likely the service has closed a connection that is kept. libcurl looks before it uses one.
            watch.poll.stop()
            watch.events = PollEvents()
            watches[Int(socket)] = watch
            return true
        }
        var mask: Int32 = 0
        if events.contains(.readable) || events.contains(.disconnected) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        // A reset, for one. Told of an error alone (CURL_CSELECT_ERR), libcurl ends the transfer without a look at the
        // socket; told to read, it meets the error itself, and knows when to take another connection.
        if events.contains(.failed) { mask |= CURL_CSELECT_IN | CURL_CSELECT_OUT }
        let isAlive = act(on: socket, mask)
        // The poll has stopped; libcurl, where it still wants the socket, counts on being told of it.
        if events.contains(.failed), var watch = self.watch(of: socket) {
            if !watch.isWanted { watch.events = PollEvents() }
            watches[Int(socket)] = watch
            if watch.isWanted { watch.poll.start(watch.events) }
        }
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
            return (
                Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue().transfer, message.pointee.data.result
            )
        }
        return nil
    }

    /// Frees everything. All transfers have been removed before.
    func close() {
        idle = []
        // Closes the kept connections, and says so through `socketWanted` and `closeSocket`.
        curl_multi_cleanup(multi)
        for watch in watches { watch?.poll.close() }
        watches = []
        timer?.close()
        timer = nil
    }

    // MARK: - What libcurl wants

    private func watch(of socket: Int32) -> Watch? {
        Int(socket) < watches.count ? watches[Int(socket)] : nil
    }

    fileprivate func want(_ socket: Int32, _ what: Int32) -> Int32 {
        if what == CURL_POLL_REMOVE {
            if opened.contains(socket) {
                if watch(of: socket) != nil { watches[Int(socket)]!.isWanted = false }
            } else {
                unwatch(socket)
            }
            return 0
        }
        var events = PollEvents()
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        do {
            let known = watch(of: socket)
            let poll = try known?.poll ?? makePoll(socket)
            if known?.events != events { poll.start(events) }
            while watches.count <= Int(socket) { watches.append(nil) }
            watches[Int(socket)] = Watch(poll: poll, events: events, isWanted: true)
            return 0
        } catch {
            return -1
        }
    }

    private func unwatch(_ socket: Int32) {
        guard let watch = watch(of: socket) else { return }
        watch.poll.close()
        watches[Int(socket)] = nil
    }

    fileprivate func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        let address = address.pointee
        let socket = Glibc.socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
        if socket >= 0 { opened.insert(socket) }
        return socket
    }

    fileprivate func close(_ socket: Int32) -> Int32 {
        // First: the number may be another descriptor's a moment later.
        unwatch(socket)
        opened.remove(socket)
        return Glibc.close(socket)
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

/// libcurl's way to a socket.
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue().open(address!)
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue().close(socket)
}
