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

#if defined(__SSE2__)
#include <emmintrin.h>
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

INLINED const uint8_t *skip_blanks(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p <= ' ') { ++p; }
    return p;
}

/// From behind the opening quotation mark to the closing one, or the end. Says whether there was an escape.
INLINED const uint8_t *string_end(const uint8_t *p, const uint8_t *end, bool &escaped) {
#if defined(__SSE2__)
    const __m128i quotes = _mm_set1_epi8('"'), backslashes = _mm_set1_epi8('\\');
    while (end - p >= 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
        const int found =
            _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes)));
        if (found == 0) {
            p += 16;
            continue;
        }
        p += __builtin_ctz(unsigned(found));
        if (*p == '"') { return p; }
        escaped = true;
        p += 2;
    }
#endif
    while (p < end) {
        if (*p == '"') { return p; }
        if (*p == '\\') {
            escaped = true;
            ++p;
        }
        ++p;
    }
    return end;
}

#if defined(__SSE2__)
/// 64 bytes as sets of places.
struct block {
    uint64_t quotes, backslashes, opening, closing;

    INLINED block load(const uint8_t *p) {
        block b = {0, 0, 0, 0};
        const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
        const __m128i bit = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
#pragma clang loop unroll(full)
        for (int i = 0; i < 4; ++i) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p + 16 * i));
            // "[" and "{" differ in this bit alone, and so do "]" and "}"; no other token has these bytes.
            const __m128i merged = _mm_or_si128(bytes, bit);
            b.quotes |= uint64_t(uint16_t(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)))) << (16 * i);
            b.backslashes |= uint64_t(uint16_t(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, backslash)))) << (16 * i);
            b.opening |= uint64_t(uint16_t(_mm_movemask_epi8(_mm_cmpeq_epi8(merged, open)))) << (16 * i);
            b.closing |= uint64_t(uint16_t(_mm_movemask_epi8(_mm_cmpeq_epi8(merged, close)))) << (16 * i);
        }
        return b;
    }
};

/// The places behind an odd number of backslashes (simdjson's way). `carry`: the first byte of the next block is one.
INLINED uint64_t escaped_places(uint64_t backslashes, uint64_t &carry) {
    backslashes &= ~carry;
    const uint64_t following = backslashes << 1 | carry;
    constexpr uint64_t even = 0x5555555555555555ULL;
    const uint64_t odd_starts = backslashes & ~even & ~following;
    unsigned long long sum;
    carry = __builtin_uaddll_overflow(odd_starts, backslashes, &sum) ? 1 : 0;
    return (even ^ (uint64_t(sum) << 1)) & following;
}

/// A bit is set where an odd number of bits is set up to there.
INLINED uint64_t running_xor(uint64_t bits) {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    return bits;
}
#endif

/// From inside a container, outside of strings, to behind its end.
INLINED const uint8_t *container_end(const uint8_t *p, const uint8_t *end) {
    uint64_t depth = 1;
    bool inside = false;
#if defined(__SSE2__)
    uint64_t carry = 0, string = 0;
    while (end - p >= 64) {
        const block b = block::load(p);
        uint64_t quotes = b.quotes;
        if (b.backslashes | carry) { quotes &= ~escaped_places(b.backslashes, carry); }
        const uint64_t strings = running_xor(quotes) ^ string;
        string = uint64_t(int64_t(strings) >> 63);
        const uint64_t opening = b.opening & ~strings;
        uint64_t closing = b.closing & ~strings;
        const uint64_t closed = uint64_t(__builtin_popcountll(closing));
        if (closed >= depth) {
            uint64_t number = 0;
            while (closing) {
                const uint64_t bit = closing & -closing;
                if (depth + uint64_t(__builtin_popcountll(opening & (bit - 1))) == ++number) {
                    return p + __builtin_ctzll(bit) + 1;
                }
                closing ^= bit;
            }
        }
        depth += uint64_t(__builtin_popcountll(opening)) - closed;
        p += 64;
    }
    inside = string != 0;
    if (carry) { ++p; }
#endif
    while (p < end) {
        const uint8_t c = *p++;
        if (c == '"') {
            inside = !inside;
        } else if (inside) {
            if (c == '\\') { ++p; }
        } else if ((c | 0x20) == '{') {
            ++depth;
        } else if ((c | 0x20) == '}' && --depth == 0) {
            return p;
        }
    }
    return end;
}

/// The end of the value that begins at `p`.
INLINED const uint8_t *value_end(const uint8_t *p, const uint8_t *end) {
    if (p >= end) { return end; }
    switch (*p) {
    case '"': {
        bool escaped = false;
        p = string_end(p + 1, end, escaped);
        return p < end ? p + 1 : end;
    }
    case '{':
    case '[': return container_end(p + 1, end);
    default:
        while (p < end && *p > ' ' && *p != ',' && *p != '}' && *p != ']') { ++p; }
        return p;
    }
}

const child *find_escaped_key(const node &here, const uint8_t *key, size_t length, const uint8_t *seen) {
    for (const child &c : here.children) {
        if (!seen[c.node]
            && csimdjson_compare_string(
                   reinterpret_cast<const char *>(key), length, c.token.data(), c.token.size(), false) == 0) {
            return &c;
        }
    }
    return nullptr;
}

INLINED void walk(
    const csimdjson_finder &finder, const uint8_t *const text, size_t length, csimdjson_span *spans, frame *frames,
    uint8_t *seen) {
    const uint8_t *const end = text + length;
    const uint8_t *p = skip_blanks(text, end);
    const node *const nodes = finder.nodes.data();
    uint32_t current = 0;
    frame *top = frames - 1;

value:
    // At the first byte of a value that is wanted or on the way.
    if (p >= end) { return; }
    {
        const node &here = nodes[current];
        const bool is_object = *p == '{';
        if (!here.children.empty() && (is_object || (*p == '[' && here.array_end > 0))) {
            const bool outer =
                top >= frames && (top->end_matters || top->left > here.wanted);
            *++top = {
                current, uint32_t(p - text), here.wanted - (here.slot != none), 0, is_object, outer || here.slot != none};
            ++p;
            goto part;
        }
        const uint8_t *const start = p;
        if (here.slot != none) {
            p = value_end(p, end);
            spans[here.slot] = {uint32_t(start - text), uint32_t(p - text)};
        } else if (top >= frames && (top->end_matters || top->left > here.wanted)) {
            p = value_end(p, end);
        }
        goto decided;
    }

decided:
    // Behind the value at `current`; all that was wanted in it is known.
    if (top < frames) { return; }
    top->left -= nodes[current].wanted;
    if (top->left == 0) {
        if (!top->end_matters) { return; }
        p = container_end(p, end);
        goto close;
    }

next:
    p = skip_blanks(p, end);
    if (p >= end) { return; }
    if (*p != ',') {
        ++p;
        goto close;
    }
    ++p;

part:
    // At a member or element, or at the end of an empty container.
    p = skip_blanks(p, end);
    if (p >= end) { return; }
    if (top->is_object) {
        if (*p != '"') {
            ++p;
            goto close;
        }
        const node &here = nodes[top->node];
        bool escaped = false;
        const uint8_t *const key = p + 1;
        p = string_end(key, end, escaped);
        if (p >= end) { return; }
        const size_t size = size_t(p - key);
        p = skip_blanks(p + 1, end);
        if (p >= end) { return; }
        p = skip_blanks(p + 1, end);
        const child *match = nullptr;
        if (__builtin_expect(escaped, false)) {
            match = find_escaped_key(here, key, size, seen);
        } else {
            for (const child &c : here.children) {
                if (c.token.size() == size && std::memcmp(c.token.data(), key, size) == 0) {
                    if (!seen[c.node]) { match = &c; }
                    break;
                }
            }
        }
        if (match) {
            current = match->node;
            seen[current] = 1;
            goto value;
        }
    } else {
        if (*p == ']') {
            ++p;
            goto close;
        }
        const node &here = nodes[top->node];
        const uint32_t index = top->index++;
        if (index >= here.array_end) {
            if (!top->end_matters) { return; }
            p = container_end(p, end);
            goto close;
        }
        for (const child &c : here.children) {
            if (c.array_index == index) {
                current = c.node;
                goto value;
            }
        }
    }
    p = value_end(p, end);
    goto next;

close:
    // Behind a container. What was wanted in it and was not seen is not there.
    current = top->node;
    if (nodes[current].slot != none) { spans[nodes[current].slot] = {top->start, uint32_t(p - text)}; }
    --top;
    goto decided;
}

void walk_plain(
    const csimdjson_finder &finder, const uint8_t *text, size_t length, csimdjson_span *spans, frame *frames,
    uint8_t *seen) {
    walk(finder, text, length, spans, frames, seen);
}

#if defined(__x86_64__)
/// The same with what every x86 processor since 2013 has, above all a machine instruction to count bits.
__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))) void walk_haswell(
    const csimdjson_finder &finder, const uint8_t *text, size_t length, csimdjson_span *spans, frame *frames,
    uint8_t *seen) {
    walk(finder, text, length, spans, frames, seen);
}
#endif

using walker = void (*)(
    const csimdjson_finder &, const uint8_t *, size_t, csimdjson_span *, frame *, uint8_t *);

walker choose() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")) {
        return walk_haswell;
    }
#endif
    return walk_plain;
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
