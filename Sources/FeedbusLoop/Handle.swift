// feedbus: the memory of libuv's handles.

internal import CLibuv

/// Memory for a handle of libuv, at an address that does not change, filled with zeros. `closeHandle` frees it.
func newHandle<Handle>(_ type: Handle.Type) -> UnsafeMutablePointer<Handle> {
    let memory = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<Handle>.size, alignment: MemoryLayout<Handle>.alignment)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<Handle>.size)
    return memory.assumingMemoryBound(to: type)
}

/// Makes `owner` the object that the callbacks of a handle find; the handle keeps it until it has closed.
func setOwner(_ handle: UnsafeMutableRawPointer, _ owner: AnyObject) {
    handle.assumingMemoryBound(to: uv_handle_t.self).pointee.data = Unmanaged.passRetained(owner).toOpaque()
}

/// The object that `setOwner` was given.
func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer, as type: Owner.Type) -> Owner {
    Unmanaged<Owner>.fromOpaque(data).takeUnretainedValue()
}

/// Closes a handle that libuv has initialised. Its memory is freed, and its owner released, when libuv is done with it.
func closeHandle(_ handle: UnsafeMutableRawPointer) {
    uv_close(handle.assumingMemoryBound(to: uv_handle_t.self), onClosed)
}

private func onClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    let handle = handle!
    if let data = handle.pointee.data { Unmanaged<AnyObject>.fromOpaque(data).release() }
    UnsafeMutableRawPointer(handle).deallocate()
}

/// libuv's words for one of its status codes.
func uvText(_ status: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        uv_strerror_r(status, buffer.baseAddress!, buffer.count)
        return String(cString: buffer.baseAddress!)
    }
}
