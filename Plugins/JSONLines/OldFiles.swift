// feedbus: the files that were set aside, in their folder.

import FeedbusPlugin
import Glibc

/// Calls on the folder of old files. All of them block: they run on the pool.
///
/// Where the path is a symbolic link, old files stand beside the file that it leads to, and the link stays.
struct OldFiles: Sendable {
    let path: String
    private let files: any FileSystem

    init(path: String, in files: any FileSystem = SystemFiles()) {
        self.path = path
        self.files = files
    }

    /// Where the file is now.
    private var place: (path: String, pattern: RotatedName.Pattern) {
        guard let real = realpath(path, nil) else { return (path, RotatedName.Pattern(path: path)) }
        defer { free(real) }
        let path = String(cString: real)
        return (path, RotatedName.Pattern(path: path))
    }

    /// Gives the file a name of its own, which sorts behind those of all older files: `prune` goes by the names. So a
    /// counter that became free is not used again, and a clock that was put back does not count.
    /// - Returns: its new path.
    func setAside(at time: WallTime) throws(FileError) -> String {
        let (path, pattern) = place
        var name = RotatedName(time: time, counter: 1)
        if let newest = list(pattern).max(), newest.stamp >= name.stamp {
            name = RotatedName(stamp: newest.stamp, counter: newest.counter + 1, isCompressed: false)
        }
        while isTaken(name, pattern) { name.counter += 1 }
        let target = pattern.folder + pattern.text(name)
        guard files.rename(path, to: target) == 0 else {
            throw FileError(errno: errno, operation: "rename", path: path)
        }
        return target
    }

    /// Deletes all but the newest `keep` files; returns how many that were.
    func prune(keep: Int) -> Int {
        let pattern = place.pattern
        return list(pattern).sorted().dropLast(keep).count { unlink(pattern.folder + pattern.text($0)) == 0 }
    }

    /// Those that are not compressed, from old to new, with their permissions.
    func uncompressed() -> [(path: String, mode: UInt32)] {
        let pattern = place.pattern
        return list(pattern).filter { !$0.isCompressed }.sorted().compactMap { name in
            let path = pattern.folder + pattern.text(name)
            var status = stat()
            return stat(path, &status) == 0 ? (path, status.st_mode & 0o777) : nil
        }
    }

    /// Where this process compresses a file to, until it is whole.
    static func part(of path: String) -> String { "\(path).gz.\(getpid()).part" }

    /// Deletes what a compression by this process has left.
    func removePart(of path: String) { unlink(Self.part(of: path)) }

    /// The file that it was compressed to takes its place.
    func exchange(_ path: String) throws(FileError) {
        let part = Self.part(of: path)
        guard files.rename(part, to: path + ".gz") == 0 else {
            let failure = FileError(errno: errno, operation: "rename", path: part)
            removePart(of: path)
            throw failure
        }
        unlink(path)
    }

    /// Deletes what compressions that were cut short have left. One that is still at work begins again at the next start.
    func removeParts() {
        let pattern = place.pattern
        for text in entries(pattern) where text.hasSuffix(".part") {
            let parts = text.dropLast(5).split(separator: ".")
            guard let number = parts.last, Int32(number) != nil else { continue }
            let name = pattern.name(String(text.dropLast(6 + number.count)))
            if name?.isCompressed == true { unlink(pattern.folder + text) }
        }
    }

    /// When the file was last written to, in wall time.
    func lastWrite() -> WallTime? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        // By its place: an optimised build attributes `timespec`'s members to a module that cannot be imported.
        return WallTime(seconds: withUnsafeBytes(of: status.st_mtim) { Int64($0.load(as: time_t.self)) })
    }

    /// Whether a file has this name, or had it before it was compressed. The list of the folder does not tell: one that is
    /// exchanged while the list is read may stand in it under neither name. So the plain name is looked for first: where it
    /// has gone, the other is there.
    func isTaken(_ name: RotatedName, _ pattern: RotatedName.Pattern) -> Bool {
        let path = pattern.folder + pattern.text(name)
        return exists(path) || exists(path + ".gz")
    }

    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private func list(_ pattern: RotatedName.Pattern) -> [RotatedName] {
        entries(pattern).compactMap { pattern.name($0) }
    }

    private func entries(_ pattern: RotatedName.Pattern) -> [String] {
        guard let folder = opendir(pattern.folder.isEmpty ? "." : pattern.folder) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}
