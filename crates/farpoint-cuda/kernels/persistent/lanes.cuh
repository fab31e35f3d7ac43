// Reductions over the lanes of a warp. All lanes take part in each of them.
#pragma once
#include "common/common.cuh"

// Signed integers that sort as the distances they are made from: no number of ours below 0 is
// ever compared with another but -1, "nothing left".
#ifdef FARPOINT_F64
typedef i64 key;
#else
typedef int key;
#endif

__device__ __forceinline__ key to_key(real value) { return (key)to_bits(value); }
__device__ __forceinline__ real from_key(key value) { return from_bits((bits)value); }

constexpr key LOWEST = (key)((bits)1 << (8 * sizeof(bits) - 1));

// One instruction each, where `b < a ? b : a` takes two. No operand is NaN or -0.
__device__ __forceinline__ real least(real a, real b) {
#ifdef FARPOINT_F64
    return fmin(a, b);
#else
    return fminf(a, b);
#endif
}

__device__ __forceinline__ real most(real a, real b) {
#ifdef FARPOINT_F64
    return fmax(a, b);
#else
    return fmaxf(a, b);
#endif
}

// The same key, of unknown origin, so that the compiler keeps it instead of computing it each time.
__device__ __forceinline__ key kept(key value) {
#ifdef FARPOINT_F64
    asm volatile("" : "+l"(value));
#else
    asm volatile("" : "+r"(value));
#endif
    return value;
}

__device__ __forceinline__ u32 lane_id() { return threadIdx.x & 31u; }

__device__ __forceinline__ u32 warp_min(u32 mine) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(FULL, mine);
#else
    for (int step = 16; step > 0; step >>= 1) {
        u32 other = __shfl_xor_sync(FULL, mine, step);
        mine = other < mine ? other : mine;
    }
    return mine;
#endif
}

__device__ __forceinline__ key warp_max(key mine) {
#if __CUDA_ARCH__ >= 800
#ifdef FARPOINT_F64
    int high = __reduce_max_sync(FULL, (int)(mine >> 32));
    u32 low = __reduce_max_sync(FULL, (int)(mine >> 32) == high ? (u32)mine : 0u);
    return ((i64)high << 32) | low;
#else
    return __reduce_max_sync(FULL, mine);
#endif
#else
    for (int step = 16; step > 0; step >>= 1) {
        key other = __shfl_xor_sync(FULL, mine, step);
        mine = other > mine ? other : mine;
    }
    return mine;
#endif
}

__device__ __forceinline__ u32 highest_lane(u32 lanes) {
    u32 lane;
    asm("bfind.u32 %0, %1;" : "=r"(lane) : "r"(lanes));
    return lane;
}

__device__ __forceinline__ bool several(u32 lanes) { return (lanes & (lanes - 1u)) != 0; }

// The lane whose candidate is first, when several may share the largest key.
__device__ __forceinline__ u32 lane_of_first(key mine, key top, u32 index) {
    u32 lowest = warp_min(mine == top ? index : NONE);
    return highest_lane(__ballot_sync(FULL, mine == top && index == lowest));
}
