// A team: the blocks that work on one cloud together, all resident at once (cooperative launch).
#pragma once
#include "common.cuh"

__device__ __forceinline__ u32 load_acquire(const u32* at) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__device__ __forceinline__ void add_release(u32* at, u32 value) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

// Words that other blocks read and write at the same time.
__device__ __forceinline__ real load_shared_word(const real* at) {
    real value;
#ifdef FARPOINT_F64
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(at) : "memory");
#else
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(at) : "memory");
#endif
    return value;
}

// As signed integers, negative numbers are below all others: a word with a sign stays as it is.
__device__ __forceinline__ void lower_shared_word(real* at, real value) {
#ifdef FARPOINT_F64
    atomicMin((i64*)at, (i64)to_bits(value));
#else
    atomicMin((int*)at, (int)to_bits(value));
#endif
}

// Replaces `expected` by `value`; what was there comes back.
__device__ __forceinline__ real swap_shared_word(real* at, real expected, real value) {
    return from_bits(atomicCAS((bits*)at, to_bits(expected), to_bits(value)));
}

struct Team {
    u32 rank;        // of this block
    u32 size;        // blocks
    u32* arrivals;   // in global memory, zero at launch
    u32 expected;    // arrivals once all have come to the barriers so far

    // All blocks wait for each other; what was written before is seen after.
    __device__ __forceinline__ void sync() {
        __syncthreads();
        if (size == 1) return;
        expected += size;
        if (threadIdx.x == 0) {
            __threadfence();
            add_release(arrivals, 1);
            // Compared by difference, so that the counter may wrap around.
            while ((int)(load_acquire(arrivals) - expected) < 0) {}
            __threadfence();
        }
        __syncthreads();
    }

    __device__ __forceinline__ u32 thread() const { return rank * blockDim.x + threadIdx.x; }
    __device__ __forceinline__ u32 threads() const { return size * blockDim.x; }
    // Warps are numbered so that neighbours sit in different blocks: work spreads over the card.
    __device__ __forceinline__ u32 warp() const { return (threadIdx.x >> 5) * size + rank; }
    __device__ __forceinline__ u32 warps() const { return (blockDim.x >> 5) * size; }
};

// Cuts `bytes` from a team's scratch, aligned for every type; src/team.rs rounds up alike.
__device__ __forceinline__ u8* cut(u8** from, u64 bytes) {
    u8* piece = *from;
    *from += (bytes + 255) / 256 * 256;
    return piece;
}
