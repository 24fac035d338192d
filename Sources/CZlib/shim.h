// zlib for Swift. Only Lines imports this.
#pragma once
#include <zlib.h>

/// Prepares for data with a gzip header; a macro in zlib itself.
static inline int feedbus_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
