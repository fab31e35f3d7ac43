// One pass of a stable radix sort by eight bits of the key, as three kernels: digits are
// counted by tile, counts become offsets, points are moved.
#pragma once
#include "radius/state.cuh"

constexpr u32 TILE_WARPS = TILE_THREADS / LANES;

__device__ __forceinline__ u32 tiles_of(u32 length) { return (length + TILE - 1) / TILE; }

// How often each digit occurs in this block's tile.
__device__ inline void count_digits(u32 length, const u32* keys, u32 shift, u32* counts) {
    __shared__ u32 count[DIGITS];
    for (u32 d = threadIdx.x; d < DIGITS; d += TILE_THREADS) count[d] = 0;
    __syncthreads();
    u32 end = tile_end(length);
    for (u32 i = blockIdx.x * TILE + threadIdx.x; i < end; i += TILE_THREADS) {
        atomicAdd(&count[keys[i] >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    u32 tiles = tiles_of(length);
    for (u32 d = threadIdx.x; d < DIGITS; d += TILE_THREADS) counts[d * tiles + blockIdx.x] = count[d];
}

// Counts become offsets, by one block: smaller digits of all tiles go first, then the same
// digit of the tiles before.
__device__ inline void offsets_of_digits(u32 length, u32* counts, u32* parts) {
    u32 entries = tiles_of(length) * DIGITS, before = 0;
    for (u32 base = 0; base < entries; base += 4 * blockDim.x) {
        u32 i = base + 4 * threadIdx.x, total;
        bool here = i < entries;
        uint4* slot = reinterpret_cast<uint4*>(counts + i);
        uint4 n = here ? *slot : make_uint4(0, 0, 0, 0);
        u32 at = before + block_scan(n.x + n.y + n.z + n.w, parts, total);
        if (here) *slot = make_uint4(at, at + n.x, at + n.x + n.y, at + n.x + n.y + n.z);
        before += total;
    }
}

// Moves the points of this block's tile. A warp owns consecutive points and goes through them
// in order, so that equals keep theirs.
__device__ inline void move_points(u32 length, const Keyed& from, const Keyed& to, u32 shift, const u32* offsets) {
    __shared__ u32 next[TILE_WARPS][DIGITS];
    u32 lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    u32 first = blockIdx.x * TILE + warp * (TILE_ITEMS * LANES) + lane;
    for (u32 k = threadIdx.x; k < TILE_WARPS * DIGITS; k += TILE_THREADS) next[k / DIGITS][k % DIGITS] = 0;
    __syncthreads();
    u32 keys[TILE_ITEMS], rank[TILE_ITEMS];
#pragma unroll
    for (u32 k = 0; k < TILE_ITEMS; ++k) {
        bool here = first + k * LANES < length;
        keys[k] = here ? from.keys[first + k * LANES] : 0;
        // Lanes past the end stand apart with a digit that no point has.
        u32 digit = here ? keys[k] >> shift & (DIGITS - 1) : DIGITS;
        u32 same = __match_any_sync(FULL, digit), before = __popc(same & ((1u << lane) - 1));
        u32 base = here ? next[warp][digit] : 0;
        rank[k] = base + before;
        __syncwarp();
        if (here && before == 0) next[warp][digit] = base + __popc(same);
        __syncwarp();
    }
    __syncthreads();
    u32 tiles = tiles_of(length);
    for (u32 d = threadIdx.x; d < DIGITS; d += TILE_THREADS) {
        u32 running = offsets[d * tiles + blockIdx.x];
        for (u32 w = 0; w < TILE_WARPS; ++w) {
            u32 n = next[w][d];
            next[w][d] = running;
            running += n;
        }
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < TILE_ITEMS; ++k) {
        u32 i = first + k * LANES;
        if (i >= length) continue;
        u32 place = next[warp][keys[k] >> shift & (DIGITS - 1)] + rank[k];
        to.keys[place] = keys[k];
        to.rows[place] = from.rows[i];
    }
}
