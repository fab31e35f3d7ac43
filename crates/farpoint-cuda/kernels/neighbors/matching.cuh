// The parameter of a search for nearest points: a batch of pairs of clouds in device memory, and
// where the answers go. `struct Matching` in src/chamfer/matching.rs mirrors this one field by
// field.
#pragma once
#include "common/batch.cuh"

// One cloud of every pair. Axis `a` of row `i` is points[i * row_stride + a * axis_stride]; the
// cloud of pair p begins at row offsets[p] (or p * rows), and has lengths[p] rows, held within 0 and
// `rows` (or offsets[p + 1] - offsets[p], or `rows`).
struct Side {
    const real* points;
    i64 row_stride;
    i64 axis_stride;
    const i64* offsets;
    const i64* lengths;
    i64 rows;
    // For each row the distance to its nearest in the pair's other cloud, and that one's index
    // there; both null if not wanted. Rows that pad a cloud get 0 and -1.
    real* distances;
    i64* indices;
};

struct Matching {
    Side sides[2];
    u32 dims;
    u32 pairs;
};

__device__ __forceinline__ i64 first_row(const Side& side, u32 pair) {
    return side.offsets ? side.offsets[pair] : (i64)pair * side.rows;
}

// The cloud of a pair on one side. Its `slots` are its rows with those that pad it; `values` and
// `indices` are where the answer goes.
__device__ __forceinline__ Cloud cloud_of(const Matching& matching, u32 side, u32 pair) {
    const Side& from = matching.sides[side];
    i64 begin = first_row(from, pair);
    i64 length = from.lengths ? held_within(from.lengths[pair], from.rows)
               : from.offsets ? from.offsets[pair + 1] - begin
                              : from.rows;
    Cloud cloud = {};
    cloud.points = from.points + begin * from.row_stride;
    cloud.row_stride = from.row_stride;
    cloud.axis_stride = from.axis_stride;
    cloud.dims = matching.dims;
    cloud.length = (u32)length;
    cloud.slots = (u32)(from.offsets ? length : from.rows);
    cloud.indices = from.indices ? from.indices + begin : nullptr;
    cloud.values = from.distances ? from.distances + begin : nullptr;
    return cloud;
}

// Writes what belongs to row `row`; either answer may be unwanted.
__device__ __forceinline__ void write_nearest(const Cloud& cloud, u32 row, real distance, u32 nearest) {
    if (cloud.values) cloud.values[row] = distance;
    if (cloud.indices) cloud.indices[row] = nearest == NONE ? -1 : (i64)nearest;
}

// Overwrites the answers of the pairs first, first + step, ... with what no search gives, by one block.
__device__ inline void spoil_pairs(const Matching& matching, u32 first, u32 step) {
    for (u32 pair = first; pair < matching.pairs; pair += step) {
        for (u32 side = 0; side < 2; ++side) {
            Cloud cloud = cloud_of(matching, side, pair);
            for (u32 row = threadIdx.x; row < cloud.slots; row += blockDim.x) write_nearest(cloud, row, not_a_number(), NONE);
        }
    }
}

// The squared distance `(dx*dx + dy*dy) + dz*dz`, further axes appended.
struct Squared {
    static __device__ __forceinline__ real part(real a, real b) {
        real difference = a - b;
        return difference * difference;
    }
    static __device__ __forceinline__ real of_gap(real gap) { return gap * gap; }
};

// The sum of the differences' sizes, `(|dx| + |dy|) + |dz|`, further axes appended.
struct Absolute {
    static __device__ __forceinline__ real part(real a, real b) {
#ifdef FARPOINT_F64
        return fabs(a - b);
#else
        return fabsf(a - b);
#endif
    }
    static __device__ __forceinline__ real of_gap(real gap) { return gap; }
};

// Axes that are missing are 0 in both clouds, and change no bit.
template <typename Metric>
__device__ __forceinline__ real distance3(real ax, real ay, real az, real bx, real by, real bz) {
    return (Metric::part(ax, bx) + Metric::part(ay, by)) + Metric::part(az, bz);
}

// The distance of two rows, of which the first three axes are at hand.
template <typename Metric>
__device__ __forceinline__ real with_further(real distance, const Cloud& a, u32 row, const Cloud& b, u32 other) {
#pragma unroll 1
    for (u32 axis = 3; axis < a.dims; ++axis) distance = distance + Metric::part(a.at(row, axis), b.at(other, axis));
    return distance;
}

// What one block of an ordinary launch does: a stretch of one side's rows.
struct Stretch {
    u32 pair;
    u32 side;   // whose rows are the queries
    u32 which;  // stretch of these rows
};

// Pairs take chunks[0] + chunks[1] blocks each.
__device__ __forceinline__ Stretch stretch_of_block(const u32 chunks[2]) {
    u32 all = chunks[0] + chunks[1], rest = blockIdx.x % all;
    u32 side = rest < chunks[0] ? 0 : 1;
    return {blockIdx.x / all, side, side ? rest - chunks[0] : rest};
}
