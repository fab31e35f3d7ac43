// The points of a cloud as a team of threads holds them: coordinates and distances in registers.
#pragma once
#include "common/batch.cuh"
#include "persistent/lanes.cuh"

// A point, with the axes that are kept close.
struct Place {
    u32 index;
    real x, y, z;
};

__device__ __forceinline__ Place place_of(const Cloud& cloud, u32 index) {
    return {index, cloud.at(index, 0), cloud.at(index, 1), cloud.at(index, 2)};
}

// The smaller of `nearest` and the squared distance of two points. MORE: the cloud has more than
// three axes; those past the third are read from global memory.
template <bool MORE>
__device__ __forceinline__ real lowered(const Cloud& cloud, real nearest, const Place& a, const Place& b) {
    real sum = squared(a.x, a.y, a.z, b.x, b.y, b.z);
    if (MORE) {
        // A sum of squares never falls: once it is not below `nearest`, the rest need not be read.
#pragma unroll 1
        for (u32 axis = 3; axis < cloud.dims && sum < nearest; ++axis) {
            real difference = cloud.at(a.index, axis) - cloud.at(b.index, axis);
            sum = sum + difference * difference;
        }
    }
    return least(nearest, sum);
}

// Which points are whose. The warps of a team take the points in turn: warp `group` of `groups`
// holds group, group + groups, ... Neighbors in the input are often neighbors in space; so they
// come to different warps, and a warp's second point says little about its first.
struct Share {
    u32 group;
    u32 groups;
};

// The points of one thread: K in registers; with EXTRA, those past K in shared memory. There lie
// also all coordinates, so that a point can be found by its number: [3][rows][threads], and after
// them with EXTRA the distances [rows - K][threads]. No thread reads what another wrote there.
template <u32 K_, bool MORE_, bool EXTRA>
struct Held {
    static constexpr u32 K = K_;
    static constexpr bool MORE = MORE_;
    static constexpr u32 CHUNK = K < 8 ? K : 8;
    real x[K], y[K], z[K];
    real nearest[K];  // squared distance to the nearest chosen point; below 0: no such point
    u32 base, stride; // point k of this thread is point base + k * stride of the cloud
    u32 rows;         // points per thread, at most: the same in the whole team
    u32 gone;         // bit k: point k is chosen. Its distance is 0, so it matters only among zeros
    u32 offered;      // index of the point this thread's warp offers, where this thread holds it
    u32 offered_k;
    real* shelf;

    __device__ __forceinline__ real* shelved(u32 axis, u32 k) const {
        return shelf + (axis * rows + k) * blockDim.x + threadIdx.x;
    }
    __device__ __forceinline__ real* extra(u32 k) const {
        return shelf + (3u * rows + k - K) * blockDim.x + threadIdx.x;
    }

    __device__ __forceinline__ void load(const Cloud& cloud, Share share, real* where) {
        shelf = where;
        base = lane_id() * share.groups + share.group;
        stride = 32u * share.groups;
        rows = (cloud.length + stride - 1u) / stride;
        gone = 0;
        offered = NONE;
#pragma unroll 4
        for (u32 k = 0; k < rows; ++k) {
            u32 index = base + k * stride;
            bool in = index < cloud.length;
            Place point = place_of(cloud, in ? index : 0u);
            *shelved(0, k) = point.x;
            *shelved(1, k) = point.y;
            *shelved(2, k) = point.z;
            if (EXTRA && k >= K) *extra(k) = in ? infinity() : (real)-1;
        }
#pragma unroll
        for (u32 k = 0; k < K; ++k) {
            bool in = k < rows && base + k * stride < cloud.length;
            u32 k_in = k < rows ? k : 0u;
            x[k] = *shelved(0, k_in);
            y[k] = *shelved(1, k_in);
            z[k] = *shelved(2, k_in);
            nearest[k] = in ? infinity() : (real)-1;
        }
    }

    // Lowers the distances to a new sample.
    __device__ __forceinline__ void update(const Cloud& cloud, const Place& sample) {
#pragma unroll
        for (u32 chunk = 0; chunk < K; chunk += CHUNK) {
            if (chunk > 0 && chunk >= rows) break;
#pragma unroll
            for (u32 k = chunk; k < chunk + CHUNK; ++k) {
                Place point = {base + k * stride, x[k], y[k], z[k]};
                nearest[k] = lowered<MORE>(cloud, nearest[k], point, sample);
            }
        }
        if (EXTRA) {
            for (u32 k = K; k < rows; ++k) {
                Place point = {base + k * stride, *shelved(0, k), *shelved(1, k), *shelved(2, k)};
                *extra(k) = lowered<MORE>(cloud, *extra(k), point, sample);
            }
        }
    }

    // Point k of this thread is chosen.
    __device__ __forceinline__ void take(u32 k) {
        if (EXTRA && k >= K) {
            *extra(k) = -1;
        } else {
            gone |= 1u << k;
        }
    }

    __device__ __forceinline__ u32 index(u32 k) const { return base + k * stride; }

    // Whether a point is this thread's, and which it then is.
    __device__ __forceinline__ bool has(u32 index, u32& k) const {
        k = index / stride;
        return index % stride == base;
    }

    // The largest and the second largest distance.
    __device__ __forceinline__ void scan(real& top, real& second, u32& k_of_top) const {
        top = second = -1;
#pragma unroll
        for (u32 chunk = 0; chunk < K; chunk += CHUNK) {
            if (chunk > 0 && chunk >= rows) break;
#pragma unroll
            for (u32 k = chunk; k < chunk + CHUNK; ++k) {
                second = most(second, least(top, nearest[k]));
                top = most(top, nearest[k]);
            }
        }
        k_of_top = K;
        if (EXTRA) {
            for (u32 k = K; k < rows; ++k) {
                real value = *extra(k);
                second = most(second, least(top, value));
                if (value > top) k_of_top = k;
                top = most(top, value);
            }
        }
    }

    // Takes the chosen points out for good. Until the largest distance is 0 they hide behind it.
    __device__ __forceinline__ void drop() {
#pragma unroll
        for (u32 k = 0; k < K; ++k) {
            if (gone >> k & 1u) nearest[k] = -1;
        }
        gone = 0;
    }

    // The first of this thread's points, and a bound on what comes after it.
    __device__ __forceinline__ void first_two(Candidate& best, Candidate& bound, u32& best_k) {
        real top, second;
        for (;;) {
            scan(top, second, best_k);
            if (top != (real)0 || gone == 0) break;
            drop();
        }
        // Of equal ones the lowest index: that is the lowest k.
#pragma unroll
        for (u32 k = K; k-- > 0;) {
            if (nearest[k] == top) best_k = k;
        }
        best = {top, base + best_k * stride};
        bound = {second, second == top ? best.index + stride : 0u};
    }
};
