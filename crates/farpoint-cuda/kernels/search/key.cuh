// Candidates as numbers that sort as they do.
#pragma once
#include "common/common.cuh"

// Distance and row of a candidate as one number that sorts as they do: by distance and row, or by row.
struct Key {
#ifdef FARPOINT_F64
    u64 high, low;
#else
    u64 word;
#endif
    __device__ __forceinline__ static Key of(real distance, u32 row, bool by_index) {
#ifdef FARPOINT_F64
        return by_index ? Key{row, to_bits(distance)} : Key{to_bits(distance), row};
#else
        u64 d = to_bits(distance), r = row;
        return by_index ? Key{r << 32 | d} : Key{d << 32 | r};
#endif
    }
    // After all others.
    __device__ __forceinline__ static Key last() {
#ifdef FARPOINT_F64
        return {~0ull, ~0ull};
#else
        return {~0ull};
#endif
    }
    __device__ __forceinline__ bool operator<(const Key& other) const {
#ifdef FARPOINT_F64
        return high < other.high || (high == other.high && low < other.low);
#else
        return word < other.word;
#endif
    }
    __device__ __forceinline__ real distance(bool by_index) const {
#ifdef FARPOINT_F64
        return from_bits(by_index ? low : high);
#else
        return from_bits((u32)(by_index ? word : word >> 32));
#endif
    }
    __device__ __forceinline__ u32 row(bool by_index) const {
#ifdef FARPOINT_F64
        return (u32)(by_index ? high : low);
#else
        return (u32)(by_index ? word >> 32 : word);
#endif
    }
};
