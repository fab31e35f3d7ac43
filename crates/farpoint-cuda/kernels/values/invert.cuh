// Inverted lists: for each row of values the flat places of the indices that name it, ascending.
//
// A stable radix sort of the places by row, from the lowest digit on; a pass is three kernels. Each block
// has a tile of the list: `count` counts its digits, `scan` turns the counts of a digit into sums of those of
// the tiles before, `move` puts each place where it belongs: behind all smaller digits, the same digit
// in tiles before, in warps before, and in lanes before. Indices that name no row come last. `begins` then
// finds where the list of each row begins.
//
// Compiled with f32 only. Launch: THREADS threads; a block a tile, a digit, or 256 rows.
#pragma once
#include "values/rows.cuh"
#include "common/warp.cuh"

struct InvertArgs {
    Rows rows;
    const u32* keys_in;    // null in the first pass: keys follow from the indices
    u32* keys_out;
    const u32* places_in;
    u32* places_out;
    u32* counts;           // of each digit for each tile
    u32* totals;           // of each digit
    u32* begins;
    u32 count;             // indices
    u32 tiles;
    u32 shift;             // of this pass's digit
    u32 bits;
};

#ifndef FARPOINT_F64

constexpr u32 TILE = 8 * THREADS;
constexpr u32 WARPS = THREADS / 32;
constexpr u32 ROUNDS = TILE / THREADS;

__device__ __forceinline__ u32 key_at(const InvertArgs& args, u32 at) {
    if (args.keys_in) return args.keys_in[at];
    u32 begin = cloud_row(args.rows, divide(at, args.rows.by_k));
    return min(row_at(args.rows, begin, at), args.rows.clouds * args.rows.rows);
}

__device__ __forceinline__ u32 digit_of(const InvertArgs& args, u32 key) {
    return (key >> args.shift) & ((1u << args.bits) - 1);
}

// The keys of a thread, all on their way at once.
__device__ __forceinline__ void load_keys(const InvertArgs& args, u64 first, u32 step, u32 (&keys)[ROUNDS]) {
#pragma unroll
    for (u32 round = 0; round < ROUNDS; ++round) {
        u64 at = first + round * step;
        keys[round] = at < args.count ? key_at(args, (u32)at) : NONE;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(invert_count)(const __grid_constant__ InvertArgs args) {
    __shared__ u32 counts[THREADS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    u64 first = (u64)blockIdx.x * TILE + threadIdx.x;
    u32 keys[ROUNDS];
    load_keys(args, first, THREADS, keys);
#pragma unroll
    for (u32 round = 0; round < ROUNDS; ++round) {
        if (first + round * THREADS < args.count) atomicAdd(&counts[digit_of(args, keys[round])], 1);
    }
    __syncthreads();
    if (threadIdx.x >> args.bits == 0) args.counts[(u64)threadIdx.x * args.tiles + blockIdx.x] = counts[threadIdx.x];
}

// The sum of the values of the threads before this one, and of all.
__device__ __forceinline__ u32 sum_before(u32 value, u32* all) {
    __shared__ u32 sums[WARPS];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, inclusive = warp_sum_to(value), before = 0, total = 0;
    __syncthreads();
    if (lane == 31) sums[warp] = inclusive;
    __syncthreads();
    for (u32 w = 0; w < WARPS; ++w) {
        if (w < warp) before += sums[w];
        total += sums[w];
    }
    *all = total;
    return before + inclusive - value;
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(invert_scan)(const __grid_constant__ InvertArgs args) {
    u32* counts = args.counts + (u64)blockIdx.x * args.tiles;
    u32 before = 0;
    for (u32 first = 0; first < args.tiles; first += THREADS) {
        u32 tile = first + threadIdx.x, all;
        u32 here = tile < args.tiles ? counts[tile] : 0;
        u32 sum = sum_before(here, &all);
        if (tile < args.tiles) counts[tile] = before + sum;
        before += all;
    }
    if (threadIdx.x == 0) args.totals[blockIdx.x] = before;
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(invert_move)(const __grid_constant__ InvertArgs args) {
    // Of each digit, for each warp: how many the warp has; then where they go.
    __shared__ u32 own[WARPS][THREADS];
    __shared__ u32 away[THREADS], tile_keys[TILE], tile_places[TILE];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (u32 w = 0; w < WARPS; ++w) own[w][threadIdx.x] = 0;
    __syncthreads();
    u64 first = (u64)blockIdx.x * TILE + warp * (32 * ROUNDS) + lane;
    u32 keys[ROUNDS], ranks[ROUNDS], places[ROUNDS];
    load_keys(args, first, 32, keys);
#pragma unroll
    for (u32 round = 0; round < ROUNDS; ++round) {
        u64 at = first + 32 * round;
        places[round] = args.places_in && at < args.count ? args.places_in[at] : (u32)at;
    }
#pragma unroll
    for (u32 round = 0; round < ROUNDS; ++round) {
        bool here = first + 32 * round < args.count;
        // Lanes past the end have a digit of their own.
        u32 digit = here ? digit_of(args, keys[round]) : THREADS;
        u32 same = __match_any_sync(FULL, digit);
        u32 before = here ? own[warp][digit] : 0;
        ranks[round] = before + __popc(same & ((1u << lane) - 1));
        __syncwarp();
        if (here && (same >> lane) == 1) own[warp][digit] = before + __popc(same);
        __syncwarp();
    }
    __syncthreads();
    // Where a digit begins among those of the tile, and how far from there its place in the whole list is.
    u32 digit = threadIdx.x, inside, all, count = 0;
    bool is_digit = digit >> args.bits == 0;
    for (u32 w = 0; w < WARPS; ++w) count += own[w][digit];
    u32 at = sum_before(count, &inside), to = sum_before(is_digit ? args.totals[digit] : 0, &all);
    if (is_digit) to += args.counts[(u64)digit * args.tiles + blockIdx.x];
    away[digit] = to - at;
    for (u32 w = 0; w < WARPS; ++w) {
        count = own[w][digit];
        own[w][digit] = at;
        at += count;
    }
    __syncthreads();
#pragma unroll
    for (u32 round = 0; round < ROUNDS; ++round) {
        if (first + 32 * round >= args.count) break;
        u32 within = own[warp][digit_of(args, keys[round])] + ranks[round];
        tile_keys[within] = keys[round];
        tile_places[within] = places[round];
    }
    __syncthreads();
    // In the order of the tile, so that lanes write side by side.
    for (u32 within = threadIdx.x; within < inside; within += THREADS) {
        u32 key = tile_keys[within], target = away[digit_of(args, key)] + within;
        args.keys_out[target] = key;
        args.places_out[target] = tile_places[within];
    }
}

// The first place in the sorted keys that is not below a row: each step looks at three places and leaves a
// quarter.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(invert_begins)(const __grid_constant__ InvertArgs args) {
    u64 rows = (u64)args.rows.clouds * args.rows.rows, step = (u64)gridDim.x * THREADS;
    for (u64 row = (u64)blockIdx.x * THREADS + threadIdx.x; row <= rows; row += step) {
        u32 low = 0, high = args.count;
        while (low < high) {
            u32 quarter = (high - low) / 4, a = low + quarter, b = a + quarter, c = b + quarter;
            bool below_a = args.keys_in[a] < row, below_b = args.keys_in[b] < row, below_c = args.keys_in[c] < row;
            low = below_c ? c + 1 : below_b ? b + 1 : below_a ? a + 1 : low;
            high = !below_a ? a : !below_b ? b : !below_c ? c : high;
        }
        args.begins[row] = low;
    }
}

#endif
