// A stable radix sort between the blocks of a cluster, eight bits a pass.
#pragma once
#include "cluster/room.cuh"

// Where pairs are sorted: the space of points and candidates.
struct Sorting {
    u32* keys;    // two arrays
    u16* values;  // two arrays
    u32* counts;  // of digits, for each warp
    u32* totals;  // for each block
    u32* firsts;  // of a digit, for this block
    u32 share;    // length of the arrays

    __device__ __forceinline__ Sorting(const Room& r, u32 share) : share(share) {
        counts = (u32*)arena;
        totals = counts + warp_count() * DIGITS;
        firsts = totals + r.blocks * DIGITS;
        keys = firsts + DIGITS;
        values = (u16*)(keys + 2 * share);
    }
};

// Ranks of the elements of this warp among those of equal digit; the warp's counts of digits.
__device__ __forceinline__ void count_digits(const u32* keys, u32 begin, u32 end, u32 shift, u32* counts, u32 (&ranks)[MOST_EACH]) {
#pragma unroll
    for (u32 e = 0; e < MOST_EACH; ++e) {
        u32 k = begin + e * 32 + lane_id();
        if (begin + e * 32 >= end) break;
        u32 digit = k < end ? keys[k] >> shift & 255 : DIGITS + lane_id();
        u32 peers = __match_any_sync(FULL, digit), before = k < end ? counts[digit] : 0;
        __syncwarp();
        if (k < end && (peers >> lane_id()) == 1) counts[digit] = before + __popc(peers);
        __syncwarp();
        ranks[e] = before + __popc(peers & lanes_before());
    }
}

// From the counts of each warp to the places of its first elements; the block's counts go to all blocks.
__device__ __forceinline__ void add_counts(const Room& r, Desk& desk, const Sorting& w) {
    for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) {
        u32 sum = 0;
        for (u32 first = 0; first < warp_count(); first += 8) {
            u32 some[8];
#pragma unroll
            for (u32 k = 0; k < 8; ++k) some[k] = w.counts[(first + k) * DIGITS + d];
#pragma unroll
            for (u32 k = 0; k < 8; ++k) w.counts[(first + k) * DIGITS + d] = sum, sum += some[k];
        }
        for (u32 b = 0; b < r.blocks; ++b) *in_block(&w.totals[r.rank * DIGITS + d], b) = sum;
    }
    meet(r);
    u32 d = threadIdx.x, all = 0, earlier = 0, total;
    for (u32 b = 0; b < r.blocks && d < DIGITS; ++b) {
        u32 count = w.totals[b * DIGITS + d];
        if (b < r.rank) earlier += count;
        all += count;
    }
    u32 before = sum_before(all, desk.sums, &total);
    if (d < DIGITS) w.firsts[d] = before + earlier;
    __syncthreads();
}

// Sorts by the eight bits of the keys from `shift` on, from array `from` to the other. A block has `n` elements, and
// `slice` at most. `last`: the values are rows, and go to the places of points.
__device__ __forceinline__ void sort_pass(const Room& r, Desk& desk, const Sorting& w, u32 n, u32 slice, u32 shift, u32 from, bool last) {
    u32 each = (n + warp_count() * 32 - 1) / (warp_count() * 32) * 32, begin = min(warp_id() * each, n), end = min(begin + each, n);
    const u32* keys = w.keys + from * w.share;
    const u16* values = w.values + from * w.share;
    u32* counts = w.counts + warp_id() * DIGITS;
    u32 ranks[MOST_EACH];
    for (u32 d = lane_id(); d < DIGITS; d += 32) counts[d] = 0;
    __syncwarp();
    count_digits(keys, begin, end, shift, counts, ranks);
    __syncthreads();
    add_counts(r, desk, w);
#pragma unroll
    for (u32 e = 0; e < MOST_EACH; ++e) {
        u32 k = begin + e * 32 + lane_id();
        if (k >= end) break;
        u32 digit = keys[k] >> shift & 255, place = w.firsts[digit] + counts[digit] + ranks[e];
        if (last) {
            u32 group = place >> 5;
            *in_block(&r.rows[group / r.blocks * 32 + (place & 31)], group % r.blocks) = values[k];
        } else {
            u32 block = place / slice, at = (from ^ 1) * w.share + place - block * slice;
            *in_block(&w.keys[at], block) = keys[k];
            *in_block(&w.values[at], block) = values[k];
        }
    }
    meet(r);
}
