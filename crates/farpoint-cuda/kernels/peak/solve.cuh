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
// accepts a point applies it to the points of the band around; of many, each concerns few, and warps keep
// lists of what is around their points (kept.cuh).
#pragma once
#include "peak/around.cuh"
#include "peak/kept.cuh"

constexpr u32 TOGETHER = 3;  // points of a warp, from which on they search together

// Point `k` of the list of accepted ones, and its distance; 0 where it is not written yet, or is of another band.
template <bool HIGH>
__device__ __forceinline__ Site listed_point(const State& state, u32 k, const Band& band, real* value) {
#ifndef FARPOINT_F64
    if (!HIGH) {
        Packed entry = load_packed(&state.packed[k % state.packed_size]);
        *value = entry.value > band.beta && entry.value <= band.top ? entry.value : (real)0;
        // Of equals, a search finds which comes first.
        return {entry.x, entry.y, entry.z, NONE, NONE};
    }
#endif
    u32 at = load_relaxed(&state.accepted.at[k]);
    bool here = at != NONE;
    *value = here ? -load_shared_word(&state.points.distance[at]) : (real)0;
    return site(state.points, here ? at : 0);
}

// Lowers the lanes' distances `t` by the points `from..to` of the list that come before them;
// `box` holds the lanes' points. `to` is lowered to the first that is not written yet.
template <bool HIGH>
__device__ __forceinline__ real apply_list(const State& state, const Site& mine, real t, const Box& box, u32 from, u32& to, const Band& band) {
    u32 lane = threadIdx.x & 31;
    real largest = from_bits(warp_largest(t > (real)0 ? to_bits(t) : 0));
    u32 end = to;
    for (u32 first = from; first < end; first += 32) {
        u32 k = first + lane;
        // Relaxed: a place that is not written yet, or a distance from before it was accepted, passes
        // the point by. That is safe: a later visit meets it again (docs/peak.md).
        real value;
        Site other = listed_point<HIGH>(state, min(k, end - 1), band, &value);
        bool here = k < end && value > (real)0;
        u32 missing = __ballot_sync(FULL, k < end && !here);
        if (missing) to = min(to, first + __ffs(missing) - 1);
        bool reaches = here && gap_to(box, other.x, other.y, other.z) < largest;
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

// One visit of up to 32 points, one lane per point: applies the points `from..to` of the list (see apply_list), reads
// the witnesses, examines the points that wait for none.
template <bool HIGH>
__device__ __forceinline__ void visit(const State& state, Stack stack, Member& member, const Box& box, const Band& band, u32 from, u32& to) {
    u32 lane = threadIdx.x & 31, at = member.site.at;
    bool waits = member.in && member.witness != NONE;
    real word = waits ? load_shared_word(&state.points.distance[member.witness]) : (real)0;
    real before = member.in ? load_shared_word(&state.points.distance[at]) : -(real)0;
    member.t = before;
    if (from < to) member.t = apply_list<HIGH>(state, member.site, member.t, box, from, to, band);
    waits = waits && waits_for<HIGH>(state, member, word, band);
    if (member.t < before) lower_shared_word(&state.points.distance[at], member.t);
    member.in = member.in && member.t > band.beta;
    u32 todo = __ballot_sync(FULL, member.in && !waits);
    if (__popc(todo) >= TOGETHER) {
        examine_together<HIGH>(state, stack, member, member.in && !waits, band);
        return;
    }
    for (; todo; todo &= todo - 1) {
        u32 who = __ffs(todo) - 1;
        u32 witness = examine<HIGH>(state, stack, broadcast(member.site, who), __shfl_sync(FULL, member.t, who), band);
        if (lane == who) {
            member.witness = witness;
            member.in = witness != NONE;
        }
    }
}

constexpr u32 POLLED_EVERY = 300;  // cycles between two looks of a block at the number of accepted points

// The length of the list of accepted points, as a warp of this block has read it not long ago.
__device__ __forceinline__ u32 poll_count(const State& state) {
    volatile u32* polled_at = &state.polled_at;
    volatile u32* polled = &state.polled;
    u32 now = (u32)clock(), known = *polled;
    if (now - *polled_at >= POLLED_EVERY) {
        *polled_at = now;
        known = load_relaxed(state.accepted.count);
        *polled = known;
    }
    return known;
}

// Decides every point of a band. Warps take points that follow each other in the band, which
// lie close together. LARGE: if that is more than a lane has, neighbors go to one block, 32 by turns, so that what
// is around them is in its cache. True: the warp has given up, and its points are not decided.
template <bool HIGH, bool LARGE>
__device__ bool solve_band(const State& state, const Team& team, Stack stack, const Band& band) {
    u32 lane = threadIdx.x & 31;
#ifdef FARPOINT_SPAN
    Range range = range_of(state, state.span.members);
    u32 points = range.end - range.begin, each = (points + team.part_warps() - 1) / team.part_warps();
    u32 begin = range.begin + min(team.part_warp() * each, points), end = min(begin + each, range.end), step = 32;
    if (LARGE && each > 32) begin = range.begin + (team.part_thread() & ~31u), end = range.end, step = team.part_threads();
#else
    u32 each = (band.points + team.warps() - 1) / team.warps();
    u32 begin = min(team.warp() * each, band.points), end = min(begin + each, band.points), step = 32;
    if (LARGE && each > 32) begin = team.thread() & ~31u, end = band.points, step = team.threads();
#endif
    u32 seen = band.list, met = band.list;  // the list is applied before `seen`, and was read at least once before `met`
    bool again = begin < end, loaded = false;
    Member member;
    Box box;
    // In shared memory, which costs no registers.
    Wait& wait = *(Wait*)state.waits[threadIdx.x >> 5];
    if (lane == 0) wait = Wait();
    if (band.kept && again && each <= 32 && 31 * state.tree.height + 1 <= KEPT_AT) {
        Ending ending = solve_kept<HIGH>(state, stack, band, begin, end);
        if (ending != OVERFULL) return ending == LOST;
    }
    while (again) {
        again = false;
        // Relaxed: an old count is that of a shorter list, the rest of which is looked at next time.
        u32 known = band.list == NONE ? NONE : __shfl_sync(FULL, poll_count(state), 0), applied = known;
        for (u32 first = begin; first < end; first += step) {
            // Up to 32 points stay in registers; more take turns.
            if (!loaded || each > 32) {
                member = load_member(state, first + lane, end);
                if (LARGE && each > 32 && !__any_sync(FULL, member.in)) continue;
                box = warp_box({{member.site.x, member.site.y, member.site.z}, {member.site.x, member.site.y, member.site.z}});
                loaded = true;
            }
            u32 to = known;
            visit<HIGH>(state, stack, member, box, band, seen, to);
            applied = min(applied, to);
            if (each > 32 && member.in) state.witness[member.site.at] = member.witness;
            again |= __any_sync(FULL, member.in);
        }
        // A place that was not written yet is read once more; if that is too early, too, searches find the point.
        seen = max(applied, met);
        met = known;
        if (__any_sync(FULL, again && lane == 0 && ++wait.polls % OFTEN == 0 && waits_too_long(state))) return true;
    }
    return false;
}
