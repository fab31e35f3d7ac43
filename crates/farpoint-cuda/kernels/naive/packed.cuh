// The same for clouds of up to three axes: coordinates are packed into arrays of their own and read 16
// bytes at a time, distances are written only where they fall, and threads meet once a sample.
//
// A thread has every blockDim.x-th vector; only it reads and writes the distances of these.
#pragma once
#include "common/batch.cuh"
#include "common/warp.cuh"

constexpr u32 WIDTH = 16 / sizeof(real);

struct alignas(16) Vector {
    real at[WIDTH];
};

struct Packed {
    Vector* axes[3];
    Vector* distances;
    u32 vectors;
};

// Every warp's first candidate, by turns: a warp that is a sample ahead writes to the other half.
struct Firsts {
    Candidate warps[2][32];
};

// Stores this thread's points. The last vector is filled up with chosen ones.
__device__ __forceinline__ void pack(const Cloud& cloud, const Packed& packed) {
    for (u32 v = threadIdx.x; v < packed.vectors; v += blockDim.x) {
        Vector axes[3], distances;
        for (u32 k = 0; k < WIDTH; ++k) {
            u32 row = v * WIDTH + k;
            bool here = row < cloud.length;
            for (u32 a = 0; a < 3; ++a) axes[a].at[k] = here ? cloud.at(row, a) : (real)0;
            distances.at[k] = here ? infinity() : (real)-1;
        }
        for (u32 a = 0; a < 3; ++a) packed.axes[a][v] = axes[a];
        packed.distances[v] = distances;
    }
}

// A vector and the largest distance in it.
struct Best {
    real value;
    u32 vector;
};

// Lowers the distances of a vector to a new sample.
__device__ __forceinline__ void lower(const Packed& packed, u32 v, real x, real y, real z, Best& best) {
    Vector px = packed.axes[0][v], py = packed.axes[1][v], pz = packed.axes[2][v], found = packed.distances[v];
    bool lowered = false;
    real most = -1;
    for (u32 k = 0; k < WIDTH; ++k) {
        real distance = squared(px.at[k], py.at[k], pz.at[k], x, y, z);
        lowered |= distance < found.at[k];
        found.at[k] = smaller(found.at[k], distance);
        most = larger(most, found.at[k]);
    }
    if (lowered) packed.distances[v] = found;
    if (most > best.value) best = {most, v};
}

// The largest of numbers that are not negative, or -1.
__device__ __forceinline__ real warp_most(real value) {
#if !defined(FARPOINT_F64) && __CUDA_ARCH__ >= 800
    return __int_as_float(__reduce_max_sync(FULL, __float_as_int(value)));
#else
    for (int step = 16; step > 0; step >>= 1) value = larger(value, __shfl_xor_sync(FULL, value, step));
    return value;
#endif
}

// Lowers the distances of this thread's points to a new sample; the warp's first candidate comes back.
__device__ __forceinline__ Candidate lower_all(const Packed& packed, u32 sample) {
    real x = packed.axes[0][sample / WIDTH].at[sample % WIDTH];
    real y = packed.axes[1][sample / WIDTH].at[sample % WIDTH];
    real z = packed.axes[2][sample / WIDTH].at[sample % WIDTH];
    u32 owned = sample / WIDTH;
    if ((owned & (blockDim.x - 1)) == threadIdx.x) packed.distances[owned].at[sample % WIDTH] = -1;
    Best best = {-1, NONE};
    for (u32 v = threadIdx.x; v < packed.vectors; v += blockDim.x) lower(packed, v, x, y, z, best);
    // The place in the vector is looked for only where it matters.
    real most = warp_most(best.value);
    u32 index = NONE;
    if (best.value == most && best.vector != NONE) {
        Vector found = packed.distances[best.vector];
        u32 k = 0;
        for (u32 other = WIDTH; other-- > 0;) k = found.at[other] == most ? other : k;
        index = best.vector * WIDTH + k;
    }
    return {most, warp_least(index)};
}

// The first of all warps' candidates, in every thread.
__device__ __forceinline__ Candidate first_of_warps(Candidate mine, Firsts& firsts, u32 turn) {
    u32 lane = threadIdx.x & 31u;
    if (lane == 0) firsts.warps[turn][threadIdx.x >> 5] = mine;
    __syncthreads();
    mine = lane < blockDim.x >> 5 ? firsts.warps[turn][lane] : Candidate{(real)-1, NONE};
    real most = warp_most(mine.value);
    return {most, warp_least(mine.value == most ? mine.index : NONE)};
}
