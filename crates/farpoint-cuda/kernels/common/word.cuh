// Words of 16 bytes that other blocks read while they are written.
//
// Each is written and read by one relaxed `.b128` access with a scope: a scalar, which is never torn. Most carry the
// number of an exchange, so that a reader can tell one that has arrived from one that has not, without fences or flags.
#pragma once
#include "common/guard.cuh"

struct alignas(16) Word {
    u32 a, b, c, epoch;
};

__device__ __forceinline__ void store_word(Word* at, const Word& word) {
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "mov.b128 word, {%1, %2};\n\t"
                 "st.relaxed." SCOPE ".global.b128 [%0], word;\n\t}" ::"l"(at),
                 "l"((u64)word.b << 32 | word.a), "l"((u64)word.epoch << 32 | word.c)
                 : "memory");
}

__device__ __forceinline__ Word load_word(const Word* at) {
    u64 low, high;
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "ld.relaxed." SCOPE ".global.b128 word, [%2];\n\t"
                 "mov.b128 {%0, %1}, word;\n\t}"
                 : "=l"(low), "=l"(high)
                 : "l"(at)
                 : "memory");
    return {(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)};
}
