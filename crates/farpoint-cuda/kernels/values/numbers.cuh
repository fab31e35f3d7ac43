// Numbers of the types of values, alone and in units of 16 bytes. Halves are computed with as f32, and
// rounded to nearest even when they are stored.
#pragma once
#include "common/common.cuh"

struct Half { unsigned short bits; };
struct Bfloat { unsigned short bits; };

__device__ __forceinline__ real widen(real value) { return value; }
template <typename V> __device__ __forceinline__ V narrow(real value);
template <> __device__ __forceinline__ real narrow<real>(real value) { return value; }

#ifndef FARPOINT_F64
__device__ __forceinline__ float widen(Half value) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
}

__device__ __forceinline__ float widen(Bfloat value) { return __uint_as_float((u32)value.bits << 16); }

template <> __device__ __forceinline__ Half narrow<Half>(float value) {
    Half half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
}

// The instruction for it is of 8.0 and later only.
template <> __device__ __forceinline__ Bfloat narrow<Bfloat>(float value) {
    u32 bits = __float_as_uint(value);
    u32 rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return {(unsigned short)(value == value ? rounded : 0x7fc0)};
}
#endif

// Numbers of a unit.
template <typename V> constexpr u32 PER_UNIT = 16 / sizeof(V);

// `N` numbers: a unit, or one.
template <typename V, u32 N>
struct Numbers {
    union {
        uint4 unit;
        V at[N];
    };

    __device__ __forceinline__ Numbers() : unit(make_uint4(0, 0, 0, 0)) {}
};

template <typename V>
struct Numbers<V, 1> {
    V at[1];

    __device__ __forceinline__ Numbers() : at{} {}
};

// How memory is read, also after it was written: once, so that it need not stay in caches, or again.
enum Reads { ONCE, AGAIN };

template <Reads READS, typename V, u32 N>
__device__ __forceinline__ Numbers<V, N> load(const V* from) {
    Numbers<V, N> numbers;
    if constexpr (N == 1) {
        numbers.at[0] = *from;
    } else if constexpr (READS == ONCE) {
        numbers.unit = __ldcs((const uint4*)from);
    } else {
        numbers.unit = __ldg((const uint4*)from);
    }
    return numbers;
}

// Rounds numbers and stores them, by default so that caches keep them.
template <typename V, u32 N, Reads LATER = AGAIN>
__device__ __forceinline__ void store(V* to, const real (&values)[N]) {
    Numbers<V, N> numbers;
#pragma unroll
    for (u32 n = 0; n < N; ++n) numbers.at[n] = narrow<V>(values[n]);
    if constexpr (N == 1) {
        *to = numbers.at[0];
    } else if constexpr (LATER == ONCE) {
        __stcs((uint4*)to, numbers.unit);
    } else {
        *(uint4*)to = numbers.unit;
    }
}
