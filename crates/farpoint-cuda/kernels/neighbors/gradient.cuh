// Gradients of coordinates from those of the distances, the same bits on every run.
//
// A distance of `p` to its nearest `q` with gradient `g` sends (2 * g) * (p - q) to `p` and the
// negative to `q` (norm 1: `g` times the sign of the difference). A point adds up its own part,
// then what it is sent by ascending index: no atomic additions, whose order would change from run
// to run. Kernels differ in how they find out who sends to whom.
//
// The gradients of the distances are given, or follow from those of one value per pair that the distances
// were reduced to (chamfer_reduce.cu); all operations are those of `farpoint::chamfer::Reduced::grads`.
#pragma once
#include "neighbors/matching.cuh"
#include "common/root.cuh"

// `struct Asked` in src/chamfer/backward/mod.rs mirrors this one field by field.
struct Asked {
    Matching matching;      // of each side the indices that the search gave, or null
    const real* grads[2];   // gradients of the distances, laid out as the rows; or null
    real* gradients[2];     // of the coordinates, dense rows; null if not wanted
    // Instead of `grads`: the gradient of each pair's value, `upstream_stride` numbers apart. It needs the
    // distances in `matching` where their roots were taken or a maximum was.
    const real* upstream;
    i64 upstream_stride;
    const real* extremes;   // as chamfer_reduce.cu wrote them, for maxima
    u32 norm;               // 1 or 2
    u32 rows[2];            // rows of the largest cloud of each side
    u32 reduction;
    u32 root;
};

constexpr u32 FEW = 8;    // senders that a lane adds up alone
constexpr u32 AHEAD = 2;  // senders that a lane looks at together

// The gradient of a distance of which a root or a maximum was taken. Not inlined: a root and a quotient
// take more registers than there are to spare.
__device__ __noinline__ real grad_of_measured(real distance, bool root, bool max, real each, real largest) {
    if (root) distance = root_of(distance);
    if ((max && distance != largest) || (root && distance == (real)0)) return 0;
    return root ? each / (distance + distance) : each;
}

// Where the gradients of distances come from: they are given, or follow from that of the pair's value, or
// the kernel finds out. Small kernels are compiled for either, as registers are scarce.
enum Source { GIVEN, OF_VALUE, EITHER };

template <Source SOURCE>
__device__ __forceinline__ bool is_of_value(const Asked& asked) {
    return SOURCE == OF_VALUE || (SOURCE == EITHER && asked.upstream);
}

// One side of a pair, and what belongs to its rows.
template <Source SOURCE>
struct Rows {
    Cloud cloud;
    const real* grads;
    real* gradients;
    const Asked* asked;
    // Of a value: the gradient of each distance or of its root, and the largest distance if a maximum was
    // taken.
    real each;
    real largest;

    // The gradient of a row's distance.
    __device__ __forceinline__ real grad(u32 row) const {
        if (!is_of_value<SOURCE>(*asked)) return grads[row];
        bool root = asked->root, max = asked->reduction == MAX;
        return root || max ? grad_of_measured(cloud.values[row], root, max, each, largest) : each;
    }
};

// Those who send to a row, by ascending index: `count` of `senders` from `begin` on.
struct List {
    u32 begin;
    u32 count;
};

template <Source SOURCE>
__device__ __forceinline__ Rows<SOURCE> rows_of(const Asked& asked, u32 side, u32 pair) {
    i64 begin = first_row(asked.matching.sides[side], pair);
    Rows<SOURCE> rows;
    rows.cloud = cloud_of(asked.matching, side, pair);
    rows.grads = asked.grads[side] ? asked.grads[side] + begin : nullptr;
    rows.gradients = asked.gradients[side] ? asked.gradients[side] + begin * asked.matching.dims : nullptr;
    rows.asked = &asked;
    rows.each = rows.largest = 0;
    if (is_of_value<SOURCE>(asked)) {
        bool max = asked.reduction == MAX;
        const real* extremes = max ? asked.extremes + (u64)pair * EXTREMES + side : nullptr;
        real divisor = max ? extremes[2] : asked.reduction == MEAN ? (real)rows.cloud.length : (real)1;
        rows.each = asked.upstream[(i64)pair * asked.upstream_stride] / divisor;
        if (max) rows.largest = extremes[0];
    }
    return rows;
}

// Whether the distances of these rows have gradients.
template <Source SOURCE>
__device__ __forceinline__ bool sends(const Rows<SOURCE>& rows) {
    return (is_of_value<SOURCE>(*rows.asked) || rows.grads) && rows.cloud.indices;
}

// The row that a row sends to; `none` if to none.
template <Source SOURCE>
__device__ __forceinline__ u32 target_of(const Rows<SOURCE>& rows, u32 row, u32 none) {
    i64 nearest = rows.cloud.indices[row];
    return nearest >= 0 && nearest < (i64)none ? (u32)nearest : none;
}

// The gradient of the distance of `p` and `q` along an axis, times `g`.
__device__ __forceinline__ real part(u32 norm, real g, real p, real q) {
    if (norm == 2) return (g + g) * (p - q);
    return p > q ? g : p < q ? (real)0 - g : (real)0;
}

// Takes the parts of a long list off a sum, by a warp: its lanes look at many senders together,
// only the sum has an order.
template <Source SOURCE>
__device__ __forceinline__ real subtract_many(const Rows<SOURCE>& other, const u32* senders, List list, u32 norm, u32 axis,
                                              real at_row, real sum) {
    u32 lane = threadIdx.x & 31;
    for (u32 first = 0; first < list.count; first += 32 * AHEAD) {
        real parts[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; ++k) {
            u32 at = first + 32 * k + lane;
            bool here = at < list.count;
            u32 sender = senders[list.begin + (here ? at : 0)];
            // Past the end: 0, which changes no bit.
            parts[k] = here ? part(norm, other.grad(sender), other.cloud.at(sender, axis), at_row) : (real)0;
        }
#pragma unroll
        for (u32 k = 0; k < AHEAD; ++k) {
            if (first + 32 * k >= list.count) break;  // the whole warp
#pragma unroll
            for (u32 j = 0; j < 32; ++j) sum = sum - __shfl_sync(FULL, parts[k], j);
        }
    }
    return sum;
}

// Writes the gradients of 32 rows, by a warp; `row` is this lane's, and `list` who sends to it.
template <Source SOURCE>
__device__ __forceinline__ void write_gradients(const Rows<SOURCE>& own, const Rows<SOURCE>& other, u32 norm, u32 row,
                                                const u32* senders, List list) {
    u32 lane = threadIdx.x & 31, dims = own.cloud.dims;
    bool counts = row < own.cloud.length;
    u32 none = other.cloud.length, nearest = counts && sends(own) ? target_of(own, row, none) : none;
    real g = nearest < none ? own.grad(row) : (real)0;
    u32 long_lists = __ballot_sync(FULL, list.count > FEW);
    for (u32 axis = 0; axis < dims; ++axis) {
        real at_row = counts ? own.cloud.at(row, axis) : (real)0, sum = 0;
        if (nearest < none) sum = part(norm, g, at_row, other.cloud.at(nearest, axis));
        for (u32 k = 0; k < list.count && list.count <= FEW; ++k) {
            u32 sender = senders[list.begin + k];
            sum = sum - part(norm, other.grad(sender), other.cloud.at(sender, axis), at_row);
        }
        for (u32 left = long_lists; left; left &= left - 1) {
            u32 who = __ffs(left) - 1;
            List theirs = {__shfl_sync(FULL, list.begin, who), __shfl_sync(FULL, list.count, who)};
            real row_there = __shfl_sync(FULL, at_row, who), sum_there = __shfl_sync(FULL, sum, who);
            real total = subtract_many(other, senders, theirs, norm, axis, row_there, sum_there);
            if (lane == who) sum = total;
        }
        if (row < own.cloud.slots) own.gradients[(u64)row * dims + axis] = sum;
    }
}
