// libuv for Swift, and what of Linux Swift's Glibc module leaves out. Only FeedbusLoop imports this.
#pragma once
#include <fcntl.h>
#include <sys/eventfd.h>
#include <uv.h>

/// A descriptor that becomes readable when `feedbus_eventfd_fire` is called; -1 and errno where there is none.
static inline int feedbus_eventfd_make(void) { return eventfd(0, EFD_CLOEXEC); }
static inline void feedbus_eventfd_fire(int fd) { eventfd_write(fd, 1); }

/// Asks for another size of a pipe's buffer (F_SETPIPE_SZ, which headers show to GNU sources only).
static inline void feedbus_pipe_resize(int fd, int size) { fcntl(fd, 1031, size); }

/// Reserves room behind the end of a file, which stays as long as it is (fallocate with FALLOC_FL_KEEP_SIZE, which headers
/// show to GNU sources only); -1 and errno.
extern int fallocate(int fd, int mode, off_t offset, off_t count);
static inline int feedbus_reserve(int fd, long offset, long count) { return fallocate(fd, 1, offset, count); }
