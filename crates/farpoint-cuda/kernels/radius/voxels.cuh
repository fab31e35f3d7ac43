// Active voxels out of sorted keys, the points in their order, and the spheres (the paper's
// algorithm 2, phases 2 to 4), with a sphere test that is safe in floating point.
//
// # The sphere test
//
// Let c be the center of a voxel as stored and r its radius, s the new sample, D_v the largest
// squared distance in the voxel. In real numbers the voxel can be left alone if
// |s - c| - r >= sqrt(D_v) (equation 25), or |s - c|^2 >= (r + sqrt(D_v))^2, whose right side
// is the voxel's *reach*. Computed numbers need a slack. That of the CPU is used, to the bit;
// its proof is at the top of crates/farpoint/src/fps/radius/voxels.rs. It requires of the
// stored c and r only that r >= above(x) for the largest computed squared distance x of c and
// a point of the voxel. So any sphere that covers the points will do: here it is the one around
// the middle of their box, which is smaller than the paper's sqrt(3) / 2 L (equation 10).
#pragma once
#include "radius/state.cuh"

// A voxel of many points is stored as several, so that no warp has much more to do than the
// others: cut at multiples of this many places, if half as many lie on both sides.
constexpr u32 CUT = 128;

#ifdef FARPOINT_F64
constexpr real UNIT = 0x1p-53;  // unit roundoff
__device__ __forceinline__ real root(real x) { return __dsqrt_rn(x); }
#else
constexpr real UNIT = 0x1p-24f;
__device__ __forceinline__ real root(real x) { return __fsqrt_rn(x); }
#endif

// At least the real distance of two places if its computed square is at most `x`.
__device__ __forceinline__ real above(real x) {
    real smallest = from_bits(1);
    return root(x + (smallest + smallest)) * (1 + 8 * UNIT);
}

// No sample whose computed squared distance from the center is above this changes a voxel of
// this radius and largest distance. Infinite where it overflows: then the voxel is visited.
__device__ __forceinline__ real reach(real radius, real largest) {
    real sum = radius + above(largest);
    return sum * sum * (1 + 16 * UNIT) + from_bits(8);
}

// Whether a voxel begins at place `i`.
__device__ __forceinline__ bool begins(const u32* keys, u32 i, u32 length) {
    u32 key = keys[i];
    if (i == 0 || keys[i - 1] != key) return true;
    if (i % CUT != 0 || i + CUT / 2 >= length) return false;
    return keys[i - CUT / 2] == key && keys[i + CUT / 2] == key;
}

// Where voxels begin among the places that this thread looks at, as bits. In a cloud so sparse
// that its voxels would not fit (more than half as many as points), they begin at even places
// only: a voxel may then hold a point of the one before or after it.
__device__ __forceinline__ u32 beginnings(const u32* keys, u32 length, bool paired) {
    u32 first = blockIdx.x * TILE + threadIdx.x * TILE_ITEMS, found = 0;
    for (u32 k = 0; k < TILE_ITEMS; ++k) {
        if (first + k < length && begins(keys, first + k, length)) found |= 1u << (paired ? k & ~1u : k);
    }
    return found;
}

// Counts the voxels that begin in this block's tile, both ways.
__device__ inline void count_voxels(u32 length, const u32* keys, u32* counts) {
    u32 single = __popc(beginnings(keys, length, false)), paired = __popc(beginnings(keys, length, true));
    __shared__ u32 sums[2];
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[0], single);
    atomicAdd(&sums[1], paired);
    __syncthreads();
    if (threadIdx.x < 2) counts[2 * blockIdx.x + threadIdx.x] = sums[threadIdx.x];
}

// Counts become the rank of a tile's first voxel, by one block.
__device__ inline void rank_tiles(u32 length, u32 tiles, const Voxels& v, u32* parts) {
    u32 single = 0, voxels;
    for (u32 i = threadIdx.x; i < tiles; i += blockDim.x) single += v.counts[2 * i];
    block_scan(single, parts, voxels);
    u32 paired = voxels > (length + 1) / 2, before = 0;
    for (u32 base = 0; base < tiles; base += blockDim.x) {
        u32 i = base + threadIdx.x, total;
        u32 n = i < tiles ? v.counts[2 * i + paired] : 0;
        u32 rank = before + block_scan(n, parts, total);
        if (i < tiles) v.counts[2 * i] = rank;
        before += total;
    }
    if (threadIdx.x == 0) {
        v.state->paired = paired;
        v.state->voxels = before;
        v.state->chunks = (before + LANES - 1) / LANES;
    }
}

// Writes the ranges of the voxels that begin in this block's tile.
__device__ inline void write_ranges(u32 length, const u32* keys, const Voxels& v, u32* parts) {
    u32 found = beginnings(keys, length, v.state->paired), total;
    u32 rank = v.counts[2 * blockIdx.x] + block_scan(__popc(found), parts, total);
    u32 first = blockIdx.x * TILE + threadIdx.x * TILE_ITEMS;
    u32 voxels = v.state->voxels, chunks = v.state->chunks;
    for (; found; found &= found - 1, ++rank) {
        u32 place = first + __ffs(found) - 1;
        v.ranges[slot_of(rank, chunks)].first = place;
        if (rank > 0) v.ranges[slot_of(rank - 1, chunks)].end = place;
        if (rank + 1 == voxels) v.ranges[slot_of(rank, chunks)].end = length;
    }
}

// Points by voxel, one array per axis; no distance is known yet.
__device__ inline void gather_points(const Cloud& cloud, const Voxels& v) {
    u32 end = tile_end(cloud.length);
    for (u32 i = blockIdx.x * TILE + threadIdx.x; i < end; i += TILE_THREADS) {
        u32 row = v.origin[i];
        v.x[i] = cloud.at(row, 0);
        v.y[i] = cloud.at(row, 1);
        v.z[i] = cloud.at(row, 2);
        v.distance[i] = infinity();
    }
}

// The smallest of numbers of any sign, which `warp_smallest` is not for.
__device__ __forceinline__ real warp_lowest(real x) {
    for (int step = LANES / 2; step > 0; step /= 2) x = smaller(x, __shfl_xor_sync(FULL, x, step));
    return x;
}

// The middle of the box of places first..end along an axis. Halved before they are added: the
// sum may overflow.
__device__ __forceinline__ real warp_middle(const real* axis, Range range) {
    real low = infinity(), high = infinity();
    for (u32 i = range.first + threadIdx.x % LANES; i < range.end; i += LANES) {
        low = smaller(low, axis[i]);
        high = smaller(high, -axis[i]);
    }
    return warp_lowest(low) * (real)0.5 - warp_lowest(high) * (real)0.5;
}

// The sphere of a voxel, by one warp.
__device__ inline void set_sphere(const Voxels& v, u32 slot) {
    Range range = v.ranges[slot];
    Sphere sphere = {warp_middle(v.x, range), warp_middle(v.y, range), warp_middle(v.z, range), 0};
    real farthest = 0;
    for (u32 i = range.first + threadIdx.x % LANES; i < range.end; i += LANES) {
        farthest = larger(farthest, squared(v.x[i], v.y[i], v.z[i], sphere.x, sphere.y, sphere.z));
    }
    farthest = -warp_lowest(-farthest);
    sphere.radius = above(farthest);
    if (threadIdx.x % LANES == 0) {
        v.spheres[slot] = sphere;
        store(&v.best[slot], {infinity(), v.origin[range.first]});
    }
}
