// feedbus: the descriptors that a child process starts with.

internal import CLibuv
internal import FeedbusBase
internal import Glibc

/// The pipes for a child's descriptors 0, 1 and 2. Real pipes, not the socket pairs that libuv would make: with a socket
/// the child cannot open `/dev/stdin` or `/dev/stdout`, and loses what it wrote when it ends without reading its input.
struct ChildPipes {
    private var ours: [Int32] = [-1, -1, -1]
    private var theirs: [Int32] = [-1, -1, -1]

    /// Makes the pipe for the child's descriptor `number`.
    mutating func open(_ number: Int) throws {
        var ends: (read: uv_file, write: uv_file) = (-1, -1)
        let flags = Int32(UV_NONBLOCK_PIPE.rawValue)
        let status = withUnsafeMutablePointer(to: &ends) { pointer in
            // The child's end blocks, as programs expect.
            pointer.withMemoryRebound(to: uv_file.self, capacity: 2) {
                uv_pipe($0, number == 0 ? 0 : flags, number == 0 ? flags : 0)
            }
        }
        guard status == 0 else {
            throw FeedbusError(.execFailed, "cannot make a pipe: \(uvText(status))", isRetriable: true)
        }
        (ours[number], theirs[number]) = number == 0 ? (ends.write, ends.read) : (ends.read, ends.write)
    }

    /// Our end, for the caller to keep; nil where there is no pipe.
    mutating func takeOurs(_ number: Int) -> Int32? {
        guard ours[number] >= 0 else { return nil }
        defer { ours[number] = -1 }
        return ours[number]
    }

    /// Closes the child's ends, and those of ours that nobody took.
    mutating func closeAll() {
        for fd in ours + theirs where fd >= 0 { closeDescriptor(fd) }
        (ours, theirs) = ([-1, -1, -1], [-1, -1, -1])
    }

    /// What libuv wants to know: inherit our pipe's other end, or open /dev/null.
    func withContainers<Result>(_ body: (UnsafeMutablePointer<uv_stdio_container_t>) -> Result) -> Result {
        var containers = theirs.map { fd in
            var container = uv_stdio_container_t()
            container.flags = fd >= 0 ? UV_INHERIT_FD : UV_IGNORE
            container.data.fd = fd
            return container
        }
        return containers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }
}

/// Strings as C wants them: an array of pointers that ends with a null pointer.
final class CStrings {
    let pointers: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    init(_ strings: [String]) {
        pointers = .allocate(capacity: strings.count + 1)
        _ = pointers.initialize(from: strings.map { strdup($0) } + [nil])
    }

    deinit {
        for pointer in pointers { free(pointer) }
        pointers.deallocate()
    }
}

func withOptionalCString<Result>(_ string: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let string else { return body(nil) }
    return string.withCString { body($0) }
}
