// What the operators on values share: rows of channels, and the indices that name them.
//
// A row of values is handled by a group of lanes, a power of two of them, each of which takes every so
// many-th unit: 16 bytes where rows and addresses allow that, else one number.
#pragma once
#include "common/common.cuh"

constexpr u32 THREADS = 256;  // of a block

// Division of 32 bits by a number that the host knows: Granlund and Montgomery, 1994, figure 4.1.
struct Divisor {
    u32 magic;
    u32 first;
    u32 second;
};

__device__ __forceinline__ u32 divide(u32 number, const Divisor& by) {
    u32 high = __umulhi(by.magic, number);
    return (high + ((number - high) >> by.first)) >> by.second;
}

// `struct Rows` in src/values/rows.rs mirrors this one field by field.
struct Rows {
    const void* indices;  // (clouds, places, k)
    u32 wide;             // whether indices are of 64 bits, not 32
    u32 clouds;
    u32 rows;             // of values, of each cloud
    u32 places;           // of all clouds
    u32 k;
    u32 channels;
    Divisor by_places;    // of a cloud
    Divisor by_k;
};

__device__ __forceinline__ i64 index_at(const Rows& rows, u32 flat) {
    return rows.wide ? __ldg((const i64*)rows.indices + flat) : (i64)__ldg((const int*)rows.indices + flat);
}

// The first row of the cloud that a place belongs to.
__device__ __forceinline__ u32 cloud_row(const Rows& rows, u32 place) {
    return rows.clouds == 1 ? 0 : divide(place, rows.by_places) * rows.rows;
}

// The row of all values that an index of a cloud names; NONE if it names none.
__device__ __forceinline__ u32 row_at(const Rows& rows, u32 first, u32 flat) {
    i64 index = index_at(rows, flat);
    return (u64)index < (u64)rows.rows ? first + (u32)index : NONE;
}

// This thread's part of rows that are spread over groups of 2^lanes lanes.
struct Group {
    u32 lane;
    u32 lanes;
    u64 first;  // row
    u64 step;   // to the next row

    __device__ __forceinline__ explicit Group(u32 log) {
        lanes = 1u << log;
        lane = threadIdx.x & (lanes - 1);
        u32 groups = THREADS >> log;
        first = (u64)blockIdx.x * groups + (threadIdx.x >> log);
        step = (u64)gridDim.x * groups;
    }
};
