// The parameter of searches for several neighbors: a batch of clouds in device memory, what counts as a
// neighbor, and where the answers go. `struct Parameter` in src/search/parameter.rs mirrors this one
// field by field.
#pragma once
#include "neighbors/matching.cuh"

// The clouds of one side. Axis `a` of row `i` is points[i * row_stride + a * axis_stride]; cloud b begins at
// row offsets[b] (or b * rows), and has lengths[b] rows, held within 0 and `rows` (or
// offsets[b + 1] - offsets[b], or `rows`).
struct Clouds {
    const real* points;
    i64 row_stride;
    i64 axis_stride;
    const i64* offsets;
    const i64* lengths;
    i64 rows;
};

struct Search {
    Clouds sides[2];      // of those who ask, and of those who are searched
    real* distances;      // k a row; null if not wanted
    void* indices;        // k a row, i64 or i32; null if not wanted
    void* counts;         // one a row, of the type of the indices; null if not wanted
    real limits[3];       // most, least, near
    u32 dims;
    u32 clouds;
    u32 k;
    u32 norm;             // 1 or 2
    u32 by_index;         // those of lowest index are kept, not the nearest
    u32 exclude_self;     // the row of the same number does not count
    u32 narrow;           // indices and counts are i32
    u32 whole;            // indices count from the first row of the whole side
};

constexpr u32 THREADS = 256;  // of a block; src/search/parameter.rs knows
// Blocks of a multiprocessor, at least: what registers are left for.
#ifdef FARPOINT_F64
constexpr u32 OCCUPANCY = 2;
#else
constexpr u32 OCCUPANCY = 4;
#endif
constexpr u32 WARPS = THREADS / 32;

// One cloud of a side, and its place.
struct Part {
    Cloud cloud;  // without answers
    i64 begin;    // its first row
};

__device__ __forceinline__ Part part_of(const Clouds& side, u32 dims, u32 b) {
    i64 begin = side.offsets ? side.offsets[b] : (i64)b * side.rows;
    i64 length = side.lengths ? held_within(side.lengths[b], side.rows)
               : side.offsets ? side.offsets[b + 1] - begin
                              : side.rows;
    Part part = {};
    part.begin = begin;
    part.cloud.points = side.points + begin * side.row_stride;
    part.cloud.row_stride = side.row_stride;
    part.cloud.axis_stride = side.axis_stride;
    part.cloud.dims = dims;
    part.cloud.length = (u32)length;
    part.cloud.slots = (u32)(side.offsets ? length : side.rows);
    return part;
}

// Rows with NaN or infinity have no neighbors and are none.
__device__ __forceinline__ bool is_bad_row(const Cloud& cloud, u32 row) {
    bool bad = false;
#pragma unroll 1
    for (u32 axis = 0; axis < cloud.dims; ++axis) bad |= is_bad(cloud.at(row, axis));
    return bad;
}

// Whether a distance that is not too large is large enough.
__device__ __forceinline__ bool reaches(const Search& search, real distance) {
    return distance >= search.limits[1] || distance <= search.limits[2];
}

// The distance of two points of which three axes are at hand.
__device__ __forceinline__ real distance_of(const Search& search, real ax, real ay, real az, real bx, real by, real bz) {
    return search.norm == 1 ? distance3<Absolute>(ax, ay, az, bx, by, bz) : distance3<Squared>(ax, ay, az, bx, by, bz);
}

// The same with further axes, if there are any.
__device__ __forceinline__ real with_all_axes(const Search& search, real distance, const Cloud& a, u32 row, const Cloud& b, u32 other) {
    return search.norm == 1 ? with_further<Absolute>(distance, a, row, b, other) : with_further<Squared>(distance, a, row, b, other);
}

__device__ __forceinline__ void write_index(const Search& search, void* to, i64 at, i64 value) {
    if (search.narrow) ((int*)to)[at] = (int)value;
    else ((i64*)to)[at] = value;
}

// Writes place `at` of the answers; `index` -1 for none.
__device__ __forceinline__ void write_place(const Search& search, i64 at, real distance, i64 index) {
    if (search.distances) search.distances[at] = distance;
    if (search.indices) write_index(search, search.indices, at, index);
}

__device__ __forceinline__ void write_count(const Search& search, i64 row, u32 count) {
    if (search.counts) write_index(search, search.counts, row, count);
}
