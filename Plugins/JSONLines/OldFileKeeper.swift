// feedbus: compresses and deletes old files beside the writing.

import FeedbusPlugin

/// Looks after the files that were set aside. One run at a time; what comes meanwhile is seen to by one more.
actor OldFileKeeper {
    private nonisolated let context: PluginContext
    private let files: OldFiles
    private let options: RotateOptions
    /// The lines are promised to survive a power cut.
    private let isSafe: Bool
    private var work: Task<Void, any Error>?
    private var isWanted = false
    private var hasTidied = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.executor }

    init(files: OldFiles, options: RotateOptions, isSafe: Bool, context: PluginContext) {
        self.files = files
        self.isSafe = isSafe
        self.options = options
        self.context = context
    }

    /// Starts the work and returns. A compression that the end of the program cuts short is done again at the next start.
    func look() {
        isWanted = true
        if work == nil { work = context.task { await self.run() } }
    }

    /// Returns when there is nothing to do any more.
    func settled() async {
        while let work { _ = await work.result }
    }

    private func run() async {
        while isWanted {
            isWanted = false
            if options.gzip { await compress() }
            if let keep = options.keep { await prune(keep) }
        }
        work = nil
    }

    /// Packs into a file of its own, which takes the place of the old one when it is whole: not here, as the end of the
    /// program kills its children, but in one piece of work on the pool, which comes to its end. What a killed feedbus has
    /// left behind, a gzip that is at work on the same file as well, nobody uses.
    private static let script = """
        umask 077
        gzip -c -- "$1" > "$2" && touch -r "$1" "$2" && chmod "$3" "$2" && $4 "$2" && exit 0
        status=$?
        rm -f -- "$2"
        exit $status
        """

    private func compress() async {
        let files = files
        let isFirst = !hasTidied
        hasTidied = true
        let old = try? await context.host.offload {
            if isFirst { files.removeParts() }
            return files.uncompressed()
        }
        for (path, mode) in old ?? [] {
            do {
                let arguments = [
                    "sh", "-c", Self.script, "sh", path, OldFiles.part(of: path), String(mode, radix: 8),
                    isSafe ? "sync" : ":",
                ]
                let child = try await context.host.spawn(
                    ChildCommand(arguments, stdin: false, stdout: false, stderr: true))
                var words = ""
                while let bytes = try await child.readErrors() { words += bytes.string }
                let exit = await child.wait()
                if exit == .code(0) {
                    try await context.host.offload { try files.exchange(path) }
                    continue
                }
                // One that is killed leaves its part.
                try await context.host.offload { files.removePart(of: path) }
                if case .signal = exit {
                    context.log.info("packing \(path) was cut short: it is done again at the next rotation or start")
                } else {
                    context.log.warning(
                        "gzip of \(path) ended with \(exit)\(words.isEmpty ? "" : ": \(words.prefix(200))")")
                }
            } catch let error as FeedbusError where error.code == .loopClosed {
                // The end of the program: the next start goes on with it. The pool takes no work any more.
                files.removePart(of: path)
                return
            } catch {
                context.log.warning("cannot compress \(path): \(describeError(error))")
            }
        }
    }

    private func prune(_ keep: Int) async {
        let files = files
        let count = (try? await context.host.offload { files.prune(keep: keep) }) ?? 0
        if count > 0 { context.log.debug("deleted \(count) old files of \(files.path)") }
    }
}
