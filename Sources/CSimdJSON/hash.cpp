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

extern "C" {

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

void csimdjson_write_hex(uint64_t value, char *target) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; ++i) { target[i] = digits[(value >> (60 - 4 * i)) & 15]; }
}

}  // extern "C"
