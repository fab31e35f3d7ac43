// The first samples, in rounds: a band would hold too few of them.
//
// The groups are shared out to the warps. In a round, each warp tells all blocks the first candidate of its groups. Of
// the foremost of these, those are chosen that no other stands before, by the box of its warp's groups: each is the next
// sample of its surroundings (docs/peak.md). All blocks find the same ones, and apply them to their groups.
#pragma once
#include "peak/foremost.cuh"

constexpr u32 MOST_ALONE = 16;  // rounds with one sample, since too many candidates are about as large

// The groups of a warp, the box around them, and their first candidate.
struct Share {
    u32 first, count;
    Box box;
    Pick best;
};

// Whether others stand before the lanes' candidates `32 * part ..`: of those numbered `from..to`.
__device__ __forceinline__ void compare(EarlyShared& shared, u32 part, u32 from, u32 to) {
    u32 k = min(part * 32 + (threadIdx.x & 31), shared.count - 1);
    Site point = shared.sites[k];
    real t = shared.foremost[k].value;
    bool blocked = false;
#pragma unroll 1
    for (u32 other = from; other < to; ++other) {
        Foremost f = shared.foremost[other];
        real gap = gap_to({{f.low[0], f.low[1], f.low[2]}, {f.high[0], f.high[1], f.high[2]}}, point.x, point.y, point.z);
        blocked |= comes_before(f.value, f.row, t, point.row) & (gap < t);
    }
    if (blocked) shared.blocked[k] = 1;
}

// Finds which of the foremost candidates are chosen: those that no other stands before.
__device__ __forceinline__ void choose(const State& state, EarlyShared& shared) {
    const u32 warps = THREADS / 32;
    u32 n = shared.count, lane = threadIdx.x & 31, parts = (n + 31) / 32, pairs = 0;
    for (u32 part = 0; part < FOREMOST / 32; ++part) pairs += part < parts ? shared.ends[part] : 0;
    u32 each = (pairs + warps - 1) / warps, from = (threadIdx.x >> 5) * each, to = from + each;
#pragma unroll 1
    for (u32 part = 0; part < parts; ++part) {
        u32 end = shared.ends[part];
        if (from < min(to, end)) compare(shared, part, from, min(to, end));
        from -= min(from, end), to -= min(to, end);
    }
    for (u32 bin = threadIdx.x; bin < BINS; bin += THREADS) shared.bins[bin] = 0;
    __syncthreads();
    if (threadIdx.x < parts * 32) {
        u32 k = min(threadIdx.x, n - 1);
        real t = shared.foremost[k].value;
        bool chosen = threadIdx.x < n && shared.blocked[k] == 0 && t > state.cloud.stop;
        u32 all = __ballot_sync(FULL, chosen), place = 0;
        real low = warp_smallest(chosen ? t : infinity());
        if (lane == 0 && all) {
            place = atomicAdd(&shared.chosen_count, (u32)__popc(all));
            atomicMin(&shared.low, to_bits(low));
        }
        place = __shfl_sync(FULL, place, 0) + __popc(all & ((1u << lane) - 1u));
        if (chosen) {
            const Site& point = shared.sites[k];
            shared.chosen[place] = {point.x, point.y, point.z, t};
            shared.chosen_at[place] = point.at, shared.chosen_row[place] = point.row;
        }
    }
    __syncthreads();
}

// The first of the lanes' picks, in every lane.
__device__ __forceinline__ Pick warp_pick(const Pick& mine) {
    FirstLane first = warp_first(mine.value, mine.row);
    return {first.value, first.row, __shfl_sync(FULL, mine.at, first.lane)};
}

// Finds the first candidate of a group, which comes back.
__device__ __forceinline__ Pick keep_best(const State& state, u32 group, real t, u32 row) {
    u32 lane = threadIdx.x & 31;
    Pick best = warp_pick({t > (real)0 ? to_bits(t) : 0, row, group * 32 + lane});
    if (lane == 0) state.best[group] = best;
    return best;
}

// The first candidate of a warp's groups.
__device__ __forceinline__ Pick best_of_groups(const State& state, const Share& share) {
    u32 lane = threadIdx.x & 31;
    Pick mine = {0, NONE, NONE};
    __syncwarp();
    for (u32 k = lane; k < share.count; k += 32) {
        Pick other = state.best[share.first + k];
        if (other.value > mine.value || (other.value == mine.value && other.row < mine.row)) mine = other;
    }
    return warp_pick(mine);
}

// This warp's groups; `*most` is how many a warp of the team has.
__device__ __forceinline__ Share share_groups(const State& state, const Team& team, u32* most) {
    u32 lane = threadIdx.x & 31, blocks = sharing_blocks(team), warp = (threadIdx.x >> 5) * blocks + team.part_rank();
    Steps groups = team.warp_steps(state.points.groups, share_of_groups(state));
    u32 begin = groups.first - team.part_warp(), n = max(groups.end, begin) - begin;
    u32 each = (n + blocks * (THREADS / 32) - 1) / (blocks * (THREADS / 32)), first = min(warp * each, n);
    real inf = infinity();
    Share share = {begin + first, team.part_rank() < blocks ? min(each, n - first) : 0, {{inf, inf, inf}, {-inf, -inf, -inf}}, {0, NONE, NONE}};
    *most = each;
    for (u32 k = lane; k < share.count; k += 32) {
        u32 g = share.first + k;
        share.box = box_of_both(share.box, box_of(state.tree.levels[0].blocks[g >> 5], g & 31));
    }
    share.box = warp_box(share.box);
    if (share.count > 0 && lane == 0) state.boxes[place_of_box(team, own_slot(team))] = share.box;
    for (u32 k = 0; k < share.count; ++k) {
        u32 at = (share.first + k) * 32 + lane;
        keep_best(state, share.first + k, state.points.distance[at], state.points.order[at]);
    }
    share.best = best_of_groups(state, share);
    return share;
}

// Applies those of the chosen points, from number `first` on, that `hits` has to a group; its first candidate comes back.
template <bool HIGH>
__device__ __forceinline__ Pick apply_to_group(const State& state, const EarlyShared& shared, u32 group, u32 first, u32 hits) {
    const Points& points = state.points;
    u32 at = group * 32 + (threadIdx.x & 31);
    real before = points.distance[at], t = before;
    Site mine = site(points, at);
    for (; hits; hits &= hits - 1) {
        u32 k = first + __ffs(hits) - 1;
        Packed other = shared.chosen[k];
        real d = site_distance<HIGH>(state.cloud, mine, {other.x, other.y, other.z, NONE, HIGH ? shared.chosen_row[k] : NONE});
        // What comes before a chosen point is at least its distance away: it changes nothing there, now or later.
        if (d < t && other.value >= t) t = d;
        if (at == shared.chosen_at[k]) t = -other.value;
    }
    if (t != before) points.distance[at] = t;
    return keep_best(state, group, t, mine.row);
}

// Which of the chosen points from number `first` on, of those in `near`, reach the lane's group.
__device__ __forceinline__ u32 hits_of_group(const State& state, const EarlyShared& shared, u32 g, u32 first, u32 near) {
    Box box = box_of(state.tree.levels[0].blocks[g >> 5], g & 31);
    real bound = from_bits(state.best[g].value);
    u32 hits = 0;
    for (u32 rest = near; rest; rest &= rest - 1) {
        Packed point = shared.chosen[first + __ffs(rest) - 1];
        if (gap_to(box, point.x, point.y, point.z) <= bound) hits |= rest & (0 - rest);
    }
    return hits;
}

// Applies chosen points to the groups that they reach, of all warps of the block: lanes have groups with `hits`.
template <bool HIGH>
__device__ __forceinline__ void apply_shared(const State& state, EarlyShared& shared, u32 group, u32 first, u32 hits, u32& turn) {
    u32 lane = threadIdx.x & 31, some = __ballot_sync(FULL, hits != 0), place = 0;
    if (lane == 0 && some) place = atomicAdd(&shared.work_count[turn], (u32)__popc(some));
    place = __shfl_sync(FULL, place, 0) + __popc(some & ((1u << lane) - 1u));
    if (hits) shared.work_group[place] = group, shared.work_hits[place] = hits;
    __syncthreads();
    u32 n = shared.work_count[turn];
    turn ^= 1;
    if (threadIdx.x == 0) shared.work_count[turn] = 0;
    for (u32 k = threadIdx.x >> 5; k < n; k += THREADS / 32) apply_to_group<HIGH>(state, shared, shared.work_group[k], first, shared.work_hits[k]);
    __syncthreads();
}

// Applies the chosen points to the groups of this warp; the block's warps help each other, if some have several.
template <bool HIGH>
__device__ __forceinline__ void apply_chosen(const State& state, EarlyShared& shared, Share& share, u32 most, u32& turn) {
    u32 lane = threadIdx.x & 31, n = shared.chosen_count;
    for (u32 first = 0; first < n; first += 32) {
        Packed point = shared.chosen[min(first + lane, n - 1)];
        // Of start points, some may be all that is left in a group.
        bool reaches = first + lane < n && gap_to(share.box, point.x, point.y, point.z) <= from_bits(share.best.value);
        u32 near = __ballot_sync(FULL, reaches);
        if (most == 1) {
            if (near) share.best = apply_to_group<HIGH>(state, shared, share.first, first, near);
            continue;
        }
        for (u32 begin = 0; begin < most; begin += 32) {
            u32 g = share.first + begin + lane;
            u32 hits = near && begin + lane < share.count ? hits_of_group(state, shared, g, first, near) : 0;
            apply_shared<HIGH>(state, shared, g, first, hits, turn);
        }
        if (near) share.best = best_of_groups(state, share);
    }
}

// Appends the `fresh` points chosen last to the list of accepted ones, which are `total` then; one block of the team does.
__device__ __forceinline__ void list_chosen(const State& state, const EarlyShared& shared, u32 total, u32 fresh) {
    u32 k = threadIdx.x;
    if ((k & ~31u) >= fresh) return;
    bool here = k < fresh;
    u32 at = shared.chosen_at[here ? k : 0], to = SPANS ? place_all_accepted(state, at, here) : total - fresh + k;
    if (!here) return;
    state.accepted.key[to] = ~to_bits(shared.chosen[k].value);
    state.accepted.at[to] = at;
}

// Puts start points from number `begin` on where chosen ones are.
__device__ __forceinline__ void put_starts(const State& state, EarlyShared& shared, u32 begin, u32 starts) {
    u32 k = threadIdx.x, n = min(starts - begin, FOREMOST);
    __syncthreads();
    if (k < n) {
        Site point = site(state.points, state.witness[state.cloud.start(begin + k)]);
        shared.chosen[k] = {point.x, point.y, point.z, infinity()};
        shared.chosen_at[k] = point.at, shared.chosen_row[k] = point.row;
    }
    if (k == 0) shared.chosen_count = n;
    __syncthreads();
}

// Tells all blocks this warp's candidate, and gathers the foremost of all. False: some were waited for in vain.
__device__ __forceinline__ bool exchange(const State& state, const Team& team, EarlyShared& shared, const Share& share, u32 epoch, u32 total, u32 fresh, u32& alone) {
    if (SPANS || team.rank < sharing_blocks(team)) send(state, team, share.best, epoch);
    if (team.rank == 0) list_chosen(state, shared, total, fresh);
    Held held;
    bool come = read_values(state, team, epoch, held);
    // Twice as many bins as in the last round hold enough.
    u32 most = min(2 * shared.cut + 16, BINS);
    bits bound = shared.bound, least = least_of(bound, most);
#pragma unroll
    for (u32 k = 0; k < HELD; ++k) {
        if (held.value[k] >= least) atomicAdd(&shared.bins[bin_of(bound, held.value[k])], 1u);
    }
    if (__syncthreads_or(!come)) return false;
    if (threadIdx.x < 32) cut_bins(shared, most);
    __syncthreads();
    alone += shared.count == 0;
    come = gather_foremost(state, team, epoch, shared, held, bound);
    return !__syncthreads_or(!come);
}

// What rounds have told: the least distance that a sample was chosen at, and a bound of all distances left.
struct Early {
    real low, bound;
};

// Applies `starts` start points, then takes about `wanted` samples in rounds. A call, so that it has registers of its own.
template <bool HIGH>
__device__ __noinline__ Early take_early(const State& state, Team& team, EarlyShared& shared, u32 starts, u32 wanted, u32* epoch) {
    __builtin_assume(__isShared(&state));
    __builtin_assume(__isShared(&shared));
    u32 most, turn = 0;
    Share share = share_groups(state, team, &most);
    if (threadIdx.x == 0) shared.low = shared.bound = to_bits(infinity()), shared.cut = BINS, shared.work_count[0] = shared.work_count[1] = 0;
    for (u32 bin = threadIdx.x; bin < BINS; bin += THREADS) shared.bins[bin] = 0;
    // The boxes are read by all.
    team.sync();
    if (is_absent(*team.guard, AT_EARLY, team.rank)) asm volatile("exit;");
    u32 total = 0, fresh = 0, alone = 0, applied = 0;
    while (applied < starts || (total < wanted && alone < MOST_ALONE)) {
        if (applied < starts) {
            put_starts(state, shared, applied, starts);
            applied += FOREMOST;
        } else {
            if (!exchange(state, team, shared, share, (*epoch)++, total, fresh, alone)) leave(*team.guard);
            choose(state, shared);
            fresh = shared.chosen_count;
            total += fresh;
            // Nothing but duplicates, or nothing above the stop distance.
            if (fresh == 0) break;
        }
        apply_chosen<HIGH>(state, shared, share, most, turn);
    }
    if (team.rank == 0) {
        list_chosen(state, shared, total, fresh);
        if (!SPANS && threadIdx.x == 0) *state.accepted.count = total;
    }
    return {from_bits(shared.low), from_bits(shared.bound)};
}
