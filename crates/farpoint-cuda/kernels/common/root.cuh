// Square roots as the CPU rounds them, and what a value of a pair is made of.
#pragma once
#include "common/common.cuh"

__device__ __forceinline__ real root_of(real value) {
#ifdef FARPOINT_F64
    return __dsqrt_rn(value);
#else
    return __fsqrt_rn(value);
#endif
}

// How distances become a value; `farpoint::chamfer::Reduction`.
constexpr u32 MEAN = 0, SUM = 1, MAX = 2;

// Numbers of a pair from which the gradients of a maximum follow: each side's largest distance, then
// what the gradient of the value is divided by for those of each side.
constexpr u32 EXTREMES = 4;
