// Better groups: along the curve, 32 points in a row may straddle a jump of it, and boxes overlap.
// Here every REFINED points in curve order are halved along the longest axis of their box again and
// again, until every half is a group.
#pragma once
#include "common/batch.cuh"
#include "common/box.cuh"
#include "common/boxtree.cuh"

constexpr u32 REFINED = 256;  // points in curve order that are regrouped

// Shared memory for a block of SIZE points, a thread each.
template <u32 SIZE>
struct Refining {
    real point[3][SIZE];
    real value[SIZE];
    u32 id[SIZE];
    Box boxes[SIZE / 32];
};

// A point by its coordinate along the axis to sort by.
struct Ranked {
    real value;
    u32 id;  // place in the block at the beginning
};

__device__ __forceinline__ bool ranks_before(const Ranked& a, const Ranked& b) {
    return a.value < b.value || (a.value == b.value && a.id < b.id);
}

// Keeps the lower or the upper of two points.
__device__ __forceinline__ Ranked keep(const Ranked& mine, const Ranked& other, bool lower) {
    return ranks_before(mine, other) == lower ? mine : other;
}

// Sorts each run of `size` threads' points in a row (bitonic).
template <u32 SIZE>
__device__ __forceinline__ Ranked sort_runs(Ranked mine, u32 size, Refining<SIZE>& shared) {
    u32 t = threadIdx.x;
    for (u32 run = 2; run <= size; run <<= 1) {
        bool ascending = (t & run) == 0 || run == size;
        u32 step = run >> 1;
        for (; step >= 32; step >>= 1) {
            __syncthreads();
            shared.value[t] = mine.value;
            shared.id[t] = mine.id;
            __syncthreads();
            Ranked other = {shared.value[t ^ step], shared.id[t ^ step]};
            mine = keep(mine, other, ((t & step) == 0) == ascending);
        }
        for (; step > 0; step >>= 1) {
            Ranked other = {__shfl_xor_sync(FULL, mine.value, step), __shfl_xor_sync(FULL, mine.id, step)};
            mine = keep(mine, other, ((t & step) == 0) == ascending);
        }
    }
    return mine;
}

// The longest axis of the box around each run of `size` threads' points.
template <u32 SIZE>
__device__ __forceinline__ u32 longest_axis(u32 id, u32 size, Refining<SIZE>& shared) {
    u32 warp = threadIdx.x >> 5;
    Box box;
    for (u32 a = 0; a < 3; ++a) box.low[a] = box.high[a] = shared.point[a][id];
    box = warp_box(box);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) shared.boxes[warp] = box;
    __syncthreads();
    u32 warps = size >> 5, first = warp / warps * warps;
    for (u32 w = first; w < first + warps; ++w) {
        for (u32 a = 0; a < 3; ++a) {
            box.low[a] = smaller(box.low[a], shared.boxes[w].low[a]);
            box.high[a] = larger(box.high[a], shared.boxes[w].high[a]);
        }
    }
    real x = box.high[0] - box.low[0], y = box.high[1] - box.low[1], z = box.high[2] - box.low[2];
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

// Rearranges the rows of a block of SIZE threads, a row each; all threads take part. The threads
// from `count` on have rows that only fill up the block; these stay at its end.
template <u32 SIZE, typename Rows>
__device__ __forceinline__ u32 refine(const Rows& cloud, u32 row, u32 count, Refining<SIZE>& shared) {
    u32 t = threadIdx.x;
    __syncthreads();
    for (u32 a = 0; a < 3; ++a) shared.point[a][t] = cloud.at(row, a);
    __syncthreads();
    Ranked mine = {0, t};
    for (u32 size = REFINED; size > 32; size >>= 1) {
        u32 axis = longest_axis(mine.id, size, shared);
        mine.value = mine.id < count ? shared.point[axis][mine.id] : infinity();
        mine = sort_runs(mine, size, shared);
    }
    __syncthreads();
    shared.id[t] = row;
    __syncthreads();
    return shared.id[mine.id];
}

// The row that belongs at this thread's place, for a team of blocks of SIZE threads that goes through
// a cloud in curve order block by block, from point `begin` on. Places past the end have the last row.
template <u32 SIZE, typename Rows>
__device__ __forceinline__ u32 refined_row(const Rows& cloud, const Points& points, u32 begin, Refining<SIZE>& shared) {
    u32 row = points.order[min(begin + threadIdx.x, points.length - 1)];
    return refine(cloud, row, points.length - begin, shared);
}
