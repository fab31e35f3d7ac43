// Choosing within a band: which of its points farthest point sampling takes.
//
// A point i may be accepted once no unaccepted point that comes before it lies within its
// distance T(i), and every accepted one that came before it has been applied to T(i). Nothing
// in the proof (docs/peak.md) requires rounds: a distance read too early is only too large, and
// then a point waits longer than it must. So no barrier is needed. Each warp owns some points of
// the band, a lane each, and decides their fate; a point that found one in its way (its witness)
// looks at nothing else until the witness is decided.
//
// That what has been accepted is soon known to all shortens the waiting: while few points are
// accepted a band, every warp looks through the list of them; then, while there are some, the warp that
// accepts a point applies it to the points of the band around; of many, each concerns few.
#pragma once
#include "peak/search.cuh"

struct Band {
    real beta;   // what lies above it is decided
    u32 turn;    // the copy of the maxima that was made before it
    u32 points;  // how many
    u32 list;    // where its accepted points begin in the list, if warps look there; else NONE
    bool spread; // whether accepted points are applied to the band at once
};

// Whether an accepted or unaccepted point of this value comes before a point of distance `t`.
__device__ __forceinline__ bool stands_before(real value, const Points& points, u32 at, real t, u32 row) {
    return value > t || (value == t && points.order[at] < row);
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

// Accepts a point unless its distance has been lowered meanwhile; the distance comes back.
__device__ __forceinline__ real accept(const State& state, const Site& point, real t) {
    real found = t;
    if ((threadIdx.x & 31) == 0) {
        found = swap_shared_word(&state.points.distance[point.at], t, -t);
        if (found == t) {
            u32 k = atomicAdd(state.accepted.count, 1u);
            state.accepted.key[k] = ~to_bits(t);
            // Relaxed: who sees it late passes the point by (apply_list).
            store_relaxed(&state.accepted.at[k], point.at);
        }
    }
    return __shfl_sync(FULL, found, 0);
}

// Looks through the points within `t` of the point that come before it: what comes after is not
// in its way, and all that came before had a larger distance when the band began, so that nodes
// whose largest is below `t` are passed by. Returns a witness, or NONE; lowers `*t` by the
// accepted points that came before.
template <bool HIGH>
__device__ __forceinline__ u32 look_around(const State& state, Stack stack, const Site& point, u32 turn, real* t) {
    const Points& points = state.points;
    const real* words_at = in_global(points.distance);
    u32 lane = threadIdx.x & 31;
    real mine = *t, lowered = *t;
    bits floor = to_bits(mine);
    auto near = [&](const Children& c, u32 child) {
        // Both are loaded before either is looked at.
        return (c.largest[turn][child] >= floor) & (box_distance(c, child, point.x, point.y, point.z) < mine);
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
        u32 witness = look_around<HIGH>(state, stack, point, band.turn, &lowered);
        if (lowered < t) {
            t = lowered;
            if ((threadIdx.x & 31) == 0) lower_shared_word(&state.points.distance[point.at], t);
        } else if (witness == NONE) {
            lowered = accept(state, point, t);
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

// Lowers the lanes' distances `t` by the points `from..to` of the list that come before them;
// `box` holds the lanes' points.
template <bool HIGH>
__device__ __forceinline__ real apply_list(const State& state, const Site& mine, real t, const Box& box, u32 from, u32 to) {
    u32 lane = threadIdx.x & 31;
    real largest = from_bits(warp_largest(t > (real)0 ? to_bits(t) : 0));
    for (u32 first = from; first < to; first += 32) {
        u32 k = first + lane;
        // Relaxed: a place that is not written yet, or a distance from before it was accepted, passes
        // the point by. That is safe: a later visit meets it again (docs/peak.md).
        u32 at = k < to ? load_relaxed(&state.accepted.at[k]) : NONE;
        bool here = at != NONE;
        Site other = site(state.points, here ? at : 0);
        real value = here ? -load_shared_word(&state.points.distance[at]) : (real)0;
        real gx = box_gap(box.low[0], box.high[0], other.x);
        real gy = box_gap(box.low[1], box.high[1], other.y);
        real gz = box_gap(box.low[2], box.high[2], other.z);
        bool reaches = here && (gx * gx + gy * gy) + gz * gz < largest;
        for (u32 rest = __ballot_sync(FULL, reaches); rest; rest &= rest - 1) {
            u32 from_lane = __ffs(rest) - 1;
            Site chosen = broadcast(other, from_lane);
            real at_value = __shfl_sync(FULL, value, from_lane);
            real d = site_distance<HIGH>(state.cloud, mine, chosen);
            if (d < t && comes_before(at_value, chosen.row, t, mine.row)) t = d;
        }
    }
    return t;
}

// A lane's point of the band.
struct Member {
    Site site;
    real t;        // its distance
    u32 witness;   // whom it waits for, or NONE
    bool in;       // whether it is undecided
};

// Whether the witness is still undecided and in the way; applies it if it was accepted. `word` is
// the witness's.
template <bool HIGH>
__device__ __forceinline__ bool waits_for(const State& state, Member& member, real word, const Band& band) {
    const Points& points = state.points;
    bool taken = word < (real)0;
    real value = taken ? -word : word;
    if (!stands_before(value, points, member.witness, member.t, member.site.row)) return false;
    if (!taken) return value > band.beta;
    real d = site_distance<HIGH>(state.cloud, member.site, site(points, member.witness));
    if (d < member.t) member.t = d;
    return false;
}

// One visit of up to 32 points, one lane per point: applies the points `from..to` of the list, reads the
// witnesses, examines the points that wait for none.
template <bool HIGH>
__device__ __forceinline__ void visit(const State& state, Stack stack, Member& member, const Box& box, const Band& band, u32 from, u32 to) {
    u32 lane = threadIdx.x & 31, at = member.site.at;
    bool waits = member.in && member.witness != NONE;
    real word = waits ? load_shared_word(&state.points.distance[member.witness]) : (real)0;
    real before = member.in ? load_shared_word(&state.points.distance[at]) : -(real)0;
    member.t = before;
    if (from < to) member.t = apply_list<HIGH>(state, member.site, member.t, box, from, to);
    waits = waits && waits_for<HIGH>(state, member, word, band);
    if (member.t < before) lower_shared_word(&state.points.distance[at], member.t);
    member.in = member.in && member.t > band.beta;
    for (u32 todo = __ballot_sync(FULL, member.in && !waits); todo; todo &= todo - 1) {
        u32 who = __ffs(todo) - 1;
        u32 witness = examine<HIGH>(state, stack, broadcast(member.site, who), __shfl_sync(FULL, member.t, who), band);
        if (lane == who) {
            member.witness = witness;
            member.in = witness != NONE;
        }
    }
}

__device__ __forceinline__ Member load_member(const State& state, u32 k, u32 end) {
    Member member;
    member.site = site(state.points, state.band[min(k, end - 1)]);
    member.witness = state.witness[member.site.at];
    member.in = k < end && load_shared_word(&state.points.distance[member.site.at]) > (real)0;
    return member;
}

// Whether this warp is to give up. A call, so that it has registers of its own.
__device__ __noinline__ bool waits_too_long(const State& state) {
    Wait& wait = *(Wait*)state.waits[threadIdx.x >> 5];
    return wait.look(*state.guard, &state.header->raised, FOR_DECISIONS, state.accepted.count);
}

// Decides every point of a band. Warps take points that follow each other in the band, which
// lie close together. True: the warp has given up, and its points are not decided.
template <bool HIGH>
__device__ bool solve_band(const State& state, const Team& team, Stack stack, const Band& band) {
    u32 lane = threadIdx.x & 31;
    u32 each = (band.points + team.warps() - 1) / team.warps();
    u32 begin = min(team.warp() * each, band.points), end = min(begin + each, band.points);
    u32 seen = band.list;
    bool again = begin < end, loaded = false;
    Member member;
    Box box;
    // In shared memory, which costs no registers.
    Wait& wait = *(Wait*)state.waits[threadIdx.x >> 5];
    if (lane == 0) wait = Wait();
    while (again) {
        again = false;
        // Relaxed: an old count is that of a shorter list, the rest of which is looked at next time.
        u32 known = band.list == NONE ? NONE : __shfl_sync(FULL, load_relaxed(state.accepted.count), 0);
        for (u32 first = begin; first < end; first += 32) {
            // Up to 32 points stay in registers; more take turns.
            if (!loaded || each > 32) {
                member = load_member(state, first + lane, end);
                box = warp_box({{member.site.x, member.site.y, member.site.z}, {member.site.x, member.site.y, member.site.z}});
                loaded = true;
            }
            visit<HIGH>(state, stack, member, box, band, seen, known);
            if (each > 32 && member.in) state.witness[member.site.at] = member.witness;
            again |= __any_sync(FULL, member.in);
        }
        seen = known;
        if (__any_sync(FULL, again && lane == 0 && ++wait.polls % OFTEN == 0 && waits_too_long(state))) return true;
    }
    return false;
}
