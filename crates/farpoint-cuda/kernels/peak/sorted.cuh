// The accepted points in the order of choice.
//
// All points of a band come before those of the next, so bands are sorted on their own: each in tiles of as
// many points as a block has threads, by the block; then each point counts those before it in the other
// tiles of its band. Bands that fit into a tile together share it. Where there are too many bands, or a band is
// too large, all are sorted by radix (common/sort.cuh).
#pragma once
#include "peak/state.cuh"

constexpr u32 MOST_TILES = 16;  // of a band: a point looks into each of them

template <u32 SIZE>
struct Tiles {
    bits key[SIZE];
    u32 row[SIZE];
};

// Notes that the list of accepted points has grown by `fresh` points, all after those before them.
template <u32 SIZE>
__device__ __forceinline__ void end_run(State& state, u32 fresh) {
    if (threadIdx.x != 0 || fresh == 0) return;
    u32 n = state.runs, end = (n > 0 ? state.run_ends[min(n, MOST_RUNS) - 1] : 0) + fresh;
    u32 begin = n > 1 ? state.run_ends[min(n, MOST_RUNS) - 2] : 0;
    if (fresh > MOST_TILES * SIZE) n = MOST_RUNS;
    if (n == 0 || end - begin > SIZE) n += 1;
    state.runs = min(n, MOST_RUNS + 1);
    state.run_ends[min(n, MOST_RUNS) - 1] = end;
}

struct Ranking {
    bits key;
    u32 row;
};

__device__ __forceinline__ bool ranks_lower(const Ranking& a, const Ranking& b) {
    return a.key < b.key || (a.key == b.key && a.row < b.row);
}

// Sorts a block's points, a thread each (bitonic).
template <u32 SIZE>
__device__ __forceinline__ Ranking sort_tile(Ranking mine, Tiles<SIZE>& shared) {
    u32 t = threadIdx.x;
    for (u32 run = 2; run <= SIZE; run <<= 1) {
        bool ascending = (t & run) == 0 || run == SIZE;
        u32 step = run >> 1;
        for (; step >= 32; step >>= 1) {
            __syncthreads();
            shared.key[t] = mine.key;
            shared.row[t] = mine.row;
            __syncthreads();
            Ranking other = {shared.key[t ^ step], shared.row[t ^ step]};
            if (ranks_lower(other, mine) == (((t & step) == 0) == ascending)) mine = other;
        }
        for (; step > 0; step >>= 1) {
            Ranking other = {__shfl_xor_sync(FULL, mine.key, step), __shfl_xor_sync(FULL, mine.row, step)};
            if (ranks_lower(other, mine) == (((t & step) == 0) == ascending)) mine = other;
        }
    }
    return mine;
}

// How many points of a sorted stretch of the list come before `mine`.
__device__ __forceinline__ u32 count_before(const Pairs<bits>& list, u32 begin, u32 end, const Ranking& mine) {
    u32 low = begin;
    while (low < end) {
        u32 middle = low + (end - low) / 2;
        bool before = ranks_lower({list.keys[middle], list.values[middle]}, mine);
        low = before ? middle + 1 : low;
        end = before ? end : middle;
    }
    return low - begin;
}

// Calls `work(first, end, begin)` for each tile of this block: the stretch `first..end` of the list, both of its
// run that is not in earlier tiles; `begin` is where the tile begins.
template <u32 SIZE, typename Work>
__device__ __forceinline__ void for_tiles(const State& state, const Team& team, Work work) {
    u32 tile = 0, first = 0;
    for (u32 run = 0; run < state.runs; ++run) {
        u32 end = state.run_ends[run];
        for (u32 begin = first; begin < end; begin += SIZE, ++tile) {
            if (tile % team.size == team.rank) work(first, end, begin);
        }
        first = end;
    }
}

// Writes the accepted points as samples from `before` on; the first that is not wanted tells the covering radius.
template <u32 SIZE>
__device__ void write_accepted(const State& state, Team& team, Tiles<SIZE>& shared, u32 before) {
    const Cloud& cloud = state.cloud;
    Pairs<bits> list = state.sorted[0];
    for_tiles<SIZE>(state, team, [&](u32, u32 end, u32 begin) {
        u32 k = begin + threadIdx.x;
        bool here = k < end;
        Ranking mine = {here ? list.keys[k] : ~(bits)0, here ? state.points.order[list.values[k]] : NONE};
        mine = sort_tile(mine, shared);
        if (here) list.keys[k] = mine.key, list.values[k] = mine.row;
    });
    team.sync();
    for_tiles<SIZE>(state, team, [&](u32 first, u32 end, u32 begin) {
        u32 k = begin + threadIdx.x;
        if (k >= end) return;
        Ranking mine = {list.keys[k], list.values[k]};
        u32 place = before + first + threadIdx.x;
        for (u32 other = first; other < end; other += SIZE) {
            if (other != begin) place += count_before(list, other, min(other + SIZE, end), mine);
        }
        if (place < cloud.wanted) write_sample(cloud, place, mine.row, from_bits(~mine.key));
        if (place == cloud.wanted && cloud.covering) *cloud.covering = from_bits(~mine.key);
    });
}
