// feedbus: a recording in a folder of its own, deleted with it.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop
import Glibc

final class RecordingFile: Sendable {
    let folder: String
    var path: String { folder + "/made/run.har" }

    init() {
        var name = Array("/tmp/feedbus-recording-test-XXXXXX".utf8CString)
        folder = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    }

    deinit {
        for name in ["run.har", "run.har.part"] { unlink("\(folder)/made/\(name)") }
        rmdir("\(folder)/made")
        rmdir(folder)
    }

    // Neither is inlined: that breaks Swift 6.3.1's optimiser where coroutines are split.
    @inline(never)
    func open(_ clock: any EventClock, on host: any LoopHost = NoHost(), log: Log = .silent) async throws -> Recorder {
        try await Recorder.open(path: path, host: host, clock: clock, creator: "feedbus 1.0", log: log)
    }

    /// Ends the recording, and returns it.
    @inline(never)
    func finish(_ recorder: Recorder, on host: any LoopHost = NoHost()) async throws -> Bytes {
        try await recorder.finish()
        return try await readWholeFile(path, limit: 1 << 24, on: host)
    }
}
