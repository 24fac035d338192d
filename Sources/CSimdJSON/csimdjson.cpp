// feedbus: RFC 8259 over simdjson's first stage.
//
// simdjson's own document builder converts numbers and unescapes strings, and so refuses texts that the RFC allows
// (`1e400`, integers of any length, lone surrogate escapes). Here its vectorised first stage finds the structural bytes
// and checks UTF-8, string ends and control characters; the grammar is checked on top of it, and nothing is converted.

#include "csimdjson.h"
#include "grammar.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <simdjson.h>
#include <string>

namespace {

using csimdjson::is_blank;
using csimdjson::number_end;
using entry = csimdjson_entry;

constexpr uint32_t depth_bound = 1024;
/// Scratch memory for larger texts is given back at once.
constexpr size_t kept_capacity = size_t(4) << 20;
constexpr size_t first_capacity = size_t(64) << 10;

struct frame {
    uint32_t open;   // index of the opening entry
    uint32_t count;  // elements or members so far
    bool is_object;
};

struct scratch {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
    entry *tape = nullptr;
    size_t tape_capacity = 0;
    frame frames[1 + depth_bound];  // the first one stands for the outside

    ~scratch() { std::free(tape); }

    bool reserve_stage(size_t length) {
        if (stage && stage->capacity() >= length) { return true; }
        size_t capacity = first_capacity;
        while (capacity < length && capacity < kept_capacity) { capacity *= 2; }
        if (capacity < length) { capacity = length; }
        stage.reset();
        return simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, stage)
            == simdjson::SUCCESS;
    }

    bool reserve_tape(size_t count) {
        if (tape_capacity >= count) { return true; }
        size_t capacity = count + count / 2;
        std::free(tape);
        tape = static_cast<entry *>(std::malloc(capacity * sizeof(entry)));
        tape_capacity = tape ? capacity : 0;
        return tape != nullptr;
    }

    /// Gives the caller a tape of its own: a copy, or the scratch memory itself where that is too large to keep.
    bool hand_over(size_t length, csimdjson_result &result) {
        const size_t size = result.count * sizeof(entry);
        if (length > kept_capacity) {
            void *smaller = std::realloc(tape, size);
            result.tape = smaller ? static_cast<entry *>(smaller) : tape;
            tape = nullptr;
            tape_capacity = 0;
            return true;
        }
        result.tape = static_cast<entry *>(std::malloc(size));
        if (result.tape) { std::memcpy(result.tape, tape, size); }
        return result.tape != nullptr;
    }

    void trim(size_t length) {
        if (length <= kept_capacity) { return; }
        stage.reset();
        std::free(tape);
        tape = nullptr;
        tape_capacity = 0;
    }
};

// Used between two suspension points only, by the thread that calls.
thread_local scratch the_scratch;

/// The grammar: walks over the places that stage 1 found and writes the tape, which has room for `n` entries.
///
/// What stage 1 guarantees: between two of these places stands one token and then blanks only, where the token is a
/// structural character, a whole string, or a run of other bytes; a place may also be a control character that looks
/// like a structural one to it.
template <bool with_tape>
csimdjson_status walk(
    const uint8_t *text, size_t length, const uint32_t *places, uint32_t n, uint32_t max_depth, frame *frames,
    entry *tape, csimdjson_result &result) {
    entry *out = tape;
    const auto put = [&out](uint32_t start, uint32_t link) {
        if (with_tape) { *out++ = {start, link}; }
    };
    uint32_t i = 0, depth = 0;
    uint32_t place = 0, next = 0, end = 0;
    // The bytes of all tokens beyond their first: with the first ones they make up the whole text if it is compact.
    size_t more = 0;
    frame *top = frames;

#define ADVANCE_OR_FAIL() \
    do { \
        if (i >= n) { place = uint32_t(length); goto fail; } \
        place = places[i]; \
        next = i + 1 < n ? places[i + 1] : uint32_t(length); \
        ++i; \
    } while (false)

value:
    ADVANCE_OR_FAIL();
value_here:
    switch (text[place]) {
    case '"':
        end = next - 1;
        while (is_blank(text[end])) { --end; }
        if (end <= place || text[end] != '"') { goto fail; }
        ++end;
        break;
    case '{':
        if (depth == max_depth) { goto deep; }
        ++depth;
        *++top = {uint32_t(out - tape), 0, true};
        put(place, 0);
        ADVANCE_OR_FAIL();
        if (text[place] == '}') { goto close; }
        goto key_here;
    case '[':
        if (depth == max_depth) { goto deep; }
        ++depth;
        *++top = {uint32_t(out - tape), 0, false};
        put(place, 0);
        ADVANCE_OR_FAIL();
        if (text[place] == ']') { goto close; }
        goto value_here;
    case 't':
        if (next - place < 4 || std::memcmp(text + place, "true", 4) != 0) { goto fail; }
        end = place + 4;
        goto scalar;
    case 'f':
        if (next - place < 5 || std::memcmp(text + place, "false", 5) != 0) { goto fail; }
        end = place + 5;
        goto scalar;
    case 'n':
        if (next - place < 4 || std::memcmp(text + place, "null", 4) != 0) { goto fail; }
        end = place + 4;
        goto scalar;
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': {
        const uint8_t *stop = number_end(text + place, text + next);
        if (!stop) { goto fail; }
        end = uint32_t(stop - text);
        goto scalar;
    }
    default: goto fail;
    }
    put(place, end);
    more += end - place - 1;
    goto after;

scalar:
    if (end != next && !is_blank(text[end])) { place = end; goto fail; }
    put(place, end);
    more += end - place - 1;

after:
    if (depth == 0) {
        if (i < n) { place = places[i]; goto fail; }
        result.is_compact = more + n == length;
        result.count = uint32_t(out - tape);
        return csimdjson_ok;
    }
    ++top->count;
    ADVANCE_OR_FAIL();
    if (top->is_object) {
        if (text[place] == ',') { ADVANCE_OR_FAIL(); goto key_here; }
        if (text[place] == '}') { goto close; }
    } else {
        if (text[place] == ',') { goto value; }
        if (text[place] == ']') { goto close; }
    }
    goto fail;

key_here:
    if (text[place] != '"') { goto fail; }
    end = next - 1;
    while (is_blank(text[end])) { --end; }
    if (end <= place || text[end] != '"') { goto fail; }
    ++end;
    put(place, end);
    more += end - place - 1;
    ADVANCE_OR_FAIL();
    if (text[place] != ':') { goto fail; }
    goto value;

close:
    put(place, top->count);
    if (with_tape) { tape[top->open].link = uint32_t(out - tape); }
    --top;
    --depth;
    goto after;

deep:
    result.offset = place;
    return csimdjson_too_deep;

fail:
    result.offset = place;
    return csimdjson_invalid;
#undef ADVANCE_OR_FAIL
}

}  // namespace

extern "C" {

csimdjson_result csimdjson_parse(const char *bytes, size_t length, uint32_t max_depth, bool want_tape) {
    csimdjson_result result = {csimdjson_invalid, false, false, nullptr, 0, 0};
    if (length == 0) { return result; }
    if (length >= simdjson::SIMDJSON_MAXSIZE_BYTES) {
        result.status = csimdjson_too_large;
        return result;
    }
    const auto *text = reinterpret_cast<const uint8_t *>(bytes);
    scratch &own = the_scratch;
    result.status = csimdjson_no_memory;
    if (!own.reserve_stage(length)) { return result; }

    const simdjson::error_code code = own.stage->stage1(text, length, simdjson::stage1_mode::regular);
    if (code != simdjson::SUCCESS) {
        result.status = csimdjson_invalid;
    } else if (const uint8_t *wrong = csimdjson::wrong_escape(text, length, result.has_escapes)) {
        result.status = csimdjson_invalid;
        result.offset = size_t(wrong - text);
    } else {
        const uint32_t depth = max_depth < depth_bound ? max_depth : depth_bound;
        const uint32_t *places = own.stage->structural_indexes.get();
        const uint32_t n = own.stage->n_structural_indexes;
        if (!want_tape) {
            result.status = walk<false>(text, length, places, n, depth, own.frames, nullptr, result);
        } else if (own.reserve_tape(n)) {
            result.status = walk<true>(text, length, places, n, depth, own.frames, own.tape, result);
            if (result.status == csimdjson_ok && !own.hand_over(length, result)) { result.status = csimdjson_no_memory; }
        }
    }
    own.trim(length);
    return result;
}

void csimdjson_free(csimdjson_entry *tape) { std::free(tape); }

size_t csimdjson_minify(const char *text, size_t length, char *target) {
    size_t written = 0;
    const simdjson::error_code code = simdjson::minify(text, length, target, written);
    return code == simdjson::SUCCESS ? written : 0;
}

bool csimdjson_validate_utf8(const char *text, size_t length) { return simdjson::validate_utf8(text, length); }

const char *csimdjson_implementation(void) {
    static const std::string name = simdjson::get_active_implementation()->name();
    return name.c_str();
}

}  // extern "C"
