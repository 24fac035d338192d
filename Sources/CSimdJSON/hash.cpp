// feedbus: a fast hash that is the same in every run and on every machine.
//
// The construction of wyhash (public domain, https://github.com/wangyi-fudan/wyhash): 64 x 64 -> 128 bit products whose
// halves are folded, in three independent lanes.

#include "csimdjson.h"

#include <cstring>

namespace {

constexpr uint64_t secret[] = {0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3};

inline uint64_t read8(const uint8_t *p) {
    uint64_t value;
    std::memcpy(&value, p, 8);
    return value;  // every supported machine is little-endian
}

inline uint64_t mixed(uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return uint64_t(product) ^ uint64_t(product >> 64);
}

}  // namespace

namespace {

inline uint64_t turned(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

struct sip {
    uint64_t v0, v1, v2, v3;

    sip(uint64_t key0, uint64_t key1)
        : v0(key0 ^ 0x736F6D6570736575), v1(key1 ^ 0x646F72616E646F6D ^ 0xEE), v2(key0 ^ 0x6C7967656E657261),
          v3(key1 ^ 0x7465646279746573) {}

    void round() {
        v0 += v1; v1 = turned(v1, 13); v1 ^= v0; v0 = turned(v0, 32);
        v2 += v3; v3 = turned(v3, 16); v3 ^= v2;
        v0 += v3; v3 = turned(v3, 21); v3 ^= v0;
        v2 += v1; v1 = turned(v1, 17); v1 ^= v2; v2 = turned(v2, 32);
    }
    void take(uint64_t word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    }
    uint64_t end() {
        for (int i = 0; i < 4; ++i) { round(); }
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

}  // namespace

extern "C" {

void csimdjson_keyed_hash(const uint64_t key[2], const void *bytes, size_t length, uint64_t result[2]) {
    const auto *p = static_cast<const uint8_t *>(bytes);
    sip state(key[0], key[1]);
    size_t left = length;
    for (; left >= 8; p += 8, left -= 8) { state.take(read8(p)); }
    uint8_t last[8] = {0, 0, 0, 0, 0, 0, 0, uint8_t(length)};
    for (size_t i = 0; i < left; ++i) { last[i] = p[i]; }
    state.take(read8(last));
    state.v2 ^= 0xEE;
    result[0] = state.end();
    state.v1 ^= 0xDD;
    result[1] = state.end();
}

uint64_t csimdjson_hash(const void *bytes, size_t length, uint64_t seed) {
    const auto *p = static_cast<const uint8_t *>(bytes);
    seed = mixed(seed ^ secret[0], secret[1]);
    size_t left = length;
    if (left >= 48) {
        uint64_t lane1 = seed, lane2 = seed;
        do {
            seed = mixed(read8(p) ^ secret[1], read8(p + 8) ^ seed);
            lane1 = mixed(read8(p + 16) ^ secret[2], read8(p + 24) ^ lane1);
            lane2 = mixed(read8(p + 32) ^ secret[3], read8(p + 40) ^ lane2);
            p += 48;
            left -= 48;
        } while (left >= 48);
        seed ^= lane1 ^ lane2;
    }
    while (left >= 16) {
        seed = mixed(read8(p) ^ secret[1], read8(p + 8) ^ seed);
        p += 16;
        left -= 16;
    }
    uint8_t last[16] = {};
    for (size_t i = 0; i < left; ++i) { last[i] = p[i]; }
    return mixed(secret[1] ^ length, mixed(read8(last) ^ secret[1], read8(last + 8) ^ seed));
}

void csimdjson_write_ids(
    const char *text, const csimdjson_span *spans, size_t count, uint64_t position, char *target) {
    for (size_t i = 0; i < count; ++i) {
        const csimdjson_span span = spans[i];
        csimdjson_write_hex(csimdjson_hash(text + span.start, span.end - span.start, position + span.start), target + 16 * i);
    }
}

void csimdjson_write_hex(uint64_t value, char *target) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; ++i) { target[i] = digits[(value >> (60 - 4 * i)) & 15]; }
}

}  // extern "C"
