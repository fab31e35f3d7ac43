// From the distances of all points to one value for each pair of clouds.
//
// Numbers are added in double precision and in the order of `farpoint::chamfer::total`, so that the
// bits are the CPU's: leaves of LEAF numbers; in a leaf COLUMNS columns, each by ascending index; then
// the second half of the columns is added to the first until one is left; then the leaves' sums the
// same way.
//
// Launch: `reduce`, for clouds of one leaf: a block of 2 * COLUMNS threads per pair, half of it per side.
// Larger clouds: `reduce_leaves`, COLUMNS threads per leaf, then `reduce_partials`, launched as `reduce`.
// Any number of blocks.
#include "neighbors/matching.cuh"
#include "common/root.cuh"

struct ReduceArgs {
    Matching matching;  // of each side the distances that the search gave; null if it has no part
    real* values;       // one number per pair
    real* extremes;     // for maxima, of each pair EXTREMES numbers; or null
    struct Sum* partials;  // one a leaf of a side and pair
    u32 leaves[2];      // of the largest cloud of each side
    u32 reduction;
    u32 root;           // whether distances are square roots of what the search gave
};

constexpr u32 COLUMNS = 256;
constexpr u32 LEAF = 16 * COLUMNS;

// What numbers come to: their sum; or the largest (NaN if there is one), and how many are as large.
struct Sum {
    double value;
    double ties;
    __device__ __forceinline__ void join(const Sum& other, bool max) {
        if (!max) value = value + other.value;
        else if (other.value == value) ties = ties + other.ties;
        else if (value == value && !(other.value < value)) *this = other;
    }
    __device__ __forceinline__ Sum below(u32 step) const {
        return {__shfl_down_sync(FULL, value, step), __shfl_down_sync(FULL, ties, step)};
    }
};

// The columns of a leaf, as the threads that work on it have them, put into one: in the first thread
// of the COLUMNS. All threads of the block come here together.
__device__ __forceinline__ Sum fold(Sum mine, Sum* columns, bool max) {
    u32 column = threadIdx.x % COLUMNS;
    __syncthreads();  // the columns before were read
    columns[column] = mine;
    __syncthreads();
    if (column >= 32) return mine;
    Sum quarter[4];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        quarter[k] = columns[column + 32 * k];
        quarter[k].join(columns[column + 32 * k + 128], max);
    }
    quarter[0].join(quarter[2], max);
    quarter[1].join(quarter[3], max);
    quarter[0].join(quarter[1], max);
#pragma unroll
    for (u32 step = 16; step > 0; step >>= 1) quarter[0].join(quarter[0].below(step), max);
    return quarter[0];
}

// A column of a leaf of the distances of a cloud.
__device__ __forceinline__ Sum column_of(const Cloud& cloud, u32 leaf, u32 root, bool max) {
    Sum sum = {0, 0};
#pragma unroll 4
    for (u32 k = 0; k < LEAF / COLUMNS; ++k) {
        u64 row = (u64)leaf * LEAF + k * COLUMNS + threadIdx.x % COLUMNS;
        if (row >= cloud.length) continue;
        real distance = cloud.values[row];
        sum.join({(double)(root ? root_of(distance) : distance), 1}, max);
    }
    return sum;
}

// The same of numbers that leaves came to.
__device__ __forceinline__ Sum column_of(const Sum* partials, u32 count, u32 leaf, bool max) {
    Sum sum = {0, 0};
#pragma unroll 4
    for (u32 k = 0; k < LEAF / COLUMNS; ++k) {
        u64 at = (u64)leaf * LEAF + k * COLUMNS + threadIdx.x % COLUMNS;
        if (at < count) sum.join(partials[at], max);
    }
    return sum;
}

__device__ __forceinline__ u32 leaves_of(u32 count) { return (u32)(((u64)count + LEAF - 1) / LEAF); }

// Where the leaves of a side of a pair come to their numbers.
__device__ __forceinline__ Sum* partials_of(const ReduceArgs& args, u32 side, u32 pair) {
    u64 before = (u64)pair * (args.leaves[0] + args.leaves[1]) + (side ? args.leaves[0] : 0);
    return args.partials + before;
}

// Writes what the gradients of a maximum are made of: each side's largest; then what the gradient of the
// value is divided by, infinite for a side that has no part. `sides` is how many there are.
__device__ __forceinline__ void write_extremes(real* to, double value, const Sum* sums, u32 sides) {
    double among = sides == 2 && sums[0].value == sums[1].value ? 2 : 1;
    for (u32 side = 0; side < 2; ++side) {
        bool takes_part = side < sides && sums[side].value == value;
        to[side] = (real)sums[side].value;
        to[2 + side] = takes_part ? (real)(among * sums[side].ties) : infinity();
    }
}

// Writes the value of a pair, of which both sides' sums are known.
__device__ __forceinline__ void write_value(const ReduceArgs& args, u32 pair, const Sum* sums) {
    u32 sides = args.matching.sides[1].distances ? 2 : 1;
    double parts[2] = {sums[0].value, sums[1].value};
    for (u32 side = 0; side < sides && args.reduction == MEAN; ++side) {
        parts[side] = parts[side] / (double)cloud_of(args.matching, side, pair).length;
    }
    double value = parts[0];
    if (args.reduction == MAX) value = parts[0] != parts[0] || parts[1] < parts[0] ? parts[0] : parts[1];
    else if (sides == 2) value = parts[0] + parts[1];
    args.values[pair] = (real)value;
    if (args.reduction == MAX && args.extremes) {
        write_extremes(args.extremes + (u64)pair * EXTREMES, value, sums, sides);
    }
}

struct Shared {
    Sum columns[2][COLUMNS];
    Sum sums[2];
};

extern "C" __global__ void __launch_bounds__(2 * COLUMNS) KERNEL(reduce)(const ReduceArgs args) {
    __shared__ Shared shared;
    bool max = args.reduction == MAX;
    u32 side = threadIdx.x / COLUMNS;
    for (u32 pair = blockIdx.x; pair < args.matching.pairs; pair += gridDim.x) {
        Sum mine = {0, 0};
        if (args.matching.sides[side].distances) {
            mine = column_of(cloud_of(args.matching, side, pair), 0, args.root, max);
        }
        mine = fold(mine, shared.columns[side], max);
        if (threadIdx.x % COLUMNS == 0) shared.sums[side] = mine;
        __syncthreads();
        if (threadIdx.x == 0) write_value(args, pair, shared.sums);
    }
}

extern "C" __global__ void __launch_bounds__(COLUMNS) KERNEL(reduce_leaves)(const ReduceArgs args) {
    __shared__ Sum columns[COLUMNS];
    bool max = args.reduction == MAX;
    u32 each = args.leaves[0] + args.leaves[1];
    u64 jobs = (u64)args.matching.pairs * each;
    for (u64 job = blockIdx.x; job < jobs; job += gridDim.x) {
        u32 pair = (u32)(job / each), rest = (u32)(job % each);
        u32 side = rest < args.leaves[0] ? 0 : 1, leaf = side ? rest - args.leaves[0] : rest;
        Cloud cloud = cloud_of(args.matching, side, pair);
        if (leaf >= leaves_of(cloud.length)) continue;  // the whole block
        Sum sum = fold(column_of(cloud, leaf, args.root, max), columns, max);
        if (threadIdx.x == 0) partials_of(args, side, pair)[leaf] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(2 * COLUMNS) KERNEL(reduce_partials)(const ReduceArgs args) {
    __shared__ Shared shared;
    bool max = args.reduction == MAX;
    u32 side = threadIdx.x / COLUMNS;
    for (u32 pair = blockIdx.x; pair < args.matching.pairs; pair += gridDim.x) {
        Sum* partials = partials_of(args, side, pair);
        bool given = args.matching.sides[side].distances != nullptr;
        u32 count = given ? leaves_of(cloud_of(args.matching, side, pair).length) : 0;
        // Both halves of the block take as many turns, as they wait for each other.
        u32 most = leaves_of(args.leaves[0] > args.leaves[1] ? args.leaves[0] : args.leaves[1]);
        for (u32 turns = most;; turns = leaves_of(turns)) {
            u32 leaves = leaves_of(count);
            for (u32 leaf = 0; leaf < turns; ++leaf) {
                // A leaf's sum takes the place of numbers that were added up before, or just now.
                Sum sum = fold(column_of(partials, count, leaf, max), shared.columns[side], max);
                if (threadIdx.x % COLUMNS == 0 && leaf < leaves) partials[leaf] = sum;
            }
            __syncthreads();
            count = leaves;
            if (turns <= 1) break;
        }
        if (threadIdx.x % COLUMNS == 0) shared.sums[side] = count ? partials[0] : Sum{0, 0};
        __syncthreads();
        if (threadIdx.x == 0) write_value(args, pair, shared.sums);
        __syncthreads();
    }
}
