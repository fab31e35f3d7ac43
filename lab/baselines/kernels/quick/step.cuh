// One step: test a new sample against every bucket, skip, delay or visit, find the next.
#pragma once
#include "quick/buckets.cuh"
#include "common/warp.cuh"

#ifdef FARPOINT_F64
constexpr u32 AT_ONCE = 2;  // points that a lane looks at together
#else
constexpr u32 AT_ONCE = 4;
#endif

// The point to choose next: the largest value, and among equals the lowest row.
struct Choice {
    bits key;    // of the value; 0: nothing is left to choose
    u32 row;
    u32 bucket;
};

__device__ __forceinline__ bits key_of(real value) { return value >= 0 ? to_bits(value) + 1 : 0; }
__device__ __forceinline__ real value_of(bits key) { return key ? from_bits(key - 1) : (real)-1; }

// The first of the lanes' choices, in every lane; the bucket is not that of a row if nothing is left.
__device__ __forceinline__ Choice warp_choice(Choice mine, u32* who) {
    FirstLane first = warp_first(mine.key, mine.row);
    *who = first.lane;
    return {first.value, first.row, __shfl_sync(FULL, mine.bucket, first.lane)};
}

// What is chosen, or would be next.
struct Sample {
    Pending point;
    u32 bucket;
    real value;  // squared distance; -1 if nothing is left
};

// A distance over three axes, continued over the others of two rows.
__device__ __forceinline__ real further(const Cloud& cloud, real sum, u32 row, u32 sample) {
#pragma unroll 1
    for (u32 axis = 3; axis < cloud.dims; ++axis) {
        real difference = cloud.at(row, axis) - cloud.at(sample, axis);
        sum = sum + difference * difference;
    }
    return sum;
}

// A lower bound of the squared distance from a point to anything in a bucket (common/boxtree.cuh).
__device__ __forceinline__ real bound(const Buckets& b, u32 bucket, const Pending& sample) {
    real gx = box_gap(b.number(LOW, bucket), b.number(HIGH, bucket), sample.x);
    real gy = box_gap(b.number(LOW + 1, bucket), b.number(HIGH + 1, bucket), sample.y);
    real gz = box_gap(b.number(LOW + 2, bucket), b.number(HIGH + 2, bucket), sample.z);
    return (gx * gx + gy * gy) + gz * gz;
}

// Tests a sample, which is in bucket `own`, against the bucket of this lane: whether that must be visited. If it needs
// not, but some of its points come nearer, the sample is put on its list.
__device__ __forceinline__ bool test(const Cloud& cloud, const Buckets& b, u32 bucket, const Pending& sample, u32 own) {
    if (bucket >= b.count) return false;
    real largest = b.number(LARGEST, bucket);
    if (bucket == own) return true;
    if (!(bound(b, bucket, sample) < largest)) return false;
    real x = b.number(AT, bucket), y = b.number(AT + 1, bucket), z = b.number(AT + 2, bucket);
    real nearer = squared(x, y, z, sample.x, sample.y, sample.z);
    if (cloud.dims > 3) nearer = further(cloud, nearer, b.word(ROW, bucket), sample.row);
    u32 waiting = b.word(WAITING, bucket);
    if (nearer < largest || waiting == PENDING) return true;
    b.pending[(u64)bucket * PENDING + waiting] = sample;
    b.word(WAITING, bucket) = waiting + 1;
    return false;
}

// Points of a bucket that a lane holds.
struct Held {
    real x[AT_ONCE], y[AT_ONCE], z[AT_ONCE], distance[AT_ONCE];
    u32 row[AT_ONCE];
};

__device__ __forceinline__ void load_points(const Buckets& b, u32 place, u32 end, Held& points) {
#pragma unroll
    for (u32 k = 0; k < AT_ONCE; ++k) {
        u32 at = min(place + 32 * k, end - 1);
        points.x[k] = b.coordinate(0, at);
        points.y[k] = b.coordinate(1, at);
        points.z[k] = b.coordinate(2, at);
        points.distance[k] = b.distance(at);
        points.row[k] = b.row(at);
    }
}

// Lowers the distances of points to a sample.
__device__ __forceinline__ void apply(const Cloud& cloud, const Pending& sample, Held& points) {
#pragma unroll
    for (u32 k = 0; k < AT_ONCE; ++k) {
        real now = squared(points.x[k], points.y[k], points.z[k], sample.x, sample.y, sample.z);
        if (cloud.dims > 3) now = further(cloud, now, points.row[k], sample.row);
        points.distance[k] = smaller(points.distance[k], now);
    }
}

// Sample `from` of those that the lanes hold.
__device__ __forceinline__ Pending broadcast(const Pending& mine, u32 from) {
    return {__shfl_sync(FULL, mine.x, from), __shfl_sync(FULL, mine.y, from), __shfl_sync(FULL, mine.z, from),
            __shfl_sync(FULL, mine.row, from)};
}

// Applies a sample to the points of a bucket, and those on its list, and finds its first point, by a warp. With the
// row NONE there is no sample.
__device__ __forceinline__ void visit(const Cloud& cloud, const Buckets& b, u32 bucket, const Pending& sample) {
    u32 lane = threadIdx.x & 31, waiting = b.word(WAITING, bucket);
    u32 begin = b.word(FIRST, bucket), end = b.word(FIRST, bucket + 1);
    Pending mine = sample;
    if (lane < waiting) mine = b.pending[(u64)bucket * PENDING + lane];
    Choice best = {0, NONE, 0};
    real at[3] = {0, 0, 0};
    for (u32 base = begin; base < end; base += 32 * AT_ONCE) {
        Held points;
        load_points(b, base + lane, end, points);
        if (sample.row != NONE) apply(cloud, sample, points);
        for (u32 p = 0; p < waiting; ++p) apply(cloud, broadcast(mine, p), points);
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; ++k) {
            u32 place = base + lane + 32 * k;
            if (place >= end) continue;
            if (points.row[k] == sample.row) points.distance[k] = -1;
            b.distance(place) = points.distance[k];
            bits key = key_of(points.distance[k]);
            if (key > best.key || (key == best.key && points.row[k] < best.row)) {
                best = {key, points.row[k], 0};
                at[0] = points.x[k], at[1] = points.y[k], at[2] = points.z[k];
            }
        }
    }
    u32 who;
    best = warp_choice(best, &who);
    // All lanes have read what one of them writes.
    __syncwarp();
    if (lane != who) return;
    b.number(LARGEST, bucket) = value_of(best.key);
    b.word(ROW, bucket) = best.row;
    for (u32 a = 0; a < 3; ++a) b.number(AT + a, bucket) = at[a];
    b.word(WAITING, bucket) = 0;
}

// Applies a sample to the buckets of this warp; the first of their points comes back, in every lane.
__device__ __forceinline__ Sample apply_to_warp(const Cloud& cloud, const Buckets& b, const Sample& sample) {
    u32 lane = threadIdx.x & 31, who;
    Choice mine = {0, NONE, 0};
    for (u32 first = threadIdx.x & ~31u; first < b.count; first += blockDim.x) {
        u32 visits = __ballot_sync(FULL, test(cloud, b, first + lane, sample.point, sample.bucket));
        // What the lanes wrote is read by the others.
        __syncwarp();
        for (; visits; visits &= visits - 1) visit(cloud, b, first + __ffs(visits) - 1, sample.point);
        __syncwarp();
        if (first + lane >= b.count) continue;
        bits key = key_of(b.number(LARGEST, first + lane));
        u32 row = b.word(ROW, first + lane);
        if (key > mine.key || (key == mine.key && row < mine.row)) mine = {key, row, first + lane};
    }
    mine = warp_choice(mine, &who);
    // Bucket 0 may be another warp's, which is writing it.
    if (mine.key == 0) return {{0, 0, 0, NONE}, 0, (real)-1};
    u32 from = mine.bucket;
    Pending point = {b.number(AT, from), b.number(AT + 1, from), b.number(AT + 2, from), mine.row};
    return {point, from, value_of(mine.key)};
}

// Applies a sample to all buckets; the next one comes back. Warps tell each other by turns in one half of `told` and
// in the other, so that none overwrites what another has yet to read.
__device__ __forceinline__ Sample apply_sample(const Cloud& cloud, const Buckets& b, const Sample& sample, Sample (&told)[32]) {
    u32 lane = threadIdx.x & 31, who;
    Sample mine = apply_to_warp(cloud, b, sample);
    if (lane == 0) told[threadIdx.x >> 5] = mine;
    __syncthreads();
    Choice choice = {0, NONE, 0};
    if (lane < blockDim.x >> 5) choice = {key_of(told[lane].value), told[lane].point.row, 0};
    warp_choice(choice, &who);
    return told[who];
}
