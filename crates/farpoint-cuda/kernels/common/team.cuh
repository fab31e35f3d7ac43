// A team: the blocks that work on one cloud together, all resident at once (cooperative launch).
#pragma once
#include "common/common.cuh"
#include "common/guard.cuh"

__device__ __forceinline__ void add_relaxed(u32* at, u32 value) {
    asm volatile("red.relaxed." SCOPE ".global.add.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

// Words that other blocks read and write at the same time. Relaxed: where these are used, old values
// are safe (docs/peak.md).
__device__ __forceinline__ real load_shared_word(const real* at) {
    real value;
#ifdef FARPOINT_F64
    asm volatile("ld.relaxed." SCOPE ".global.f64 %0, [%1];" : "=d"(value) : "l"(at) : "memory");
#else
    asm volatile("ld.relaxed." SCOPE ".global.f32 %0, [%1];" : "=f"(value) : "l"(at) : "memory");
#endif
    return value;
}

__device__ __forceinline__ void store_shared_word(real* at, real value) {
#ifdef FARPOINT_F64
    asm volatile("st.relaxed." SCOPE ".global.f64 [%0], %1;" : : "l"(at), "d"(value) : "memory");
#else
    asm volatile("st.relaxed." SCOPE ".global.f32 [%0], %1;" : : "l"(at), "f"(value) : "memory");
#endif
}

// As signed integers, negative numbers are below all others: a word with a sign stays as it is.
__device__ __forceinline__ void lower_shared_word(real* at, real value) {
#ifdef FARPOINT_F64
    ATOMIC(atomicMin)((i64*)at, (i64)to_bits(value));
#else
    ATOMIC(atomicMin)((int*)at, (int)to_bits(value));
#endif
}

// Replaces `expected` by `value`; what was there comes back.
__device__ __forceinline__ real swap_shared_word(real* at, real expected, real value) {
    return from_bits(ATOMIC(atomicCAS)((bits*)at, to_bits(expected), to_bits(value)));
}

// The numbers that a thread or warp deals with: first, first + step, ... below end.
struct Steps {
    u32 first, end, step;
};

struct Team {
    u32 rank;        // of this block
    u32 size;        // blocks
    u32* arrivals;   // in global memory, zero at launch
    u32 expected;    // arrivals once all have come to the barriers so far
    const Guard* guard;
    u32* raised;     // in global memory, zero at launch: set once one of the team has given up
#ifdef FARPOINT_SPAN
    u32 part, parts;  // the GPU of this block, and how many GPUs the team's blocks are on, the same number on each
#endif

    __device__ __forceinline__ Team(u32 rank, u32 size, u32* arrivals, const Guard& guard, u32* raised)
        : rank(rank), size(size), arrivals(arrivals), expected(0), guard(&guard), raised(raised) {}

    // All blocks wait for each other; what was written before is seen after.
    __device__ __forceinline__ void sync() {
        __syncthreads();
        if (size > 1) meet();
    }

    // The same, unless a thread of this block has given up (`lost`): then the block leaves, the others
    // wait for it in vain, and leave too.
    __device__ __forceinline__ void sync(bool lost) {
        if (__syncthreads_or(lost)) leave(*guard);
        if (size > 1) meet();
    }

    __device__ __forceinline__ void meet() {
        expected += size;
        bool lost = false;
        if (threadIdx.x == 0) {
            // Release: what the block wrote goes before its arrival.
            fence();
            add_relaxed(arrivals, 1);
            // Polled by relaxed loads: an old count only makes this block wait for one poll more.
            // Compared by difference, so that the counter may wrap around.
            Wait wait;
            while ((int)(load_relaxed(arrivals) - expected) < 0 && !lost) {
                lost = wait.over(*guard, raised, FOR_BLOCKS, arrivals);
            }
            // Acquire: all arrivals go before what the block reads.
            fence();
        }
        if (__syncthreads_or(lost)) leave(*guard);
    }

    __device__ __forceinline__ u32 thread() const { return rank * blockDim.x + threadIdx.x; }
    __device__ __forceinline__ u32 threads() const { return size * blockDim.x; }
    __device__ __forceinline__ u32 warps() const { return (blockDim.x >> 5) * size; }

    // Of a part: all blocks, or those of one GPU.
#ifdef FARPOINT_SPAN
    __device__ __forceinline__ u32 part_size() const { return size / parts; }
    __device__ __forceinline__ u32 part_rank() const { return rank - part * part_size(); }
#else
    static constexpr u32 part = 0;
    __device__ __forceinline__ u32 part_size() const { return size; }
    __device__ __forceinline__ u32 part_rank() const { return rank; }
#endif
    __device__ __forceinline__ u32 part_thread() const { return part_rank() * blockDim.x + threadIdx.x; }
    __device__ __forceinline__ u32 part_threads() const { return part_size() * blockDim.x; }
    // Warps are numbered so that neighbors sit in different blocks: work spreads over the card.
    __device__ __forceinline__ u32 part_warp() const { return (threadIdx.x >> 5) * part_size() + part_rank(); }
    __device__ __forceinline__ u32 part_warps() const { return (blockDim.x >> 5) * part_size(); }
    // One part's warps follow those of another.
    __device__ __forceinline__ u32 warp() const { return part * part_warps() + part_warp(); }

    // Of `n` things, `share` in a row are each part's; an even share if 0.
    __device__ __forceinline__ Steps steps_of(u32 n, u32 share, u32 number, u32 count) const {
#ifdef FARPOINT_SPAN
        if (share == 0) share = (u32)(((u64)n + parts * 1024 - 1) / (parts * 1024)) * 1024;
        u64 first = min((u64)part * share, (u64)n), end = min(first + share, (u64)n);
        return {(u32)first + number, (u32)end, count};
#else
        return {number, n, count};
#endif
    }
    __device__ __forceinline__ Steps thread_steps(u32 n, u32 share = 0) const {
        return steps_of(n, share, part_thread(), part_threads());
    }
    __device__ __forceinline__ Steps warp_steps(u32 n, u32 share = 0) const {
        return steps_of(n, share, part_warp(), part_warps());
    }
};

// Cuts `bytes` from a team's scratch, aligned for every type; src/team.rs rounds up alike.
__device__ __forceinline__ u8* cut(u8** from, u64 bytes) {
    u8* piece = *from;
    *from += (bytes + 255) / 256 * 256;
    return piece;
}
