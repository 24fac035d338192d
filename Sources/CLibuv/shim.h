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
