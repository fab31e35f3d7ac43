// What the lanes of a warp find out together.
#pragma once
#include "common/common.cuh"

// The largest value, given by its bits.
__device__ __forceinline__ bits warp_largest(bits value) {
#if !defined(FARPOINT_F64) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL, value);
#else
    for (int step = 16; step > 0; step >>= 1) {
        bits other = __shfl_xor_sync(FULL, value, step);
        value = other > value ? other : value;
    }
    return value;
#endif
}

// The smallest of numbers that are not negative.
__device__ __forceinline__ real warp_smallest(real value) {
#if !defined(FARPOINT_F64) && __CUDA_ARCH__ >= 800
    return from_bits(__reduce_min_sync(FULL, to_bits(value)));
#else
    for (int step = 16; step > 0; step >>= 1) value = smaller(value, __shfl_xor_sync(FULL, value, step));
    return value;
#endif
}

__device__ __forceinline__ u32 warp_least(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(FULL, value);
#else
    for (int step = 16; step > 0; step >>= 1) value = min(value, __shfl_xor_sync(FULL, value, step));
    return value;
#endif
}

// The first of the lanes' candidates: the largest value's, and among equals the least row's.
struct FirstLane {
    bits value;
    u32 row;
    u32 lane;
};

__device__ __forceinline__ FirstLane warp_first(bits value, u32 row) {
    bits top = warp_largest(value);
    u32 least = warp_least(value == top ? row : NONE);
    return {top, least, (u32)__ffs(__ballot_sync(FULL, value == top && row == least)) - 1};
}

// All bits that any lane has.
__device__ __forceinline__ u32 warp_or(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(FULL, value);
#else
    for (int step = 16; step > 0; step >>= 1) value |= __shfl_xor_sync(FULL, value, step);
    return value;
#endif
}

// The sum of the values of the lanes up to this one.
__device__ __forceinline__ u32 warp_sum_to(u32 value) {
    u32 lane = threadIdx.x & 31;
    for (u32 step = 1; step < 32; step <<= 1) {
        u32 other = __shfl_up_sync(FULL, value, step);
        if (lane >= step) value += other;
    }
    return value;
}

// This lane, asked for anew each time: what follows from it is not kept in registers through loops.
__device__ __forceinline__ u32 lane_here() {
    u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// The lanes' values in ascending order (bitonic sort). Of equal ones it does not matter which is which.
template <typename Value>
__device__ __forceinline__ Value sort_lanes(Value value) {
    u32 lane = lane_here();
#pragma unroll
    for (u32 run = 2; run <= 32; run <<= 1) {
#pragma unroll
        for (u32 step = run >> 1; step > 0; step >>= 1) {
            Value other = __shfl_xor_sync(FULL, value, step);
            bool keep_less = ((lane & run) == 0) == ((lane & step) == 0);
            value = (other < value) == keep_less ? other : value;
        }
    }
    return value;
}
