// What is in the way of a warp's points, found once: all points of the band around them are listed, and then
// looked at again and again, until the warp's are decided. No tree is walked, and nobody is told what was accepted, unless
// some warp has more around its points than it can list.
#pragma once
#include "peak/band.cuh"

constexpr u32 KEPT = 4;                     // points around that a lane keeps
constexpr u32 KEPT_AT = STACK - 32 * KEPT;  // where they wait in the stack's memory, above what searches use

// Lists all undecided and accepted points of the band within the distance of any of a warp's points, those that
// come after included: they may come before once the distance is lower. Returns how many, or NONE: too many.
template <bool HIGH>
__device__ __forceinline__ u32 list_around(const State& state, Stack stack, const Member& member, const Band& band) {
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
            return (c.largest[band.turn][child] > floor) & (boxes_gap(box_of(c, child), box) < reach);
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
                if (n > 32 * KEPT) return NONE;
                if (counts) stack.nodes[KEPT_AT + place] = groups[k] * 32 + lane;
            }
        }
    }
    __syncwarp();
    count(state, SEARCHES, 1);
    count(state, LEAVES, leaves);
    return n;
}

// The points around those of a warp, by lane.
struct Kept {
    u32 at[KEPT];      // NONE: none, or none that matters any more
    real words[KEPT];  // their distances when last looked at, as the array has them
};

// Looks at them again; whether any has changed comes back.
__device__ __forceinline__ bool look_again(const Points& points, Kept& kept) {
    bool changed = false;
    for (u32 k = 0; k < KEPT; ++k) {
        // What is accepted stays so.
        if (kept.at[k] == NONE || kept.words[k] < (real)0) continue;
        real word = load_shared_word(&points.distance[kept.at[k]]);
        changed |= word != kept.words[k];
        kept.words[k] = word;
    }
    return changed;
}

// What a look finds for a lane's point: its distance, and whether an undecided point stands before it.
struct Finding {
    real t;
    bool blocked;
};

// Compares a warp's points, of distances `t`, with those around.
template <bool HIGH>
__device__ __forceinline__ Finding compare_kept(const State& state, const Member& member, real t, const Band& band, Kept& kept) {
    Site others[KEPT];
    bool near[KEPT];
    for (u32 k = 0; k < KEPT; ++k) {
        real size = kept.words[k] < (real)0 ? -kept.words[k] : kept.words[k];
        if (!(size > band.beta && size <= band.top)) kept.at[k] = NONE;
        others[k] = site(state.points, kept.at[k] != NONE ? kept.at[k] : 0);
        near[k] = false;
    }
    Finding finding = {t, false};
    for (u32 rest = __ballot_sync(FULL, member.in); rest; rest &= rest - 1) {
        u32 who = __ffs(rest) - 1;
        Site mine = broadcast(member.site, who);
        real most = __shfl_sync(FULL, t, who), low = most;
        bool blocked = false;
        for (u32 k = 0; k < KEPT; ++k) {
            bool taken = kept.words[k] < (real)0;
            real value = taken ? -kept.words[k] : kept.words[k], d = site_distance<HIGH>(state.cloud, mine, others[k]);
            near[k] |= d < most;
            bool before = kept.at[k] != NONE && d < most && comes_before(value, others[k].row, most, mine.row);
            if (before && taken) low = smaller(low, d);
            blocked |= before && !taken;
        }
        if (__any_sync(FULL, low < most)) low = warp_smallest(low);
        blocked = __any_sync(FULL, blocked);
        if ((threadIdx.x & 31) == who) finding = {low, blocked};
    }
    // Distances only fall: what is near none now never is.
    for (u32 k = 0; k < KEPT; ++k) {
        if (!near[k]) kept.at[k] = NONE;
    }
    return finding;
}

// One look: each of a warp's points is lowered, accepted, or waits.
template <bool HIGH>
__device__ __forceinline__ void look_at_kept(const State& state, Stack stack, Member& member, const Band& band, Kept& kept) {
    real* own = &state.points.distance[member.site.at];
    real t = member.in ? load_shared_word(own) : (real)0;
    bool changed = look_again(state.points, kept) || (member.in && t != member.t), done = false;
    if (!__any_sync(FULL, changed)) return;
    Finding finding = compare_kept<HIGH>(state, member, t, band, kept);
    if (member.in) {
        real now = t;
        if (finding.t < t) lower_shared_word(own, now = finding.t);
        else if (!finding.blocked && t > band.beta) now = swap_shared_word(own, t, -t), done = now == t;
        member.in = !done && now > band.beta;
    }
    // What it was compared at: at another distance it is compared anew.
    member.t = t;
    u32 all = append_accepted(state, member.site, t, done);
    // Relaxed: a warp that is seen too late only searches more often.
    if (all == 0 || !band.spread || !__any_sync(FULL, load_relaxed(&header_of(state, own_part(state))->overfull[band.turn]) != 0)) return;
    spread_all<HIGH>(state, stack, member.site, t, all, band);
}

enum Ending { OVERFULL, DONE, LOST };

// Decides points `begin..end` of a band. OVERFULL: too many are around, and none is decided. LOST: the warp has given up.
template <bool HIGH>
__device__ __forceinline__ Ending solve_kept(const State& state, Stack stack, const Band& band, u32 begin, u32 end) {
    u32 lane = threadIdx.x & 31;
    Member member = load_member(state, begin + lane, end);
    u32 found = list_around<HIGH>(state, stack, member, band);
    if (found == NONE) {
        if (lane < copies(state)) store_relaxed(&header_of(state, lane)->overfull[band.turn], 1);
        return OVERFULL;
    }
    Kept kept;
    for (u32 k = 0; k < KEPT; ++k) {
        kept.at[k] = k * 32 + lane < found ? stack.nodes[KEPT_AT + k * 32 + lane] : NONE;
        kept.words[k] = 0;
    }
    __syncwarp();
    Wait& wait = *(Wait*)state.waits[threadIdx.x >> 5];
    while (__any_sync(FULL, member.in)) {
        look_at_kept<HIGH>(state, stack, member, band, kept);
        if (__any_sync(FULL, lane == 0 && ++wait.polls % OFTEN == 0 && waits_too_long(state))) return LOST;
    }
    return DONE;
}
