// feedbus: the program apertium on this machine.

import FeedbusPlugin
import Glibc

/// Translates with the local Apertium: finds the mode for two languages and keeps its programs running.
actor ApertiumTranslator: Translator {
    private nonisolated let context: PluginContext
    private let timeout: Duration
    /// The directions that are installed; nil until asked.
    private var modes: [String]?
    private var pipelines: [String: ApertiumPipeline] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.executor }

    init(timeout: Duration, context: PluginContext) {
        self.timeout = timeout
        self.context = context
    }

    func prepare(from: String, to: String) async throws {
        _ = try await mode(from: from, to: to)
    }

    func translate(_ text: String, from: String, to: String) async throws -> String {
        let mode = try await mode(from: from, to: to)
        var failures = 0
        while true {
            do {
                return try await pipeline(mode).translate(text)
            } catch let error as FeedbusError where error.isRetriable && failures == 0 {
                failures += 1
                context.log.debug("\(error.message); trying once more")
            }
        }
    }

    private func pipeline(_ mode: String) -> ApertiumPipeline {
        if let pipeline = pipelines[mode] { return pipeline }
        let folder = getenv("APERTIUM_DATADIR").map { String(cString: $0) } ?? "/usr/share/apertium"
        let pipeline = ApertiumPipeline(modeFile: "\(folder)/modes/\(mode).mode", timeout: timeout, context: context)
        pipelines[mode] = pipeline
        return pipeline
    }

    /// The installed mode for a direction: `eng-spa` for `en` to `es`.
    private func mode(from: String, to: String) async throws -> String {
        let installed: [String]
        if let modes { installed = modes } else { installed = try await list() }
        modes = installed
        if let mode = ApertiumTranslator.mode(from: from, to: to, of: installed) { return mode }
        let pair = [LanguageCodes.three(from), LanguageCodes.three(to)]
        let here = installed.isEmpty ? "none is installed" : "installed: \(installed.joined(separator: ", "))"
        throw FeedbusError(
            "translation.pair",
            "apertium has no direction from \(from) to \(to) (\(here)); on Debian the package is apertium-\(pair.joined(separator: "-"))"
                + " or apertium-\(pair.reversed().joined(separator: "-")), if there is one")
    }

    /// Of the installed modes the one for a direction; a variant (`eng_US`) where the target names it.
    static func mode(from: String, to: String, of installed: [String]) -> String? {
        let sources = [LanguageCodes.three(from), LanguageCodes.primary(from)]
        let targets = [LanguageCodes.three(to), LanguageCodes.primary(to)]
        let regions = LanguageCodes.region(to).map { ["_\($0)", ""] } ?? [""]
        for region in regions {
            for source in sources {
                for target in targets where installed.contains("\(source)-\(target)\(region)") {
                    return "\(source)-\(target)\(region)"
                }
            }
        }
        return nil
    }

    private func list() async throws -> [String] {
        let child: ChildProcess
        do {
            child = try await context.host.spawn(ChildCommand(["apertium", "-l"], stdin: false, stderr: false))
        } catch {
            throw FeedbusError(
                "translation.apertium",
                "the program apertium cannot be started (\(describeError(error))); on Debian: apt install apertium apertium-eng-spa",
                cause: error)
        }
        var text = ""
        while let bytes = try await child.readOutput() { text += bytes.string }
        _ = await child.wait()
        return text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    func close() async {
        for (_, pipeline) in pipelines.sorted(by: { $0.key < $1.key }) { await pipeline.close() }
    }
}
