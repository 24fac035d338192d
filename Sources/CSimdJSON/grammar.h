// feedbus: the parts of the JSON grammar that several scanners share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace csimdjson {

inline bool is_blank(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool is_digit(uint8_t c) { return uint8_t(c - '0') < 10; }
inline bool is_hex(uint8_t c) { return is_digit(c) || uint8_t((c | 0x20) - 'a') < 6; }

/// Checks every escape of the text: returns the first that is wrong, or null. A backslash outside a string is refused by
/// the grammar, so strings do not matter here.
/// - Parameter has_escapes: set to true where there is any.
inline const uint8_t *wrong_escape(const uint8_t *text, size_t length, bool &has_escapes) {
    const uint8_t *p = text, *const end = text + length;
    while (p < end) {
        if (*p != '\\') {
            p = static_cast<const uint8_t *>(std::memchr(p, '\\', size_t(end - p)));
            if (!p) { break; }
        }
        has_escapes = true;
        const size_t left = size_t(end - p);
        bool good = false;
        size_t size = 2;
        if (left >= 2) {
            switch (p[1]) {
            case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': good = true; break;
            case 'u':
                size = 6;
                good = left >= 6 && is_hex(p[2]) && is_hex(p[3]) && is_hex(p[4]) && is_hex(p[5]);
                break;
            default: break;
            }
        }
        if (!good) { return p; }
        p += size;
    }
    return nullptr;
}

/// The end of the number at `p`, or null. Looks at no byte from `end` on.
inline const uint8_t *number_end(const uint8_t *p, const uint8_t *end) {
    if (*p == '-' && ++p == end) { return nullptr; }
    if (*p == '0') {
        ++p;
    } else if (is_digit(*p)) {
        do { ++p; } while (p < end && is_digit(*p));
    } else {
        return nullptr;
    }
    if (p < end && *p == '.') {
        if (++p == end || !is_digit(*p)) { return nullptr; }
        do { ++p; } while (p < end && is_digit(*p));
    }
    if (p < end && (*p | 0x20) == 'e') {
        if (++p < end && (*p == '+' || *p == '-')) { ++p; }
        if (p == end || !is_digit(*p)) { return nullptr; }
        do { ++p; } while (p < end && is_digit(*p));
    }
    return p;
}

}  // namespace csimdjson
