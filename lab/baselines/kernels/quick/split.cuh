// The KD-tree, by one block: all nodes of a level are halved at the mean of their widest axis. Only its leaves are
// kept.
//
// Any partition of the points gives the same samples. So means are rounded, and nodes whose points are all equal
// are halved by their rows.
#pragma once
#include "quick/buckets.cuh"
#include "common/warp.cuh"

constexpr u32 STEPS = 4095;          // a coordinate is rounded to so many parts of its node's width
constexpr u32 MOST_OF_MEAN = 1u << 19;  // points whose parts are added: sums have 32 bits
constexpr u32 NO_AXIS = 3;

// Lowers a number in global memory, which is not NaN, of any sign: negative ones are ordered by their bits the
// other way around.
__device__ __forceinline__ void lower_to(real* at, real value) {
    // Relaxed: an old number costs an operation more.
    if (!(value < load_shared_word(at))) return;
#ifdef FARPOINT_F64
    i64 word = __double_as_longlong(value);
    if (word < 0) atomicMax((u64*)at, (u64)word);
    else atomicMin((i64*)at, word);
#else
    int word = __float_as_int(value);
    if (word < 0) atomicMax((u32*)at, (u32)word);
    else atomicMin((int*)at, word);
#endif
}

// Boxes of nodes while points are added: the lowest coordinates, and the lowest of what has the other sign.
__device__ __forceinline__ void add_to_box(real* box, const real (&point)[3]) {
    for (u32 a = 0; a < 3; ++a) {
        lower_to(box + a, point[a]);
        lower_to(box + 3 + a, -point[a]);
    }
}

// The half of its node that a point belongs to.
__device__ __forceinline__ u32 side(const Buckets& b, u32 node, const real (&point)[3], u32 row, u32 level) {
    u32 axis = b.word(ROW, node);
    if (axis == NO_AXIS) return row * 2654435769u >> (31 - level % 32) & 1;
    real value = axis == 0 ? point[0] : axis == 1 ? point[1] : point[2];
    return value >= b.number(LARGEST, node);
}

// The bucket that a leaf becomes: neighbors, which many samples reach together, belong to different warps.
__device__ __forceinline__ u32 bucket_of(u32 leaf, u32 height) {
    u32 bits = height > 5 ? height - 5 : 0;
    return leaf >> bits | (leaf & ((1u << bits) - 1)) << 5;
}

// Numbers all points by their nodes of a level, and finds the boxes of these; `leaves`: by their buckets.
__device__ inline void descend(const Cloud& cloud, const Buckets& b, u32 level, bool leaves) {
    u32 nodes = 1u << level;
    for (u32 k = threadIdx.x; k < 6 * nodes; k += blockDim.x) b.boxes[k] = infinity();
    __syncthreads();
    for (u32 row = threadIdx.x; row < cloud.length; row += blockDim.x) {
        real point[3] = {cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2)};
        u32 node = level == 0 ? 0 : b.bucket(row);
        if (level > 0) node = 2 * node + side(b, node, point, row, level - 1);
        if (leaves) node = bucket_of(node, level);
        b.bucket(row) = node;
        add_to_box(b.boxes + 6 * (u64)node, point);
    }
    __syncthreads();
    for (u32 node = threadIdx.x; node < nodes; node += blockDim.x) {
        for (u32 a = 0; a < 3; ++a) {
            b.number(LOW + a, node) = load_shared_word(b.boxes + 6 * (u64)node + a);
            b.number(HIGH + a, node) = -load_shared_word(b.boxes + 6 * (u64)node + 3 + a);
        }
    }
}

// Chooses the axis of each node. Halves, as a width may overflow.
__device__ __forceinline__ void choose_axes(const Buckets& b, u32 nodes) {
    for (u32 node = threadIdx.x; node < nodes; node += blockDim.x) {
        u32 axis = NO_AXIS;
        real widest = 0;
        for (u32 a = 0; a < 3; ++a) {
            real low = b.number(LOW + a, node), high = b.number(HIGH + a, node);
            real width = high * (real)0.5 - low * (real)0.5;
            if (low < high && (axis == NO_AXIS || width > widest)) axis = a, widest = width;
        }
        b.word(ROW, node) = axis;
        b.word(WAITING, node) = b.word(COUNTED, node) = 0;
    }
}

// Adds up where the points of each node lie along its axis. The sum doesn't depend on the order.
__device__ __forceinline__ void add_parts(const Cloud& cloud, const Buckets& b) {
    u64 step = (u64)blockDim.x * (cloud.length / MOST_OF_MEAN + 1);
    for (u64 row = threadIdx.x; row < cloud.length; row += step) {
        u32 node = b.bucket(row), axis = b.word(ROW, node);
        if (axis == NO_AXIS) continue;
        real low = b.number(LOW + axis, node) * (real)0.5, width = b.number(HIGH + axis, node) * (real)0.5 - low;
        atomicAdd(&b.word(WAITING, node), (u32)((cloud.at((u32)row, axis) * (real)0.5 - low) / width * (real)STEPS));
        atomicAdd(&b.word(COUNTED, node), 1);
    }
}

// Where each node is halved: at its mean, or, if that is rounded out of the box, below its highest points.
__device__ __forceinline__ void choose_middles(const Buckets& b, u32 nodes) {
    for (u32 node = threadIdx.x; node < nodes; node += blockDim.x) {
        u32 axis = b.word(ROW, node);
        if (axis == NO_AXIS) continue;
        real low = b.number(LOW + axis, node), high = b.number(HIGH + axis, node);
        real part = (real)b.word(WAITING, node) / ((real)b.word(COUNTED, node) * (real)STEPS);
        real middle = (low * (real)0.5 + part * (high * (real)0.5 - low * (real)0.5)) * 2;
        b.number(LARGEST, node) = middle > low && middle <= high ? middle : high;
    }
}

// From numbers of points in each bucket to the first place of each, by the first warp.
__device__ inline void sum_counts(const Buckets& b, u32 length) {
    u32 lane = threadIdx.x & 31, before = 0;
    if (threadIdx.x >= 32) return;
    for (u32 first = 0; first < b.count; first += 32) {
        u32 bucket = first + lane, count = bucket < b.count ? b.word(WAITING, bucket) : 0, sum = warp_sum_to(count);
        if (bucket < b.count) b.word(FIRST, bucket) = b.word(COUNTED, bucket) = before + sum - count;
        before += __shfl_sync(FULL, sum, 31);
    }
    if (lane == 0) b.word(FIRST, b.count) = length;
}

// Stores the points by bucket, in any order; no distance is known yet.
__device__ inline void store_points(const Cloud& cloud, const Buckets& b) {
    for (u32 k = threadIdx.x; k < b.count; k += blockDim.x) b.word(WAITING, k) = 0;
    __syncthreads();
    for (u32 row = threadIdx.x; row < cloud.length; row += blockDim.x) atomicAdd(&b.word(WAITING, b.bucket(row)), 1);
    __syncthreads();
    sum_counts(b, cloud.length);
    __syncthreads();
    for (u32 row = threadIdx.x; row < cloud.length; row += blockDim.x) {
        u32 place = atomicAdd(&b.word(COUNTED, b.bucket(row)), 1);
        b.coordinate(0, place) = cloud.at(row, 0);
        b.coordinate(1, place) = cloud.at(row, 1);
        b.coordinate(2, place) = cloud.at(row, 2);
        b.distance(place) = infinity();
        b.row(place) = row;
    }
    for (u32 k = threadIdx.x; k < b.count; k += blockDim.x) b.word(WAITING, k) = 0;
    __syncthreads();
}

// Splits a cloud into 2^height buckets, of which some may be empty.
__device__ inline void split_cloud(const Cloud& cloud, const Buckets& b, u32 height) {
    for (u32 level = 0; level < height; ++level) {
        descend(cloud, b, level, false);
        choose_axes(b, 1u << level);
        __syncthreads();
        add_parts(cloud, b);
        __syncthreads();
        choose_middles(b, 1u << level);
        __syncthreads();
    }
    descend(cloud, b, height, true);
    __syncthreads();
    store_points(cloud, b);
}
