// A band and its points, and how a point is accepted.
#pragma once
#include "peak/search.cuh"

struct Band {
    real beta;   // what lies above it is decided
    u32 turn;    // the copy of the maxima that was made before it
    u32 points;  // how many
    real top;    // no distance is above it, but of points chosen before
    u32 list;    // where its accepted points begin in the list, if warps look there; else NONE
    bool spread; // whether accepted points are applied to the band at once
    bool kept;   // whether warps keep what is around their points (kept.cuh)
};

// Whether an accepted or unaccepted point of this value comes before a point of distance `t`.
__device__ __forceinline__ bool stands_before(real value, const Points& points, u32 at, real t, u32 row) {
    return value > t || (value == t && points.order[at] < row);
}

// A lane's point of the band.
struct Member {
    Site site;
    real t;        // its distance
    u32 witness;   // whom it waits for, or NONE
    bool in;       // whether it is undecided
};

// The point of a band with this number, if it is below `end`.
__device__ __forceinline__ Member load_member(const State& state, u32 k, u32 end) {
    Member member;
    member.site = site(state.points, member_at(state, min(k, end - 1)));
    member.witness = state.witness[member.site.at];
    member.t = load_shared_word(&state.points.distance[member.site.at]);
    member.in = k < end && member.t > (real)0;
    return member;
}

// Applies an accepted point to the points of the band around that come after it.
template <bool HIGH>
__device__ __noinline__ void spread(const State& state, Stack stack, const Site& point, real t, const Band& band) {
    const Points& points = state.points;
    u32 lane = threadIdx.x & 31, groups[AT_ONCE];
    bits floor = to_bits(band.beta);
    auto near = [&](const Children& c, u32 child) {
        return (c.largest[band.turn][child] > floor) & (box_distance(c, child, point.x, point.y, point.z) < t);
    };
    begin_search(state.tree, stack, near);
    while (next_groups(state.tree, stack, groups, near) > 0) {
        real words[AT_ONCE], distances[AT_ONCE];
        for (u32 k = 0; k < AT_ONCE; ++k) {
            words[k] = load_shared_word(&points.distance[groups[k] * 32 + lane]);
            distances[k] = site_distance<HIGH>(state.cloud, lane_site<HIGH>(points, groups[k], lane), point);
        }
        for (u32 k = 0; k < AT_ONCE; ++k) {
            u32 at = groups[k] * 32 + lane;
            if (distances[k] < words[k] && words[k] > band.beta && comes_before(t, point.row, words[k], words[k] == t ? points.order[at] : 0)) {
                lower_shared_word(&points.distance[at], distances[k]);
            }
        }
    }
}

// Applies accepted points that lanes have, one after another.
template <bool HIGH>
__device__ __forceinline__ void spread_all(const State& state, Stack stack, const Site& site, real t, u32 lanes, const Band& band) {
    for (; lanes; lanes &= lanes - 1) {
        u32 who = __ffs(lanes) - 1;
        spread<HIGH>(state, stack, broadcast(site, who), __shfl_sync(FULL, t, who), band);
    }
}

// Accepts a point unless its distance has been lowered meanwhile, if it is `shared` with warps that do so; the
// distance comes back.
__device__ __forceinline__ real accept(const State& state, const Site& point, real t, bool shared) {
    real found = t;
    if ((threadIdx.x & 31) == 0) {
        // Where nobody else lowers it, it is as it was read.
        if (!shared) *(volatile real*)&state.points.distance[point.at] = -t;
        else found = swap_shared_word(&state.points.distance[point.at], t, -t);
        if (found == t) {
            u32 k = place_accepted(state, point.at);
            state.accepted.key[k] = ~to_bits(t);
            // Relaxed: who sees it late passes the point by (apply_list).
            store_relaxed(&state.accepted.at[k], point.at);
            if (!SPANS) store_packed(&state.packed[k % state.packed_size], {point.x, point.y, point.z, t});
        }
    }
    return __shfl_sync(FULL, found, 0);
}

// Appends the lanes' points that were accepted (`done`) to the list; which these are comes back.
__device__ __forceinline__ u32 append_accepted(const State& state, const Site& site, real t, bool done) {
    u32 all = __ballot_sync(FULL, done);
    if (all == 0) return 0;
    u32 place = place_all_accepted(state, site.at, done);
    if (done) {
        state.accepted.key[place] = ~to_bits(t);
        store_relaxed(&state.accepted.at[place], site.at);
        if (!SPANS) store_packed(&state.packed[place % state.packed_size], {site.x, site.y, site.z, t});
    }
    return all;
}

// Of the lanes of a warp with `left`: those near the first of them, so that their box is not much larger than what
// they search.
__device__ __forceinline__ bool is_near_first(const Member& member, bool left) {
    u32 first = max(__ffs(__ballot_sync(FULL, left)), 1) - 1;
    real x = __shfl_sync(FULL, member.site.x, first), y = __shfl_sync(FULL, member.site.y, first), z = __shfl_sync(FULL, member.site.z, first);
    real close = 36 * __shfl_sync(FULL, member.t, first);
    return left && ((threadIdx.x & 31) == first || squared(member.site.x, member.site.y, member.site.z, x, y, z) < close);
}

// The box around the points of the lanes with `part`.
__device__ __forceinline__ Box box_around(const Member& member, bool part) {
    real inf = infinity();
    return warp_box({{part ? member.site.x : inf, part ? member.site.y : inf, part ? member.site.z : inf},
                     {part ? member.site.x : -inf, part ? member.site.y : -inf, part ? member.site.z : -inf}});
}

// Whether this warp is to give up. A call, so that it has registers of its own.
__device__ __noinline__ bool waits_too_long(const State& state) {
    Wait& wait = *(Wait*)state.waits[threadIdx.x >> 5];
    return wait.look(*state.guard, &state.header->raised, FOR_DECISIONS, state.accepted.count);
}
