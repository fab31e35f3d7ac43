// What the blocks of a cluster hold in shared memory: a cloud in neighbor order, dealt out among them, and the
// candidates of a round, of which each block has a copy.
#pragma once
#include "common/batch.cuh"
#include "common/box.cuh"
#include "common/cluster.cuh"
#include "common/sort.cuh"
#include "common/warp.cuh"

typedef unsigned short u16;

#ifdef FARPOINT_F64
constexpr u32 MOST_THREADS = 512;  // of a block
#else
constexpr u32 MOST_THREADS = 1024;
#endif
constexpr u32 MOST_EACH = 8;                                // points of a thread
constexpr u32 MOST_BLOCKS = 16;                             // of a cluster
constexpr u32 MOST_GROUPS = MOST_THREADS * MOST_EACH / 32;  // of a block
constexpr u32 ALL_GROUPS = 2048;                            // of a cloud
constexpr u32 MOST_CHUNKS = 128;                            // of 32 candidates
constexpr u32 MOST_NEAR = 64;                               // samples that a warp applies together

// Points of a group, a lane each. `t`: squared distance to the nearest sample; -1: chosen, or no point.
struct Group {
    real x[32], y[32], z[32], t[32];
};

// A candidate: a point, and its distance.
struct alignas(4 * sizeof(real)) Entry {
    real x, y, z, t;
};

// The first candidate of a block.
struct Pick {
    bits value;  // 0: none
    u32 row;
    real x, y, z;
};

// A sample in the order in which it was found.
struct Sample {
    real t;
    u32 row;
};

// Boxes, in arrays by side and axis.
template <u32 SIZE>
struct Boxes {
    real low[3][SIZE], high[3][SIZE];

    __device__ __forceinline__ Box operator[](u32 k) const {
        return {{low[0][k], low[1][k], low[2][k]}, {high[0][k], high[1][k], high[2][k]}};
    }
    __device__ __forceinline__ void put(u32 k, const Box& box) {
        for (u32 a = 0; a < 3; ++a) low[a][k] = box.low[a], high[a][k] = box.high[a];
    }
};

// What has a fixed size.
struct Desk {
    Cloud cloud;
    Box bounds[MOST_BLOCKS];      // of each block's rows
    Box warps[MOST_WARPS];
    u32 sums[MOST_WARPS];
    bits highest[MOST_WARPS];     // largest distance of each warp's groups
    bits tops[MOST_BLOCKS];       // of each block's
    bool equal[MOST_BLOCKS];      // whether a block has samples of equal distances
    Pick picks[MOST_WARPS];
    Pick mail[2][MOST_BLOCKS];
    Boxes<MOST_GROUPS> groups;
    bits largest[MOST_GROUPS];    // distance of each group
    u16 firsts[MOST_GROUPS];      // place of each group's first candidate, while samples are taken one by one
    Boxes<MOST_WARPS> parts;      // of each warp's groups
    Boxes<MOST_CHUNKS> chunks;
    u32 masks[ALL_GROUPS];        // candidates of each group of the cloud
    u16 bases[ALL_GROUPS];        // and how many come before them
    u16 near[MOST_WARPS][MOST_NEAR];  // candidates that a warp applies as samples
};
// `available` in src/fps/peak/cluster.rs leaves room for it.
static_assert(sizeof(Desk) <= (sizeof(real) == 4 ? 31 << 10 : 37 << 10), "a block has less memory for points than planned");

extern __shared__ double arena[];

// Where the arrays lie whose size the launch decides; `Plan::new` in src/fps/peak/cluster.rs adds them up.
struct Room {
    u32 blocks, rank;  // of the cluster
    u32 slice;         // rows that a block reads, at most
    u32 groups;        // of this block: group g is number g * blocks + rank of the cloud
    u32 all;           // groups of the cloud
    u32 room;          // for candidates
    Group* points;     // by group
    u16* rows;         // of the input, by place
    u16* entry_rows;
    u16* fresh;        // candidates that were chosen
    u8* chosen;        // whether each was
    Sample* list;      // samples as they were found, in global memory

    __device__ __forceinline__ Entry* entries() const { return (Entry*)arena; }
    __device__ __forceinline__ u32 number(u32 group) const { return group * blocks + rank; }
    __device__ __forceinline__ real x(u32 at) const { return points[at >> 5].x[at & 31]; }
    __device__ __forceinline__ real y(u32 at) const { return points[at >> 5].y[at & 31]; }
    __device__ __forceinline__ real z(u32 at) const { return points[at >> 5].z[at & 31]; }
};

// For `share` points a block, a multiple of 32.
__device__ __forceinline__ Room place_arrays(u32 share, u32 room) {
    Room r;
    r.room = room;
    r.points = (Group*)((Entry*)arena + room);
    r.rows = (u16*)(r.points + share / 32);
    r.entry_rows = r.rows + share;
    r.fresh = r.entry_rows + room;
    r.chosen = (u8*)(r.fresh + room);
    return r;
}

__device__ __forceinline__ u32 lane_id() { return threadIdx.x & 31; }
__device__ __forceinline__ u32 warp_id() { return threadIdx.x >> 5; }
__device__ __forceinline__ u32 warp_count() { return blockDim.x >> 5; }
__device__ __forceinline__ u32 lanes_before() { return (1u << lane_id()) - 1u; }

// `comes_before` without branches.
__device__ __forceinline__ bool comes_first(real value, u32 row, real other, u32 other_row) {
    return (value > other) | ((value == other) & (row < other_row));
}

// All blocks of the cluster wait for each other; what was written before is seen after.
__device__ __forceinline__ void meet(const Room& r) {
    if (r.blocks == 1) __syncthreads();
    else cluster_barrier();
}

// The same place in the shared memory of block `rank`.
template <typename T>
__device__ __forceinline__ T* in_block(T* here, u32 rank) {
    return (T*)address_in(here, rank);
}

// The sum of the values of the threads before this one, and of all.
__device__ __forceinline__ u32 sum_before(u32 value, u32* sums, u32* total) {
    u32 sum = warp_sum_to(value);
    if (lane_id() == 31) sums[warp_id()] = sum;
    __syncthreads();
    u32 all = warp_sum_to(lane_id() < warp_count() ? sums[lane_id()] : 0);
    *total = __shfl_sync(FULL, all, 31);
    u32 before = __shfl_sync(FULL, all, max(warp_id(), 1u) - 1);
    return sum - value + (warp_id() > 0 ? before : 0);
}

// The groups of a warp, neighbors, and the samples near them.
struct Part {
    u32 first, end;
    u32 touched;  // groups that samples were applied to, from bit 0 on
    u32 count;
    u16* near;
};

__device__ __forceinline__ Part part_of(const Room& r, Desk& desk) {
    u32 each = (r.groups + warp_count() - 1) / warp_count(), first = min(warp_id() * each, r.groups);
    return {first, min(first + each, r.groups), 0, 0, desk.near[warp_id()]};
}
