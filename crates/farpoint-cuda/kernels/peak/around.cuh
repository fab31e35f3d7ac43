// What is in the way of a point, found in the tree: for one point, or for several of a warp at once.
#pragma once
#include "peak/band.cuh"

// Lowers the largest distance of a group, which is that of when the band began, to that of its points now (accepted
// points of the band count with theirs), so that later searches skip the group. Distances only fall, so a value that
// another warp overwrites it with is a bound, too. In a tree of one level nothing is written: blocks that have yet to
// begin the band read the largest distance of all there.
__device__ __forceinline__ void lower_largest(const State& state, u32 group, real size, const Band& band) {
    // Padding is -0, which as bits would be above all others.
    bits largest = warp_largest(size > (real)0 && size <= band.top ? to_bits(size) : 0);
    if ((threadIdx.x & 31) == 0 && state.tree.height > 1) state.tree.levels[0].blocks[group >> 5].largest[band.turn][group & 31] = largest;
}

// Looks through the points within `t` of the point that come before it: what comes after is not
// in its way, and all that came before had a larger distance when the band began, so that nodes
// whose largest is below `t` are passed by. Returns a witness, or NONE; lowers `*t` by the
// accepted points that came before.
template <bool HIGH>
__device__ __forceinline__ u32 look_around(const State& state, Stack stack, const Site& point, const Band& band, real* t) {
    const Points& points = state.points;
    const real* words_at = in_global(points.distance);
    u32 lane = threadIdx.x & 31;
    real mine = *t, lowered = *t;
    bits floor = to_bits(mine);
    auto near = [&](const Children& c, u32 child) {
        // Both are loaded before either is looked at.
        return (c.largest[band.turn][child] >= floor) & (box_distance(c, child, point.x, point.y, point.z) < mine);
    };
    u32 groups[AT_ONCE], leaves = 0, found = NONE, n;
    begin_search(state.tree, stack, near);
    while (found == NONE && (n = next_groups(state.tree, stack, groups, near)) > 0) {
        real words[AT_ONCE], distances[AT_ONCE];
        for (u32 k = 0; k < AT_ONCE; ++k) {
            words[k] = load_shared_word(&words_at[groups[k] * 32 + lane]);
            distances[k] = site_distance<HIGH>(state.cloud, point, lane_site<HIGH>(points, groups[k], lane));
        }
        leaves += n;
        real best = 0;
        u32 who = NONE;
        for (u32 k = 0; k < AT_ONCE; ++k) {
            bool taken = words[k] < (real)0;
            real value = taken ? -words[k] : words[k];
            u32 at = groups[k] * 32 + lane;
            if (!__any_sync(FULL, value >= mine && value <= band.top)) lower_largest(state, groups[k], value, band);
            if (!(distances[k] < mine && value >= mine && stands_before(value, points, at, mine, point.row))) continue;
            if (taken) lowered = smaller(lowered, distances[k]);
            else if (value > best) best = value, who = at;
        }
        // Of several in the way, the one with the largest distance: it is decided first.
        bits strongest = warp_largest(to_bits(best));
        if (strongest) found = __shfl_sync(FULL, who, __ffs(__ballot_sync(FULL, to_bits(best) == strongest)) - 1);
    }
    *t = warp_smallest(lowered);
    count(state, SEARCHES, 1);
    count(state, LEAVES, leaves);
    return found;
}

// Decides a point, or finds whom it waits for: NONE when it is decided.
template <bool HIGH>
__device__ __forceinline__ u32 examine(const State& state, Stack stack, const Site& point, real t, const Band& band) {
    while (t > band.beta) {
        real lowered = t;
        u32 witness = look_around<HIGH>(state, stack, point, band, &lowered);
        if (lowered < t) {
            t = lowered;
            if ((threadIdx.x & 31) == 0) lower_shared_word(&state.points.distance[point.at], t);
        } else if (witness == NONE) {
            lowered = accept(state, point, t, band.spread);
            if (lowered == t) {
                if (band.spread) spread<HIGH>(state, stack, point, t, band);
                return NONE;
            }
            t = lowered;
        }
        if (witness != NONE) return t > band.beta ? witness : NONE;
    }
    return NONE;
}

// Looks around the lanes of `part` at once: `look_around` for each of them.
template <bool HIGH>
__device__ __forceinline__ void look_together(const State& state, Stack stack, const Member& member, bool part, const Band& band, real* lowered, u32* witness) {
    const Points& points = state.points;
    const real* words_at = in_global(points.distance);
    u32 lane = threadIdx.x & 31;
    real inf = infinity(), t = member.t, strongest = 0;
    Box box = box_around(member, part);
    real reach = from_bits(warp_largest(part ? to_bits(t) : 0)), least = warp_smallest(part ? t : inf);
    bits floor = to_bits(least);
    auto near = [&](const Children& c, u32 child) {
        return (c.largest[band.turn][child] >= floor) & (boxes_gap(box_of(c, child), box) < reach);
    };
    u32 groups[AT_ONCE], leaves = 0, n;
    begin_search(state.tree, stack, near);
    // Where points are lowered by the list of accepted ones, any witness is enough to wait for.
    while ((band.list == NONE || __any_sync(FULL, part && *witness == NONE)) && (n = next_groups(state.tree, stack, groups, near)) > 0) {
        leaves += n;
        real words[AT_ONCE];
        Site others[AT_ONCE];
        for (u32 k = 0; k < AT_ONCE; ++k) {
            words[k] = load_shared_word(&words_at[groups[k] * 32 + lane]);
            others[k] = lane_site<HIGH>(points, groups[k], lane);
        }
        for (u32 k = 0; k < AT_ONCE; ++k) {
            if (k >= n) continue;
            real size = words[k] < (real)0 ? -words[k] : words[k];
            bool counts = size >= least && size <= band.top;
            if (!__any_sync(FULL, counts)) {
                lower_largest(state, groups[k], size, band);
                continue;
            }
            counts = counts && gap_to(box, others[k].x, others[k].y, others[k].z) < reach;
            for (u32 rest = __ballot_sync(FULL, counts); rest; rest &= rest - 1) {
                u32 who = __ffs(rest) - 1;
                Site other = {__shfl_sync(FULL, others[k].x, who), __shfl_sync(FULL, others[k].y, who), __shfl_sync(FULL, others[k].z, who), groups[k] * 32 + who, NONE};
                if (HIGH) other.row = __shfl_sync(FULL, others[k].row, who);
                real word = __shfl_sync(FULL, words[k], who);
                bool taken = word < (real)0;
                real value = taken ? -word : word;
                real d = site_distance<HIGH>(state.cloud, member.site, other);
                if (!(part && d < t && value >= t && stands_before(value, points, other.at, t, member.site.row))) continue;
                if (taken) *lowered = smaller(*lowered, d);
                else if (value > strongest) strongest = value, *witness = other.at;
            }
        }
    }
    count(state, SEARCHES, 1);
    count(state, LEAVES, leaves);
}

// Examines the lanes with `open` at once; those that wait for nobody but are not decided look again later.
template <bool HIGH>
__device__ __forceinline__ void examine_together(const State& state, Stack stack, Member& member, bool open, const Band& band) {
    u32 witness = NONE;
    real t = member.t, lowered = t;
    bool left = open;
    while (__any_sync(FULL, left)) {
        bool part = is_near_first(member, left);
        left = left && !part;
        look_together<HIGH>(state, stack, member, part, band, &lowered, &witness);
    }
    bool done = false;
    if (open) {
        real* word = &state.points.distance[member.site.at];
        if (lowered < t) lower_shared_word(word, lowered), member.t = lowered;
        else if (witness == NONE) {
            real found = swap_shared_word(word, t, -t);
            done = found == t;
            member.t = found;
        }
        member.witness = witness;
        member.in = !done && member.t > band.beta;
    }
    u32 all = append_accepted(state, member.site, t, done);
    if (band.spread) spread_all<HIGH>(state, stack, member.site, t, all, band);
}
