// feedbus: what the JSON-lines sink does beside the writing: bring lines to the disk itself, and look at the time.

import FeedbusPlugin

extension JSONLines {
    // MARK: - To the disk

    /// With `"fsync": "batch"`, brings to the disk what the open file has of a batch; waits as long as that takes.
    ///
    /// After an fsync that failed the lines may never get to the disk, though the next one succeeds: the system counts them
    /// as written. So they are written once more, over themselves, where nobody sees it. Where that cannot be, since they
    /// do not stand there any more, `progress` goes back to before them, and they are written behind what there is.
    func secure(_ text: @autoclosure () -> LineText, _ progress: inout Progress) async throws {
        guard options.fsync == .batch, progress.done > progress.secured else {
            progress.secured = progress.done
            return
        }
        while true {
            do throws(FileError) {
                try await takeBack()
                // It had to be closed, and nobody knows what became of the lines.
                guard let file else {
                    progress.done = progress.secured
                    return
                }
                if mustRewrite {
                    let part = text().bytes[progress.secured..<progress.done]
                    guard try await file.rewrite(from: syncedEnd, expecting: part) else {
                        context.log.warning(
                            "\(path): its end is not what was written there; \(part.count) bytes are written once more")
                        syncedEnd = try await file.size()
                        mustRewrite = false
                        progress.done = progress.secured
                        return
                    }
                }
                try await synchronize(file)
                progress.secured = progress.done
                return sayRecovered()
            } catch {
                try await waitOut(error)
            }
        }
    }

    private func synchronize(_ file: OutputFile) async throws(FileError) {
        isDirty = false
        do throws(FileError) {
            syncedEnd = try await file.synchronize()
            mustRewrite = false
        } catch {
            isDirty = true
            mustRewrite = true
            throw error
        }
    }

    /// Where syncs are asked for, brings to the disk what was written since the last one: before the file is closed, and
    /// when it is time.
    func bringToDisk(_ file: OutputFile) async throws(FileError) {
        guard options.fsync != .none && isDirty else { return }
        // Whatever stands there: nobody has the lines any more.
        if mustRewrite { _ = try await file.rewrite(from: syncedEnd) }
        try await synchronize(file)
    }

    /// With a time for `fsync`: after that time what was written is brought to the disk.
    func startSyncing() {
        guard case .after(let duration) = options.fsync, syncing == nil, let file else { return }
        syncing = context.task { [clock = context.clock] in
            try await clock.sleep(for: duration)
            await self.sync(file)
        }
    }

    private func sync(_ file: OutputFile) async {
        var trouble = OutageStateMachine()
        while !Task.isCancelled && isDirty {
            do throws(FileError) {
                try await bringToDisk(file)
                if let duration = trouble.succeeded(at: context.clock.now) {
                    context.log.warning("recovered: the lines of \(path) are on the disk, \(duration.text) late")
                }
            } catch {
                let (pause, isNews) = trouble.failed(at: context.clock.now, because: error.textWithName)
                if isNews {
                    context.log.error(
                        "\(error.textWithName); until it succeeds, lines written to \(path) may not survive a power cut"
                    )
                }
                do { try await context.clock.sleep(for: pause) } catch { break }
            }
        }
        syncing = nil
        // What was written meanwhile.
        if isDirty && !Task.isCancelled { startSyncing() }
    }

    /// Returns when nobody uses the descriptor any more.
    func endSyncing() async {
        syncing?.cancel()
        while let task = syncing {
            _ = await task.result
            if syncing == task { syncing = nil }
        }
    }

    // MARK: - The time

    /// The wall clock may be set meanwhile: it is looked at from time to time.
    private static let longestTick = Duration.seconds(60)

    func startTicking() {
        guard ticking == nil, rotation?.timeLeft(now: context.clock.wallTime) != nil else { return }
        ticking = context.task { await self.tick() }
    }

    /// Sets the file aside when its time is over, also where nothing more is written.
    private func tick() async {
        while !Task.isCancelled, let left = rotation?.timeLeft(now: context.clock.wallTime) {
            var pause = min(left, Self.longestTick)
            if left <= .zero {
                if isBusy {
                    // Who writes sees to it.
                    pause = .seconds(1)
                } else {
                    isBusy = true
                    do {
                        try await rotate()
                        sayRecovered()
                    } catch {
                        pause = say(error)
                    }
                    passTurn()
                }
            }
            do { try await context.clock.sleep(for: pause) } catch { break }
        }
        ticking = nil
    }
}
