// feedbus: a thin C face over simdjson. Only FeedbusJSON imports this.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // memmem
#endif
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

static inline bool csimdjson_has_substring(const void *text, size_t length, const void *wanted, size_t wanted_length) {
    return wanted_length == 0 || (length >= wanted_length && memmem(text, length, wanted, wanted_length) != NULL);
}

static inline bool csimdjson_contains_backslash(const void *text, size_t length) {
    return length > 0 && memchr(text, '\\', length) != NULL;
}

/// Where a value stands in a text; `end` is 0 where there is none.
typedef struct {
    uint32_t start;
    uint32_t end;
} csimdjson_span;

/// The paths of several values, to be found in one walk over a text that skips everything else. Built by one thread; only
/// read by `csimdjson_find`, from any number of threads.
typedef struct csimdjson_finder csimdjson_finder;

/// NULL where there is no memory.
csimdjson_finder *csimdjson_finder_make(void);

void csimdjson_finder_free(csimdjson_finder *finder);

/// Goes from a place of the finder (0: the whole text) one step down by a decoded reference token (RFC 6901), and returns
/// that place. `array_index` is what the token means in an array; UINT32_MAX: nothing. UINT32_MAX where there is no memory.
uint32_t csimdjson_finder_step(
    csimdjson_finder *finder, uint32_t place, const char *token, size_t length, uint32_t array_index);

/// Gives the value at a place a number: the first gets 0, and so on; a place that has one keeps it. UINT32_MAX where there
/// is no memory.
uint32_t csimdjson_finder_want(csimdjson_finder *finder, uint32_t place);

/// Finds the wanted values of a valid text and writes their spans by their numbers; in an object with repeated keys the
/// first counts. Stops where the last one is found. Allocates nothing for paths of up to 32 steps. A text that is not
/// valid gives spans without meaning, inside the text.
void csimdjson_find(const csimdjson_finder *finder, const char *text, size_t length, csimdjson_span *spans);

/// Asks for memory that will be read soon.
static inline void csimdjson_prefetch(const void *place) {
    __builtin_prefetch(place);
    __builtin_prefetch((const char *)place + 64);
}

/// Decodes the content of a valid JSON string as UTF-8 to `target`, which has room for `length` bytes; returns how many it
/// wrote. An escaped surrogate without its partner becomes U+FFFD.
size_t csimdjson_decode_string(const char *content, size_t length, char *target);

/// Compares the content of a valid JSON string, decoded, with UTF-8, byte by byte: below, at or above zero. An escaped
/// surrogate without its partner counts as U+FFFD.
/// With `prefix`, 0 says that the content begins with `wanted`.
int csimdjson_compare_string(
    const char *content, size_t length, const char *wanted, size_t wanted_length, bool prefix);

/// What a line is.
enum {
    /// One JSON value.
    csimdjson_line_value = 0,
    /// An object that may be a CloudEvents object: it has a member "specversion", or one whose escapes may spell it.
    csimdjson_line_maybe_event = 1,
    /// Not one JSON value; `start` and `end` are those of the whole line.
    csimdjson_line_bad = 2,
};

typedef struct {
    /// The value's first byte and one past its last, without the blanks around it.
    uint32_t start;
    uint32_t end;
    uint16_t kind;
    /// A line feed stands right behind it.
    uint16_t is_followed;
    /// Line feeds before it in the text.
    uint32_t number;
} csimdjson_line;

/// Scans lines; keeps its memory from block to block. For one thread at a time.
typedef struct csimdjson_lines csimdjson_lines;

/// NULL where there is no memory.
csimdjson_lines *csimdjson_lines_make(void);

void csimdjson_lines_free(csimdjson_lines *scanner);

/// Looks at every line of `text`; the last one may lack its line feed. Lines of blanks alone are left out. `lines` is valid
/// until the next scan. `feeds` is how many line feeds there are. Reads nothing outside `text`.
csimdjson_status csimdjson_lines_scan(
    csimdjson_lines *scanner, const char *text, size_t length, uint32_t max_depth, const csimdjson_line **lines,
    size_t *count, size_t *feeds);

/// Writes 16 hexadecimal digits for each span of a text: the hash of its content and its place, counted from `position`.
void csimdjson_write_ids(
    const char *text, const csimdjson_span *spans, size_t count, uint64_t position, char *target);

/// A 64-bit hash that is the same in every run and on every machine. No defence against somebody who seeks collisions.
uint64_t csimdjson_hash(const void *bytes, size_t length, uint64_t seed);

/// A 128-bit hash that nobody who does not know the key can make collide: SipHash-2-4
/// (https://github.com/veorq/SipHash).
void csimdjson_keyed_hash(const uint64_t key[2], const void *bytes, size_t length, uint64_t result[2]);

/// Writes 16 hexadecimal digits.
void csimdjson_write_hex(uint64_t value, char *target);

#ifdef __cplusplus
}
#endif
