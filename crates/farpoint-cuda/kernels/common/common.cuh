// What every kernel shares: the precision, the squared distance, the order of choice.
//
// Each .cu file is compiled twice by build.py: for f32, and with FARPOINT_F64 for f64.
// NVRTC compiles with --fmad=false: no multiplication and addition is ever fused, so that a
// distance has the same bits here as on the CPU.
#pragma once

#ifdef FARPOINT_F64
typedef double real;
typedef unsigned long long bits;
#define KERNEL(name) name##_f64
#else
typedef float real;
typedef unsigned int bits;
#define KERNEL(name) name##_f32
#endif

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

constexpr u32 FULL = 0xffffffffu;  // all lanes of a warp
constexpr u32 NONE = 0xffffffffu;  // no index

// Bits of a non-negative number; they sort as the number does.
__device__ __forceinline__ bits to_bits(real value) {
#ifdef FARPOINT_F64
    return (bits)__double_as_longlong(value);
#else
    return __float_as_uint(value);
#endif
}

__device__ __forceinline__ real from_bits(bits value) {
#ifdef FARPOINT_F64
    return __longlong_as_double((i64)value);
#else
    return __uint_as_float(value);
#endif
}

__device__ __forceinline__ real infinity() {
#ifdef FARPOINT_F64
    return from_bits(0x7ff0000000000000ull);
#else
    return from_bits(0x7f800000u);
#endif
}

__device__ __forceinline__ real not_a_number() {
#ifdef FARPOINT_F64
    return from_bits(0x7ff8000000000000ull);
#else
    return from_bits(0x7fc00000u);
#endif
}

// NaN and infinity.
__device__ __forceinline__ bool is_bad(real value) { return !(value - value == (real)0); }

// Of numbers that are not NaN.
#ifdef FARPOINT_F64
__device__ __forceinline__ real smaller(real a, real b) { return b < a ? b : a; }
__device__ __forceinline__ real larger(real a, real b) { return b > a ? b : a; }
#else
__device__ __forceinline__ real smaller(real a, real b) { return fminf(a, b); }
__device__ __forceinline__ real larger(real a, real b) { return fmaxf(a, b); }
#endif

// Tells the compiler that an address is of global memory, for faster loads.
template <typename T>
__device__ __forceinline__ T* in_global(T* at) {
    __builtin_assume(__isGlobal(at));
    return at;
}

// The squared distance in three axes: `(dx*dx + dy*dy) + dz*dz`, each operation rounded.
// Clouds of one or two axes are padded with zeros, which change no bit.
__device__ __forceinline__ real squared(real ax, real ay, real az, real bx, real by, real bz) {
    real dx = ax - bx, dy = ay - by, dz = az - bz;
    return (dx * dx + dy * dy) + dz * dz;
}

// A candidate for the next choice. The larger value comes first; among equals the lower index.
struct Candidate {
    real value;  // squared distance to the nearest chosen point; below 0 when there is none
    u32 index;
};

__device__ __forceinline__ bool comes_before(real value, u32 index, real other, u32 other_index) {
    return value > other || (value == other && index < other_index);
}

__device__ __forceinline__ Candidate first(Candidate a, Candidate b) {
    return comes_before(b.value, b.index, a.value, a.index) ? b : a;
}

// The first of all lanes' candidates, in every lane.
__device__ __forceinline__ Candidate warp_first(Candidate mine) {
    for (int step = 16; step > 0; step >>= 1) {
        Candidate other = {__shfl_xor_sync(FULL, mine.value, step), __shfl_xor_sync(FULL, mine.index, step)};
        mine = first(mine, other);
    }
    return mine;
}
