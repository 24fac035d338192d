// feedbus: fallocate(2), which Swift's Glibc module lacks.

internal import CLibuv

/// Reserves room for so many bytes behind `offset`; the size of the file stays as it is. -1 and `errno` on failure.
func reserveRoom(_ descriptor: Int32, _ offset: Int, _ count: Int) -> Int32 {
    feedbus_reserve(descriptor, offset, count)
}
