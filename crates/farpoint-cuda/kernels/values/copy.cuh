// Rows of values by their indices, whatever the type of the values: a copy, in the largest units that
// divide a row and both addresses. And a search for indices that name no row.
//
// Compiled with f32 only.
#pragma once
#include "values/rows.cuh"

struct GatherArgs {
    Rows rows;
    const u8* values;
    u8* output;
    u32 units;  // of a row
    u32 lanes;  // logarithm of the lanes of a row
};

struct CheckIndicesArgs {
    Rows rows;
    u64* found;  // how many, and the first; 0 and all ones at launch
    u32 count;   // indices
};

#ifndef FARPOINT_F64

template <typename Unit> __device__ __forceinline__ Unit nothing() { return 0; }
template <> __device__ __forceinline__ uint2 nothing<uint2>() { return make_uint2(0, 0); }
template <> __device__ __forceinline__ uint4 nothing<uint4>() { return make_uint4(0, 0, 0, 0); }

// A row a group of lanes, which leaves room for as many threads as a multiprocessor has. What is written is not
// kept in caches, which the values need.
template <typename Unit>
__device__ __forceinline__ void gather(const GatherArgs& args) {
    const Rows& rows = args.rows;
    const Unit* values = (const Unit*)args.values;
    Unit* output = (Unit*)args.output;
    u64 count = (u64)rows.places * rows.k;
    Group group(args.lanes);
    for (u64 flat = group.first; flat < count; flat += group.step) {
        u32 begin = cloud_row(rows, divide((u32)flat, rows.by_k)), from = row_at(rows, begin, (u32)flat);
        for (u32 unit = group.lane; unit < args.units; unit += group.lanes) {
            Unit read = from == NONE ? nothing<Unit>() : __ldg(values + (u64)from * args.units + unit);
            __stcs(output + flat * args.units + unit, read);
        }
    }
}

#define GATHER(bytes, Unit) \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(gather_##bytes)(const __grid_constant__ GatherArgs args) { \
        gather<Unit>(args); \
    }

GATHER(2, unsigned short)
GATHER(4, u32)
GATHER(8, uint2)
GATHER(16, uint4)

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(check_indices)(const __grid_constant__ CheckIndicesArgs args) {
    u64 step = (u64)gridDim.x * THREADS, first = ~0ull;
    u32 wrong = 0;
    for (u64 flat = (u64)blockIdx.x * THREADS + threadIdx.x; flat < args.count; flat += step) {
        i64 index = index_at(args.rows, (u32)flat);
        if (index == -1 || (u64)index < (u64)args.rows.rows) continue;
        if (wrong++ == 0) first = flat;
    }
    if (wrong == 0) return;
    atomicAdd(args.found, (u64)wrong);
    atomicMin(args.found + 1, first);
}

#endif
