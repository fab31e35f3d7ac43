// Samples in the order of choice: by distance, then row.
#pragma once
#include "cluster/radix.cuh"

// What samples are sorted by, from the least to the most.
enum Digits { BY_ROW = 0, BY_DISTANCE = 1 };

// Sorts this block's `mine` of all samples by 32 bits, or 16 of rows; array 0 has the result.
__device__ __forceinline__ void sort_by(const Room& r, Desk& desk, const Sorting& w, u32 mine, u32 slice, u32 what) {
    for (u32 k = threadIdx.x; k < mine; k += blockDim.x) {
        Sample one = r.list[w.values[k]];
        w.keys[k] = what == BY_ROW ? one.row : (u32)(~to_bits(one.t) >> 32 * (what - BY_DISTANCE));
    }
    __syncthreads();
    for (u32 pass = 0; pass < (what == BY_ROW ? 2 : 4); ++pass) sort_pass(r, desk, w, mine, slice, pass * 8, pass & 1, false);
}

// Sorts the `n` listed samples, each block a slice of them; by rows, too, if some distances are equal.
__device__ __forceinline__ void sort_samples(const Room& r, Desk& desk, const Sorting& w, u32 n, u32 slice, bool ties) {
    u32 first = min(r.rank * slice, n), mine = min(slice, n - first);
    for (u32 k = threadIdx.x; k < mine; k += blockDim.x) w.values[k] = (u16)(first + k);
    for (u32 what = ties ? BY_ROW : BY_DISTANCE; what < BY_DISTANCE + sizeof(bits) / 4; ++what) {
        __syncthreads();
        sort_by(r, desk, w, mine, slice, what);
    }
}

// Writes the `n` listed samples, from number `before` on; the first that is not wanted tells the covering radius. A call,
// so that it has registers of its own.
__device__ __noinline__ void write_samples(const Room r, Desk& desk, u32 n, u32 before, u32 share) {
    const Cloud& cloud = desk.cloud;
    u32 slice = (n + 32 * r.blocks - 1) / (32 * r.blocks) * 32, first = min(r.rank * slice, n), mine = min(slice, n - first);
    Sorting w(r, share);
    for (bool ties = false; true; ties = true) {
        sort_samples(r, desk, w, n, slice, ties);
        if (ties) break;
        // A pair in two blocks is seen by the first.
        bool equal = false;
        for (u32 k = threadIdx.x; k < mine && first + k + 1 < n; k += blockDim.x) {
            u32 next = k + 1 < mine ? w.values[k + 1] : *in_block(w.values, r.rank + 1);
            equal |= r.list[w.values[k]].t == r.list[next].t;
        }
        equal = __syncthreads_or(equal);
        if (threadIdx.x < r.blocks) *in_block(&desk.equal[r.rank], threadIdx.x) = equal;
        meet(r);
        for (u32 b = 0; b < r.blocks; ++b) equal |= desk.equal[b];
        if (!equal) break;
    }
    for (u32 k = threadIdx.x; k < mine; k += blockDim.x) {
        Sample sample = r.list[w.values[k]];
        u32 rank = before + first + k;
        if (rank < cloud.wanted) write_sample(cloud, rank, sample.row, sample.t);
        if (rank == cloud.wanted && cloud.covering) *cloud.covering = sample.t;
    }
}
