// feedbus: a thin C face over simdjson. Only FeedbusJSON imports this.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One place of a parsed text.
///
/// A string (also a key) or another scalar is one entry: `start` is its first byte, `link` is one past its last.
/// An array or object is two entries with its content between them: the opening one, whose `link` is the index of the
/// entry that follows the whole container, and the closing one, whose `start` is the place of the bracket and whose
/// `link` is the number of elements or members. A member is two entries' worth: key, value. What an entry is says the
/// byte of the text at `start`.
typedef struct {
    uint32_t start;
    uint32_t link;
} csimdjson_entry;

typedef enum {
    csimdjson_ok = 0,
    /// The text breaks a rule of RFC 8259 or is not UTF-8.
    csimdjson_invalid = 1,
    csimdjson_too_deep = 2,
    csimdjson_too_large = 3,
    csimdjson_no_memory = 4,
} csimdjson_status;

typedef struct {
    csimdjson_status status;
    /// Nothing stands between the tokens, before the first or behind the last.
    bool is_compact;
    /// There is a backslash in the text.
    bool has_escapes;
    /// Owned by the caller, to be given to `csimdjson_free`; NULL where no tape was asked for or `status` is not ok.
    csimdjson_entry *tape;
    uint32_t count;
    /// Where it was seen that the text is wrong; not always the first mistake.
    size_t offset;
} csimdjson_result;

/// Checks that `text` is one RFC 8259 value with blanks around it, at most `max_depth` containers deep, and makes its
/// tape if `want_tape`. Reads nothing outside `text`. Keeps scratch memory for each thread.
csimdjson_result csimdjson_parse(const char *text, size_t length, uint32_t max_depth, bool want_tape);

void csimdjson_free(csimdjson_entry *tape);

/// Writes `text`, which must be valid, without the blanks between its tokens to `target`, which has room for `length`
/// bytes and 64 more; returns how many bytes it wrote. `target` may not overlap `text`.
size_t csimdjson_minify(const char *text, size_t length, char *target);

bool csimdjson_validate_utf8(const char *text, size_t length);

/// The implementation that simdjson chose for this processor.
const char *csimdjson_implementation(void);

static inline bool csimdjson_equal(const void *left, const void *right, size_t length) {
    return length == 0 || memcmp(left, right, length) == 0;
}

static inline bool csimdjson_contains_backslash(const void *text, size_t length) {
    return length > 0 && memchr(text, '\\', length) != NULL;
}

#ifdef __cplusplus
}
#endif
