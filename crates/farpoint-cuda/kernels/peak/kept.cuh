// What is in the way of a warp's points, found once: all points of the band around them are listed, and then
// looked at again and again, until the warp's are decided. No tree is walked, and nobody is told what was accepted.
#pragma once
#include "peak/band.cuh"

constexpr u32 KEPT = 2;                     // points around that a lane keeps
constexpr u32 KEPT_AT = STACK - 32 * KEPT;  // where they wait in the stack's memory, above what searches use

// Lists all undecided and accepted points of the band within the distance of any of a warp's points, those that
// come after included: they may come before once the distance is lower. False: too many.
template <bool HIGH>
__device__ __forceinline__ bool list_around(const State& state, Stack stack, const Member& member, const Band& band, u32 kept[KEPT]) {
    const Points& points = state.points;
    const real* words_at = in_global(points.distance);
    u32 lane = threadIdx.x & 31, n = 0, leaves = 0;
    bits floor = to_bits(band.beta);
    bool left = member.in;
    while (__any_sync(FULL, left)) {
        bool part = is_near_first(member, left);
        left = left && !part;
        Box box = box_around(member, part);
        real reach = from_bits(warp_largest(part ? to_bits(member.t) : 0));
        auto near = [&](const Children& c, u32 child) {
            return (c.largest[band.turn][child] > floor) & (box_gap_of(c, child, box) < reach);
        };
        u32 groups[AT_ONCE], some;
        begin_search(state.tree, stack, near);
        while ((some = next_groups(state.tree, stack, groups, near)) > 0) {
            leaves += some;
            real words[AT_ONCE];
            Site others[AT_ONCE];
            for (u32 k = 0; k < AT_ONCE; ++k) {
                words[k] = load_shared_word(&words_at[groups[k] * 32 + lane]);
                others[k] = lane_site<false>(points, groups[k], lane);
            }
            for (u32 k = 0; k < AT_ONCE; ++k) {
                if (k >= some) continue;
                real size = words[k] < (real)0 ? -words[k] : words[k];
                bool counts = size > band.beta && size <= band.top && gap_to(box, others[k].x, others[k].y, others[k].z) < reach;
                u32 hits = __ballot_sync(FULL, counts), place = n + __popc(hits & ((1u << lane) - 1u));
                n += __popc(hits);
                if (n > 32 * KEPT) return false;
                if (counts) stack.nodes[KEPT_AT + place] = groups[k] * 32 + lane;
            }
        }
    }
    __syncwarp();
    for (u32 k = 0; k < KEPT; ++k) kept[k] = k * 32 + lane < n ? stack.nodes[KEPT_AT + k * 32 + lane] : NONE;
    count(state, SEARCHES, 1);
    count(state, LEAVES, leaves);
    __syncwarp();
    return true;
}

// One look at the points around those of a warp: each is lowered, accepted, or waits.
template <bool HIGH>
__device__ __forceinline__ void look_at_kept(const State& state, Member& member, const Band& band, u32 kept[KEPT]) {
    const Points& points = state.points;
    real* own = &points.distance[member.site.at];
    real words[KEPT];
    for (u32 k = 0; k < KEPT; ++k) words[k] = kept[k] != NONE ? load_shared_word(&points.distance[kept[k]]) : -(real)0;
    real t = member.in ? load_shared_word(own) : (real)0, lowered = t;
    bool blocked = false;
    for (u32 k = 0; k < KEPT; ++k) {
        real size = words[k] < (real)0 ? -words[k] : words[k];
        bool counts = size > band.beta && size <= band.top;
        if (!counts) kept[k] = NONE;
        u32 rest = __ballot_sync(FULL, counts);
        if (rest == 0) continue;
        Site other = site(points, counts ? kept[k] : 0);
        for (; rest; rest &= rest - 1) {
            u32 who = __ffs(rest) - 1;
            Site there = broadcast(other, who);
            real word = __shfl_sync(FULL, words[k], who);
            bool taken = word < (real)0;
            real value = taken ? -word : word, d = site_distance<HIGH>(state.cloud, member.site, there);
            if (!(d < t && comes_before(value, there.row, t, member.site.row))) continue;
            if (taken) lowered = smaller(lowered, d);
            else blocked = true;
        }
    }
    bool done = false;
    if (member.in) {
        if (lowered < t) lower_shared_word(own, lowered), t = lowered;
        else if (!blocked && t > band.beta) {
            real found = swap_shared_word(own, t, -t);
            done = found == t;
            if (!done) t = found;
        }
        member.t = t;
        member.in = !done && t > band.beta;
    }
    append_accepted(state, member.site, t, done);
}
