// Which candidates are the next samples: those with no other that comes before them within their distance
// (docs/peak.md). The others wait for the next round, when these samples have been applied to them.
#pragma once
#include "cluster/round.cuh"

// Whether a candidate of a chunk is in the way of `one`, of row `row`. Without branches: in most chunks some lanes
// would take each.
__device__ __forceinline__ bool is_in_way(const Room& r, u32 chunk, const Entry& one, u32 row) {
    u32 at = chunk * 32 + lane_id(), row_at = r.entry_rows[at];
    Entry mine = r.entries()[at];
    return (squared(one.x, one.y, one.z, mine.x, mine.y, mine.z) < one.t) & comes_first(mine.t, row_at, one.t, row);
}

// Whether candidate `k` is chosen.
__device__ __forceinline__ bool is_chosen(const Room& r, const Desk& desk, u32 k, u32 chunks) {
    Entry one = r.entries()[k];
    u32 row = r.entry_rows[k];
    if (__any_sync(FULL, is_in_way(r, k >> 5, one, row))) return false;
    for (u32 first = 0; first < chunks; first += 32) {
        u32 chunk = first + lane_id();
        bool near = (chunk < chunks) & (chunk != k >> 5) & (gap_to(desk.chunks[min(chunk, chunks - 1)], one.x, one.y, one.z) < one.t);
        for (u32 rest = __ballot_sync(FULL, near); rest; rest &= rest - 1) {
            bool waits = is_in_way(r, first + __ffs(rest) - 1, one, row);
            rest &= rest - 1;
            // Two at a time, so that their loads wait together.
            if (rest) waits |= is_in_way(r, first + __ffs(rest) - 1, one, row);
            if (__any_sync(FULL, waits)) return false;
        }
    }
    return true;
}

// Finds which of `n` candidates are chosen, and tells all blocks. Each warp has every so many-th.
__device__ __forceinline__ void choose(const Room& r, Desk& desk, u32 n) {
    for (u32 k = warp_id() * r.blocks + r.rank; k < n; k += r.blocks * warp_count()) {
        bool chosen = is_chosen(r, desk, k, (n + 31) / 32);
        if (lane_id() < r.blocks) *in_block(&r.chosen[k], lane_id()) = chosen;
    }
    meet(r);
}

// Lists the chosen ones of `n` candidates, for all warps and as samples from number `total` on; how many there are comes
// back.
__device__ __forceinline__ u32 list_chosen(const Room& r, Desk& desk, u32 n, u32 total) {
    u32 count = 0, all = 0;
    for (u32 first = 0; first < n; first += blockDim.x) {
        u32 k = first + threadIdx.x;
        bool chosen = k < n && r.chosen[k];
        u32 place = all + sum_before(chosen, desk.sums, &count);
        all += count;
        if (chosen) {
            r.fresh[place] = (u16)k;
            if (place % r.blocks == r.rank) r.list[total + place] = {r.entries()[k].t, r.entry_rows[k]};
        }
        __syncthreads();
    }
    return all;
}
