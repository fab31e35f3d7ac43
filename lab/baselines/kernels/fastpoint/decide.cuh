// One level: of all points no nearer than a radius to the sample, the one of lowest row is taken, those nearer than
// the radius to it are excluded, and so on. A point's fate depends on points of lower row alone: it is excluded once
// one of those near it is taken, and taken once all of them are excluded. So all points are looked at at the same
// time, and whoever depends on an undecided one waits for that.
//
// Fates are read and written without order: an old one is "undecided", and is read again.
#pragma once
#include "fastpoint/state.cuh"

__device__ __forceinline__ Box box_of_ready(const Site& mine, bool ready) {
    Box box;
    real at[3] = {mine.x, mine.y, mine.z};
    for (u32 a = 0; a < 3; ++a) {
        box.low[a] = ready ? at[a] : infinity();
        box.high[a] = ready ? at[a] : -infinity();
    }
    return warp_box(box);
}

// A lower bound of the squared distance between anything in two boxes: no computed distance is below it, as every
// step is monotone.
__device__ __forceinline__ real box_to_box(const Children& children, u32 child, const Box& box) {
    real gap[3];
    for (u32 a = 0; a < 3; ++a) {
        gap[a] = larger(larger(children.low[a][child] - box.high[a], box.low[a] - children.high[a][child]), (real)0);
    }
    return (gap[0] * gap[0] + gap[1] * gap[1]) + gap[2] * gap[2];
}

// What a lane has found out about its point.
struct Finding {
    bool near_taken;
    u32 row;    // the lowest undecided one near it; NONE: there is none
    u32 place;
};

// Looks at the points of a group, for the lanes of `asking`.
template <bool HIGH>
__device__ __forceinline__ void look_at(const State& state, u32 group, const Site& mine, u32 asking, real squared,
                                        Finding& finding) {
    u32 lane = threadIdx.x & 31;
    Site other = site_at(state.index, group * 32 + lane);
    u32 fate = other.row == NONE ? EXCLUDED : load_relaxed(&state.fate[other.at]);
    if (__ballot_sync(FULL, fate != EXCLUDED) == 0) return;
    for (; asking; asking &= asking - 1) {
        u32 who = __ffs(asking) - 1;
        Site point = broadcast(mine, who);
        bool counts = fate != EXCLUDED && other.row < point.row && site_distance<HIGH>(state.cloud, other, point) < squared;
        bool near_taken = __any_sync(FULL, counts && fate == TAKEN);
        u32 waits = __ballot_sync(FULL, counts && fate == UNDECIDED);
        if (!near_taken && waits == 0) continue;
        u32 row = warp_least(counts ? other.row : NONE);
        u32 place = group * 32 + __ffs(__ballot_sync(FULL, counts && other.row == row)) - 1;
        if (lane != who) continue;
        finding.near_taken |= near_taken;
        if (row < finding.row) finding.row = row, finding.place = place;
    }
}

// Decides what can be decided of a group; returns the lanes whose points are left.
template <bool HIGH>
__device__ __forceinline__ u32 decide_group(const State& state, u32 group, real squared, u32* stack, bool* decided) {
    u32 lane = threadIdx.x & 31, at = group * 32 + lane;
    bool left = state.fate[at] == UNDECIDED;
    u32 before = __ballot_sync(FULL, left);
    u32 witness = left ? state.witness[at] : NONE;
    u32 its = left && witness != NONE ? load_relaxed(&state.fate[witness]) : (u32)EXCLUDED;
    bool ready = left && its == EXCLUDED;
    Finding finding = {its == TAKEN, NONE, NONE};
    if (__any_sync(FULL, ready)) {
        Site mine = site_at(state.index, at);
        Box box = box_of_ready(mine, ready);
        auto near = [&](const Children& c, u32 child) { return box_to_box(c, child, box) < squared; };
        walk(state.index.tree, stack, near, [&](u32 other) {
            const Children& c = in_global(state.index.tree.levels[0].blocks)[other >> 5];
            bool asks = ready && !finding.near_taken && box_distance(c, other & 31, mine.x, mine.y, mine.z) < squared;
            look_at<HIGH>(state, other, mine, __ballot_sync(FULL, asks), squared, finding);
            return __any_sync(FULL, ready && !finding.near_taken) != 0;
        });
        if (ready && !finding.near_taken && finding.row == NONE) {
            store_relaxed(&state.fate[at], TAKEN);
            atomicOr(&state.taken[mine.row >> 5], 1u << (mine.row & 31));
            left = false;
        } else if (ready && !finding.near_taken) {
            state.witness[at] = finding.place;
        }
    }
    if (left && finding.near_taken) {
        store_relaxed(&state.fate[at], EXCLUDED);
        left = false;
    }
    u32 rest = __ballot_sync(FULL, left);
    *decided |= rest != before;
    return rest;
}

// Decides all points of the pass. True: some were waited for in vain.
template <bool HIGH>
__device__ bool decide(const State& state, const Team& team, real squared, u32* stack) {
    u32 groups = load_relaxed(&state.header->pending);
    Wait wait;
    bool more = true;
    while (more) {
        bool decided = false;
        more = false;
        for (u32 k = team.warp(); k < groups; k += team.warps()) {
            u32 group = state.list[k];
            if (group == NONE) continue;
            u32 left = decide_group<HIGH>(state, group, squared, stack, &decided);
            __syncwarp();
            if (left == 0 && (threadIdx.x & 31) == 0) state.list[k] = NONE;
            __syncwarp();
            more |= left != 0;
        }
        if (!more) break;
        bool lost = false;
        if ((threadIdx.x & 31) == 0) {
            if (decided) add_relaxed(&state.header->decided, 1);
            else lost = wait.over(*state.guard, team.raised, FOR_DECISIONS, &state.header->decided);
        }
        if (__any_sync(FULL, lost)) return true;
    }
    return false;
}
