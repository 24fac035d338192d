// feedbus: finds values by their paths in a text that is known to be valid, and skips everything else.
//
// A document is not built: keys on the way are compared, strings and whole containers are skipped by blocks of bytes.

#include "csimdjson.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINED static inline __attribute__((always_inline))

namespace {

constexpr uint32_t none = UINT32_MAX;

struct node;

struct child {
    std::string token;
    uint32_t array_index;
    uint32_t node;
};

/// A place that is wanted, or that lies on the way to one.
struct node {
    std::vector<child> children;
    uint32_t parent = 0;
    /// The number of the value here; none: it is only on the way.
    uint32_t slot = none;
    /// Wanted values here and below.
    uint32_t wanted = 0;
    /// The largest array index among the children, plus one.
    uint32_t array_end = 0;
};

}  // namespace

struct csimdjson_finder {
    std::vector<node> nodes = std::vector<node>(1);
    uint32_t slots = 0;
    uint32_t depth = 0;
};

namespace {

/// A container on the way.
struct frame {
    uint32_t node;
    /// Where it begins.
    uint32_t start;
    /// Wanted values below it that have not been decided.
    uint32_t left;
    /// The number of the next element; not used in objects.
    uint32_t index;
    bool is_object;
    /// Something outside this container, behind it, is wanted, or its own end is.
    bool end_matters;
};

namespace plain {
#define FINDER_AVX2 0
#include "finder_walk.h"
#undef FINDER_AVX2

void walk_text(
    const csimdjson_finder &finder, const uint8_t *text, size_t length, csimdjson_span *spans, frame *frames,
    uint8_t *seen) {
    walk(finder, text, length, spans, frames, seen);
}
}  // namespace plain

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,pclmul"))), apply_to = function)
namespace haswell {
#define FINDER_AVX2 1
#include "finder_walk.h"
#undef FINDER_AVX2

void walk_text(
    const csimdjson_finder &finder, const uint8_t *text, size_t length, csimdjson_span *spans, frame *frames,
    uint8_t *seen) {
    walk(finder, text, length, spans, frames, seen);
}
}  // namespace haswell
#pragma clang attribute pop
#endif

using walker = void (*)(
    const csimdjson_finder &, const uint8_t *, size_t, csimdjson_span *, frame *, uint8_t *);

walker choose() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")
        && __builtin_cpu_supports("pclmul")) {
        return haswell::walk_text;
    }
#endif
    return plain::walk_text;
}

uint32_t hex(const uint8_t *digits) {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        const uint8_t c = digits[i];
        value = value << 4 | uint32_t(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

/// Decodes the escape at `p` and moves behind it; returns how many bytes of UTF-8 it wrote, 1 to 4.
size_t decode_escape(const uint8_t *&p, const uint8_t *end, uint8_t *out) {
    if (end - p < 2) {
        p = end;
        out[0] = '\\';
        return 1;
    }
    const uint8_t kind = p[1];
    if (kind != 'u' || end - p < 6) {
        p += 2;
        switch (kind) {
        case 'b': out[0] = '\b'; break;
        case 'f': out[0] = '\f'; break;
        case 'n': out[0] = '\n'; break;
        case 'r': out[0] = '\r'; break;
        case 't': out[0] = '\t'; break;
        default: out[0] = kind; break;
        }
        return 1;
    }
    uint32_t scalar = hex(p + 2);
    p += 6;
    if (scalar >= 0xD800 && scalar < 0xE000) {
        uint32_t low = 0;
        if (scalar < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') { low = hex(p + 2); }
        if (low >= 0xDC00 && low < 0xE000) {
            p += 6;
            scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00);
        } else {
            scalar = 0xFFFD;
        }
    }
    if (scalar < 0x80) {
        out[0] = uint8_t(scalar);
        return 1;
    }
    if (scalar < 0x800) {
        out[0] = uint8_t(0xC0 | scalar >> 6);
        out[1] = uint8_t(0x80 | (scalar & 0x3F));
        return 2;
    }
    if (scalar < 0x10000) {
        out[0] = uint8_t(0xE0 | scalar >> 12);
        out[1] = uint8_t(0x80 | (scalar >> 6 & 0x3F));
        out[2] = uint8_t(0x80 | (scalar & 0x3F));
        return 3;
    }
    out[0] = uint8_t(0xF0 | scalar >> 18);
    out[1] = uint8_t(0x80 | (scalar >> 12 & 0x3F));
    out[2] = uint8_t(0x80 | (scalar >> 6 & 0x3F));
    out[3] = uint8_t(0x80 | (scalar & 0x3F));
    return 4;
}

}  // namespace

extern "C" {

csimdjson_finder *csimdjson_finder_make(void) { return new (std::nothrow) csimdjson_finder; }

void csimdjson_finder_free(csimdjson_finder *finder) { delete finder; }

uint32_t csimdjson_finder_step(
    csimdjson_finder *finder, uint32_t place, const char *token, size_t length, uint32_t array_index) {
    for (const child &c : finder->nodes[place].children) {
        if (c.token.size() == length && csimdjson_equal(c.token.data(), token, length)) { return c.node; }
    }
    try {
        const auto added = uint32_t(finder->nodes.size());
        finder->nodes.emplace_back();
        finder->nodes[added].parent = place;
        node &here = finder->nodes[place];
        here.children.push_back({std::string(token ? token : "", length), array_index, added});
        if (array_index != none && array_index >= here.array_end) { here.array_end = array_index + 1; }
        uint32_t depth = 0;
        for (uint32_t at = added; at != 0; at = finder->nodes[at].parent) { ++depth; }
        if (depth > finder->depth) { finder->depth = depth; }
        return added;
    } catch (const std::bad_alloc &) {
        return none;
    }
}

uint32_t csimdjson_finder_want(csimdjson_finder *finder, uint32_t place) {
    node &here = finder->nodes[place];
    if (here.slot == none) {
        here.slot = finder->slots++;
        for (uint32_t at = place;; at = finder->nodes[at].parent) {
            ++finder->nodes[at].wanted;
            if (at == 0) { break; }
        }
    }
    return here.slot;
}

void csimdjson_find(const csimdjson_finder *finder, const char *text, size_t length, csimdjson_span *spans) {
    static const walker chosen = choose();
    std::memset(spans, 0, finder->slots * sizeof(csimdjson_span));
    if (finder->slots == 0 || length == 0 || length > UINT32_MAX) { return; }
    constexpr size_t few_nodes = 128, few_frames = 32;
    const size_t nodes = finder->nodes.size();
    uint8_t seen_here[few_nodes];
    frame frames_here[few_frames];
    uint8_t *seen = seen_here;
    frame *frames = frames_here;
    std::unique_ptr<uint8_t[]> more_seen;
    std::unique_ptr<frame[]> more_frames;
    if (nodes > few_nodes) {
        more_seen.reset(new uint8_t[nodes]);
        seen = more_seen.get();
    }
    if (finder->depth > few_frames) {
        more_frames.reset(new frame[finder->depth]);
        frames = more_frames.get();
    }
    std::memset(seen, 0, nodes);
    chosen(*finder, reinterpret_cast<const uint8_t *>(text), length, spans, frames, seen);
}

size_t csimdjson_decode_string(const char *content, size_t length, char *target) {
    const auto *p = reinterpret_cast<const uint8_t *>(content), *const end = p + length;
    auto *const first = reinterpret_cast<uint8_t *>(target), *out = first;
    while (p < end) {
        if (*p == '\\') {
            out += decode_escape(p, end, out);
        } else {
            *out++ = *p++;
        }
    }
    return size_t(out - first);
}

int csimdjson_compare_string(
    const char *content, size_t length, const char *wanted, size_t wanted_length, bool prefix) {
    const auto *p = reinterpret_cast<const uint8_t *>(content), *const end = p + length;
    const auto *w = reinterpret_cast<const uint8_t *>(wanted), *const wanted_end = w + wanted_length;
    while (p < end && w < wanted_end) {
        uint8_t decoded[4];
        size_t count = 1;
        if (*p == '\\') {
            count = decode_escape(p, end, decoded);
        } else {
            decoded[0] = *p++;
        }
        for (size_t i = 0; i < count; ++i) {
            if (w == wanted_end) { return prefix ? 0 : 1; }
            if (decoded[i] != *w) { return decoded[i] < *w ? -1 : 1; }
            ++w;
        }
    }
    if (w < wanted_end) { return -1; }
    return p < end && !prefix ? 1 : 0;
}

}  // extern "C"
