// feedbus: RFC 8259 over many lines at once.
//
// simdjson's first stage runs over many lines at once. That is sound: a line break inside a string is a control
// character, and inside a multi-byte character it is no UTF-8, and the stage refuses both; so where it accepts them,
// no string reaches from one line into the next, and each line can be walked by itself. Where it refuses them, some
// line is bad, and each is scanned alone to find out which.

#include "csimdjson.h"
#include "grammar.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <simdjson.h>

namespace {

using csimdjson::is_blank;
using csimdjson::number_end;

constexpr uint32_t depth_bound = 1024;
/// Memory for larger pieces is given back when a smaller one comes.
constexpr size_t kept_capacity = size_t(1) << 20;
/// How much is scanned at once, if the lines allow it.
constexpr size_t piece_size = size_t(64) << 10;

}  // namespace

struct csimdjson_lines {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
    csimdjson_line *lines = nullptr;
    size_t count = 0;
    size_t capacity = 0;
    /// For each open container, whether it is an object.
    bool is_object[1 + depth_bound];

    ~csimdjson_lines() { std::free(lines); }

    bool reserve_stage(size_t length) {
        const size_t has = stage ? stage->capacity() : 0;
        if (has >= length && (has <= kept_capacity || length > kept_capacity)) { return true; }
        size_t wanted = size_t(64) << 10;
        while (wanted < length && wanted < kept_capacity) { wanted *= 2; }
        if (wanted < length) { wanted = length; }
        stage.reset();
        return simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, stage)
            == simdjson::SUCCESS;
    }

    bool append(const csimdjson_line &line) {
        if (count == capacity) {
            const size_t larger = capacity ? capacity * 2 : 2048;
            auto *moved = static_cast<csimdjson_line *>(std::realloc(lines, larger * sizeof *lines));
            if (!moved) { return false; }
            lines = moved;
            capacity = larger;
        }
        lines[count++] = line;
        return true;
    }

    /// Runs stage 1 and closes the list of places with two that lie behind the text.
    bool find_places(const uint8_t *text, size_t length) {
        if (stage->stage1(text, length, simdjson::stage1_mode::regular) != simdjson::SUCCESS) { return false; }
        const uint32_t n = stage->n_structural_indexes;
        stage->structural_indexes[n] = stage->structural_indexes[n + 1] = uint32_t(length);
        return true;
    }

    /// Behind the string that begins at `place`; the next token begins at `next`. Mostly nothing stands between them.
    static bool string_end(const uint8_t *text, uint32_t place, uint32_t next, uint32_t &end) {
        end = next;
        while (text[end - 1] != '"') {
            if (!is_blank(text[end - 1])) { return false; }
            --end;
        }
        return end - 1 > place;
    }

    /// Walks one line, from its first place on, up to `line_end`. Between two places stands one token and then blanks only
    /// (see `walk` in csimdjson.cpp). Returns whether the line is one value; `p` is then the first place behind it.
    bool walk(const uint8_t *text, uint32_t line_end, const uint32_t *&p, uint32_t max_depth, csimdjson_line &line) {
        uint32_t depth = 0, place = 0, end = 0;

#define NEXT_OR_FAIL() \
    do { \
        place = *p++; \
        if (place >= line_end) { return false; } \
    } while (false)

        NEXT_OR_FAIL();
        line.start = place;

    value_here:
        // Most values are strings: no jump that has to be foretold.
        if (text[place] == '"') {
            if (!string_end(text, place, *p, end)) { return false; }
            goto after;
        }
        switch (text[place]) {
        case '{':
            if (depth == max_depth) { return false; }
            is_object[++depth] = true;
            NEXT_OR_FAIL();
            if (text[place] == '}') { goto close; }
            goto key_here;
        case '[':
            if (depth == max_depth) { return false; }
            is_object[++depth] = false;
            NEXT_OR_FAIL();
            if (text[place] == ']') { goto close; }
            goto value_here;
        case 't':
            if (*p - place < 4 || std::memcmp(text + place, "true", 4) != 0) { return false; }
            end = place + 4;
            break;
        case 'f':
            if (*p - place < 5 || std::memcmp(text + place, "false", 5) != 0) { return false; }
            end = place + 5;
            break;
        case 'n':
            if (*p - place < 4 || std::memcmp(text + place, "null", 4) != 0) { return false; }
            end = place + 4;
            break;
        case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': {
            const uint8_t *stop = number_end(text + place, text + *p);
            if (!stop) { return false; }
            end = uint32_t(stop - text);
            break;
        }
        default: return false;
        }
        if (end != *p && !is_blank(text[end])) { return false; }

    after:
        if (depth == 0) {
            line.end = end;
            return *p >= line_end;
        }
        NEXT_OR_FAIL();
        if (is_object[depth]) {
            if (text[place] == ',') {
                NEXT_OR_FAIL();
                goto key_here;
            }
            if (text[place] == '}') { goto close; }
        } else {
            if (text[place] == ',') {
                NEXT_OR_FAIL();
                goto value_here;
            }
            if (text[place] == ']') { goto close; }
        }
        return false;

    key_here:
        if (text[place] != '"' || !string_end(text, place, *p, end)) { return false; }
        if (depth == 1 && end - place >= 13) { note_key(text + place + 1, end - place - 2, line); }
        NEXT_OR_FAIL();
        if (text[place] != ':') { return false; }
        NEXT_OR_FAIL();
        goto value_here;

    close:
        end = place + 1;
        --depth;
        goto after;
#undef NEXT_OR_FAIL
    }

    /// Every CloudEvents object has this member. An escaped spelling of it is longer.
    static void note_key(const uint8_t *key, uint32_t length, csimdjson_line &line) {
        if (length == 11 ? std::memcmp(key, "specversion", 11) == 0 : length >= 16 && std::memchr(key, '\\', length)) {
            line.kind = csimdjson_line_maybe_event;
        }
    }

    /// A line of a piece that stage 1 has refused.
    void scan_alone(const uint8_t *text, uint32_t start, uint32_t end, uint32_t max_depth, csimdjson_line &line) {
        bool has_escapes = false;
        csimdjson_line found = {0, 0, csimdjson_line_value, false, 0};
        if (find_places(text + start, end - start) && !csimdjson::wrong_escape(text + start, end - start, has_escapes)) {
            const uint32_t *p = stage->structural_indexes.get();
            if (walk(text + start, end - start, p, max_depth, found)) {
                line = {start + found.start, start + found.end, found.kind, false, line.number};
            }
        }
    }

    /// Scans whole lines from `start` to `stop`. False where there is no memory.
    bool scan_piece(const uint8_t *text, uint32_t start, uint32_t stop, uint32_t max_depth, uint32_t &number) {
        // Everything below counts from the piece's first byte.
        const uint8_t *const piece = text + start;
        const uint32_t length = stop - start;
        bool has_escapes = false;
        const bool is_clean = find_places(piece, length) && !csimdjson::wrong_escape(piece, length, has_escapes);
        const uint32_t *p = stage->structural_indexes.get();
        uint32_t first = 0;
        while (first < length) {
            const auto *found = static_cast<const uint8_t *>(std::memchr(piece + first, '\n', length - first));
            const uint32_t end = found ? uint32_t(found - piece) : length;
            csimdjson_line line = {first, end, csimdjson_line_bad, false, number};
            bool is_there;
            if (is_clean) {
                is_there = *p < end;
                if (is_there) {
                    csimdjson_line good = {first, end, csimdjson_line_value, false, number};
                    if (walk(piece, end, p, max_depth, good)) {
                        line = good;
                    } else {
                        // It may have looked at places of the next line.
                        while (p > stage->structural_indexes.get() && p[-1] >= end) { --p; }
                        while (*p < end) { ++p; }
                    }
                }
            } else {
                uint32_t blank = first;
                while (blank < end && is_blank(piece[blank])) { ++blank; }
                is_there = blank < end;
                if (is_there) { scan_alone(piece, first, end, max_depth, line); }
            }
            if (is_there) {
                line.is_followed = found && line.end == end;
                line.start += start;
                line.end += start;
                if (!append(line)) { return false; }
            }
            if (found) { ++number; }
            first = end + 1;
        }
        return true;
    }
};

extern "C" {

csimdjson_lines *csimdjson_lines_make(void) { return new (std::nothrow) csimdjson_lines; }

void csimdjson_lines_free(csimdjson_lines *scanner) { delete scanner; }

csimdjson_status csimdjson_lines_scan(
    csimdjson_lines *scanner, const char *bytes, size_t length, uint32_t max_depth, const csimdjson_line **lines,
    size_t *count, size_t *feeds) {
    scanner->count = 0;
    *lines = nullptr;
    *count = 0;
    *feeds = 0;
    if (length == 0) { return csimdjson_ok; }
    if (length >= simdjson::SIMDJSON_MAXSIZE_BYTES) { return csimdjson_too_large; }
    if (max_depth > depth_bound) { max_depth = depth_bound; }
    const auto *text = reinterpret_cast<const uint8_t *>(bytes);

    uint32_t start = 0, number = 0;
    while (start < length) {
        // A piece of whole lines that stays in the nearest cache while it is looked at several times.
        size_t stop = length;
        if (length - start > piece_size) {
            const void *found = memrchr(text + start, '\n', piece_size);
            if (!found) { found = std::memchr(text + start + piece_size, '\n', length - start - piece_size); }
            if (found) { stop = size_t(static_cast<const uint8_t *>(found) - text) + 1; }
        }
        if (!scanner->reserve_stage(stop - start)) { return csimdjson_no_memory; }
        if (!scanner->scan_piece(text, start, uint32_t(stop), max_depth, number)) { return csimdjson_no_memory; }
        start = uint32_t(stop);
    }
    *feeds = number;
    *lines = scanner->lines;
    *count = scanner->count;
    return csimdjson_ok;
}

}  // extern "C"
