// feedbus: the walk of the finder over a text. Compiled once for any processor and once, with FINDER_AVX2, for those that
// have AVX2 and carry-less multiplication; so it has no guard.

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

#if FINDER_AVX2
    INLINED uint64_t equal(__m256i low, __m256i high, char wanted) {
        const __m256i all = _mm256_set1_epi8(wanted);
        return uint64_t(uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all))))
            | uint64_t(uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all)))) << 32;
    }

    INLINED block load(const uint8_t *p) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p + 32));
        // "[" and "{" differ in this bit alone, and so do "]" and "}"; no other token has these bytes.
        const __m256i bit = _mm256_set1_epi8(0x20);
        const __m256i low_merged = _mm256_or_si256(low, bit), high_merged = _mm256_or_si256(high, bit);
        return {
            equal(low, high, '"'), equal(low, high, '\\'), equal(low_merged, high_merged, '{'),
            equal(low_merged, high_merged, '}')};
    }
#else
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
#endif
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
#if FINDER_AVX2
    return uint64_t(_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_set_epi64x(0, int64_t(bits)), _mm_set1_epi8(char(0xFF)), 0)));
#else
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    return bits;
#endif
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
