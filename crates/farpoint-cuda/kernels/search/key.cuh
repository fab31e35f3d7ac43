// Candidates as numbers that sort as they do, one a lane.
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
    __device__ __forceinline__ Key of_lane(u32 lane) const {
#ifdef FARPOINT_F64
        return {__shfl_sync(FULL, high, lane), __shfl_sync(FULL, low, lane)};
#else
        return {__shfl_sync(FULL, word, lane)};
#endif
    }
    __device__ __forceinline__ Key of_lane_below() const {
#ifdef FARPOINT_F64
        return {__shfl_up_sync(FULL, high, 1), __shfl_up_sync(FULL, low, 1)};
#else
        return {__shfl_up_sync(FULL, word, 1)};
#endif
    }
    __device__ __forceinline__ Key across(u32 step) const {
#ifdef FARPOINT_F64
        return {__shfl_xor_sync(FULL, high, step), __shfl_xor_sync(FULL, low, step)};
#else
        return {__shfl_xor_sync(FULL, word, step)};
#endif
    }
};

__device__ __forceinline__ Key lesser(const Key& a, const Key& b) { return b < a ? b : a; }

// The lanes' keys in ascending order, of a bitonic sequence.
__device__ __forceinline__ Key merge_keys(Key key) {
    u32 lane = threadIdx.x & 31;
#pragma unroll
    for (u32 step = 16; step > 0; step >>= 1) {
        Key other = key.across(step);
        key = (other < key) == ((lane & step) == 0) ? other : key;
    }
    return key;
}

// The lanes' keys in ascending order.
__device__ __forceinline__ Key sort_keys(Key key) {
    u32 lane = threadIdx.x & 31;
#pragma unroll
    for (u32 run = 2; run <= 32; run <<= 1) {
#pragma unroll
        for (u32 step = run >> 1; step > 0; step >>= 1) {
            Key other = key.across(step);
            bool keep_less = ((lane & run) == 0) == ((lane & step) == 0);
            key = (other < key) == keep_less ? other : key;
        }
    }
    return key;
}
