// The first samples, one by one: a band would hold too few.
//
// Each warp owns groups and keeps the first candidate of each. A step is a reduction in the
// block, one exchange between the blocks of the team, and an update of the groups that the
// sample reaches.
#pragma once
#include "peak/search.cuh"

struct SingleShared {
    Pick warps[MOST_WARPS];  // the first candidate of each warp
    Pick picks[MOST_WARPS];  // of 32 blocks each
    Site sites[MOST_WARPS];  // and where it is
};

// The first of the lanes' picks, in every lane; `who` is a lane that held it.
__device__ __forceinline__ Pick warp_pick(Pick mine, u32* who) {
    bits value = warp_largest(mine.value);
    u32 row = mine.value == value ? mine.row : NONE;
#if __CUDA_ARCH__ >= 800
    row = __reduce_min_sync(FULL, row);
#else
    for (int step = 16; step > 0; step >>= 1) row = min(row, __shfl_xor_sync(FULL, row, step));
#endif
    *who = __ffs(__ballot_sync(FULL, mine.value == value && mine.row == row)) - 1;
    return {value, row, __shfl_sync(FULL, mine.at, *who)};
}

// Mail is two 8-byte words, each with the phase of its epoch in the lowest bit, so that no fence
// is needed. A slot is used again two epochs later, when all have read it: a block sends epoch
// e + 2 after it has seen everyone's e + 1, which each sends after reading all of e. Epochs
// count from 2: the phase of a slot's first use is 1, and the slots are zero at launch.
__device__ __forceinline__ void send(Mail* slot, const Pick& pick, u64 phase) {
    asm volatile("st.relaxed." SCOPE ".global.u64 [%0], %1;" : : "l"(&slot->value), "l"((u64)pick.value << 1 | phase) : "memory");
    asm volatile("st.relaxed." SCOPE ".global.u64 [%0], %1;" : : "l"(&slot->at), "l"((u64)pick.at << 1 | phase) : "memory");
}

// Relaxed loads, polled: an old word has the other phase, and is read again. False: given up.
__device__ __forceinline__ bool receive(const Team& team, const Mail* slot, u64 phase, Pick* pick) {
    Wait wait;
    u64 value, at;
    while (true) {
        asm volatile("ld.relaxed." SCOPE ".global.u64 %0, [%1];" : "=l"(value) : "l"(&slot->value) : "memory");
        asm volatile("ld.relaxed." SCOPE ".global.u64 %0, [%1];" : "=l"(at) : "l"(&slot->at) : "memory");
        if ((value & 1) == phase && (at & 1) == phase) break;
        if (wait.over(*team.guard, team.raised, FOR_CANDIDATES)) return false;
    }
    *pick = {(bits)(value >> 1), NONE, (u32)(at >> 1)};
    return true;
}

// The first of the picks that blocks `32 * part..` of the team sent, and its site, for all warps.
// False: some were waited for in vain.
__device__ __forceinline__ bool collect_mail(const State& state, const Team& team, SingleShared& shared, Pick mine, u32 part, u32 epoch) {
    u32 lane = threadIdx.x & 31, block = part * 32 + lane;
    bool come = true;
    if (team.size > 1) {
        Mail* slots = state.mail + (epoch & 1) * team.size;
        u64 phase = epoch >> 1 & 1;
        if (part == 0 && lane == 0) send(&slots[team.rank], mine, phase);
        // The lane that sends goes first: others of its warp wait for what it sends.
        __syncwarp();
        mine = {0, NONE, NONE};
        if (block < team.size) come = receive(team, &slots[block], phase, &mine);
    }
    Site where = {0, 0, 0, NONE, NONE};
    if (mine.value > 0) where = site(state.points, mine.at);
    mine.row = where.row;
    u32 who;
    mine = warp_pick(mine, &who);
    where = broadcast(where, who);
    if (lane == 0) {
        shared.picks[part] = mine;
        shared.sites[part] = where;
    }
    return come;
}

// The first candidate of the whole cloud, in every thread; `mine` is the warp's.
__device__ __forceinline__ bits choose_first(const State& state, const Team& team, SingleShared& shared, Pick mine, u32 epoch, Site* chosen) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5, who;
    u32 parts = (team.size + 31) / 32;
    if (lane == 0) shared.warps[warp] = mine;
    __syncthreads();
    if (warp == 0) mine = warp_pick(lane < warps ? shared.warps[lane] : Pick{0, NONE, NONE}, &who);
    bool come = true;
    for (u32 part = warp; part < parts; part += warps) come &= collect_mail(state, team, shared, mine, part, epoch);
    if (__syncthreads_or(!come)) leave(*team.guard);
    mine = warp_pick(lane < parts ? shared.picks[lane] : Pick{0, NONE, NONE}, &who);
    *chosen = shared.sites[who];
    return mine.value;
}

// Keeps the first candidate of a group.
__device__ __forceinline__ void keep_best(const State& state, u32 group, real t, u32 row) {
    u32 lane = threadIdx.x & 31, who;
    Pick best = warp_pick({t > (real)0 ? to_bits(t) : 0, row, group * 32 + lane}, &who);
    if (lane == 0) state.best[group] = best;
}

// The first candidate of a warp's groups.
__device__ __forceinline__ Pick best_of_groups(const State& state, const Team& team) {
    u32 lane = threadIdx.x & 31, who;
    Pick mine = {0, NONE, NONE};
    Steps groups = team.warp_steps(state.points.groups, share_of_groups(state));
    for (u32 g = groups.first + lane * groups.step; g < groups.end; g += groups.step * 32) {
        Pick other = state.best[g];
        if (other.value > mine.value || (other.value == mine.value && other.row < mine.row)) mine = other;
    }
    return warp_pick(mine, &who);
}

// Applies the chosen point to the warp's groups that it reaches.
template <bool HIGH>
__device__ __forceinline__ void update_groups(const State& state, const Team& team, const Site& chosen, real value) {
    const Points& points = state.points;
    u32 lane = threadIdx.x & 31;
    Steps groups = team.warp_steps(points.groups, share_of_groups(state));
    for (u32 first = groups.first; first < groups.end; first += groups.step * 32) {
        u32 g = first + lane * groups.step;
        bool reaches = g < groups.end &&
                       box_distance(state.tree.levels[0].blocks[g >> 5], g & 31, chosen.x, chosen.y, chosen.z) < from_bits(state.best[g].value);
        for (u32 rest = __ballot_sync(FULL, reaches); rest; rest &= rest - 1) {
            u32 group = first + (__ffs(rest) - 1) * groups.step;
            u32 at = group * 32 + lane;
            real before = points.distance[at], t = before;
            Site mine = site(points, at);
            real d = site_distance<HIGH>(state.cloud, mine, chosen);
            if (d < t) t = d;
            if (at == chosen.at) t = -value;
            if (t != before) points.distance[at] = t;
            keep_best(state, group, t, mine.row);
        }
    }
    __syncwarp();
}

// Takes samples `from..to` one by one; the number reached comes back.
template <bool HIGH>
__device__ u32 take_singles(State& state, Team& team, SingleShared& shared, u32 from, u32 to, u32* epoch) {
    Steps groups = team.warp_steps(state.points.groups, share_of_groups(state));
    for (u32 g = groups.first; g < groups.end; g += groups.step) {
        u32 at = g * 32 + (threadIdx.x & 31);
        keep_best(state, g, state.points.distance[at], state.points.order[at]);
    }
    __syncwarp();
    if (is_absent(*team.guard, AT_SINGLES, team.rank)) asm volatile("exit;");
    u32 chosen = from;
    for (; chosen < to; ++chosen) {
        Site point;
        real value = from_bits(choose_first(state, team, shared, best_of_groups(state, team), *epoch, &point));
        *epoch += 1;
        // Nothing but duplicates, or nothing above the stop distance.
        if (!(value > (real)0) || value <= state.cloud.stop) break;
        if (team.rank == 0 && threadIdx.x == 0) write_sample(state.cloud, chosen, point.row, value);
        update_groups<HIGH>(state, team, point, value);
    }
    return chosen;
}
