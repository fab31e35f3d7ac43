// Between bands: accepted points are applied to all others, the largest distances of all groups
// and nodes are found, and the points of the next band are listed.
//
// A few points: every group looks at all of them (`refresh`). Many: each searches the tree for
// the groups it reaches (`scatter`).
#pragma once
#include "peak/search.cuh"

struct Staged {
    Site sites[STAGED];
    bits slots[TILE_SLOTS];
};

__device__ __forceinline__ void stage(const State& state, const u32* list, u32 n, Staged& staged) {
    for (u32 k = threadIdx.x; k < n; k += blockDim.x) staged.sites[k] = site(state.points, list[k]);
}

// Applies the staged points to one group of distances `before`; the new ones come back.
template <bool HIGH>
__device__ __forceinline__ real refresh_group(const State& state, u32 group, real before, u32 turn, const Staged& staged, u32 n) {
    const Points& points = state.points;
    const Children& boxes = state.tree.levels[0].blocks[group >> 5];
    u32 lane = threadIdx.x & 31;
    u32 at = group * 32 + lane;
    real t = before;
    if (n == 0) return t;
    Site mine;
    bool loaded = false;
    real bound = from_bits(boxes.largest[turn ^ 1][group & 31]);
    for (u32 first = 0; first < n; first += 32) {
        u32 k = first + lane;
        bool reaches = k < n && box_distance(boxes, group & 31, staged.sites[k].x, staged.sites[k].y, staged.sites[k].z) < bound;
        u32 rest = __ballot_sync(FULL, reaches);
        if (rest && !loaded) mine = lane_site<HIGH>(points, group, lane), loaded = true;
        for (; rest; rest &= rest - 1) {
            real d = site_distance<HIGH>(state.cloud, mine, staged.sites[first + __ffs(rest) - 1]);
            // Chosen points have a sign: nothing is below them.
            if (d < t) t = d;
        }
    }
    if (t != before) points.distance[at] = t;
    return t;
}

// Lists the points of a group that lie above beta, and whom in the group each waits for.
template <bool HIGH>
__device__ __forceinline__ void list_group(const State& state, u32 group, u32 turn, real t, real beta) {
    const Points& points = state.points;
    u32 lane = threadIdx.x & 31;
    bool in = t > beta;
    u32 members = __ballot_sync(FULL, in);
    if (members == 0) return;
    Site mine = site(points, group * 32 + lane);
    u32 witness = NONE;
    real strongest = 0;
    for (u32 rest = members; rest; rest &= rest - 1) {
        u32 who = __ffs(rest) - 1;
        Site other = broadcast(mine, who);
        real value = __shfl_sync(FULL, t, who);
        if (in && value > strongest && comes_before(value, other.row, t, mine.row) &&
            site_distance<HIGH>(state.cloud, mine, other) < t) {
            witness = other.at;
            strongest = value;
        }
    }
    u32 place = 0;
    if (lane == 0) place = atomicAdd(&state.header->band[turn], (u32)__popc(members));
    place = __shfl_sync(FULL, place, 0) + __popc(members & ((1u << lane) - 1u));
    if (!in) return;
    state.band[place] = mine.at;
    state.witness[mine.at] = witness;
}

// Applies the staged points to a group, lists what lies above beta, and keeps the group's
// maximum, which also goes to `slot`.
template <bool HIGH>
__device__ __forceinline__ void refresh_one(const State& state, u32 g, real before, u32 turn, Staged& staged, u32 n, real beta, bits* slot) {
    real t = refresh_group<HIGH>(state, g, before, turn, staged, n);
    list_group<HIGH>(state, g, turn, t, beta);
    bits largest = warp_largest(t > (real)0 ? to_bits(t) : 0);
    if ((threadIdx.x & 31) != 0) return;
    state.tree.levels[0].blocks[g >> 5].largest[turn][g & 31] = largest;
    atomicMax(slot, largest);
}

// The same for the groups of some nodes of level 1, one warp per group of each node; slot k belongs
// to node `first + k * team.size`.
template <bool HIGH>
__device__ __forceinline__ void refresh_nodes(const State& state, const Team& team, u32 first, u32 slots, u32 turn, Staged& staged, u32 n, real beta) {
    const u32 ahead = 4;  // groups whose distances are loaded together
    u32 lane = threadIdx.x & 31, warps = blockDim.x >> 5, groups = state.points.groups;
    for (u32 child = threadIdx.x >> 5; child < 32; child += warps) {
        for (u32 slot = 0; slot < slots; slot += ahead) {
            real before[ahead];
            for (u32 k = 0; k < ahead; ++k) {
                u32 g = (first + (slot + k) * team.size) * 32 + child;
                before[k] = slot + k < slots && g < groups ? state.points.distance[g * 32 + lane] : -(real)0;
            }
            for (u32 k = 0; k < ahead; ++k) {
                u32 g = (first + (slot + k) * team.size) * 32 + child;
                if (slot + k < slots && g < groups) {
                    refresh_one<HIGH>(state, g, before[k], turn, staged, n, beta, &staged.slots[slot + k]);
                }
            }
        }
    }
}

// Passes the maxima of nodes of level 1 on to the levels above.
__device__ __forceinline__ void raise_maxima(const Tree& tree, u32 node, u32 turn, bits largest) {
    if (tree.height > 1) tree.levels[1].blocks[node >> 5].largest[turn][node & 31] = largest;
    for (u32 l = 2; l < tree.height; ++l) {
        node >>= 5;
        atomicMax(&tree.levels[l].blocks[node >> 5].largest[turn][node & 31], largest);
    }
}

// Applies `n` points of `list` to all groups, finds the largest distances of all nodes and lists
// what lies above beta; `turn` says which copy takes the maxima (of the upper levels it must be
// zero), the other holds bounds from before.
template <bool HIGH>
__device__ void refresh(const State& state, const Team& team, const u32* list, u32 n, u32 turn, real beta, Staged& staged) {
    u32 tiles = (state.points.groups + 31) / 32;
    for (u32 first = team.rank; first < tiles; first += team.size * TILE_SLOTS) {
        u32 slots = min(TILE_SLOTS, (tiles - first + team.size - 1) / team.size);
        for (u32 done = 0; done == 0 || done < n; done += STAGED) {
            u32 some = min(n - done, STAGED);
            stage(state, list + done, some, staged);
            for (u32 k = threadIdx.x; k < TILE_SLOTS; k += blockDim.x) staged.slots[k] = 0;
            __syncthreads();
            bool last = n - done <= STAGED;
            refresh_nodes<HIGH>(state, team, first, slots, turn, staged, some, last ? beta : infinity());
            __syncthreads();
        }
        for (u32 slot = threadIdx.x; slot < slots; slot += blockDim.x) {
            raise_maxima(state.tree, first + slot * team.size, turn, staged.slots[slot]);
        }
        __syncthreads();
    }
}

// Applies the accepted points `begin..end` of the list, one warp per point.
template <bool HIGH>
__device__ void scatter(const State& state, const Team& team, Stack stack, u32 begin, u32 end, u32 turn) {
    const Points& points = state.points;
    u32 lane = threadIdx.x & 31;
    for (u32 k = begin + team.warp(); k < end; k += team.warps()) {
        Site chosen = site(points, state.accepted.at[k]);
        auto near = [&](const Children& c, u32 child) {
            return box_distance(c, child, chosen.x, chosen.y, chosen.z) < from_bits(c.largest[turn][child]);
        };
        u32 groups[AT_ONCE], leaves = 0, n;
        begin_search(state.tree, stack, near);
        while ((n = next_groups(state.tree, stack, groups, near)) > 0) {
            leaves += n;
            for (u32 k = 0; k < AT_ONCE; ++k) {
                u32 group = groups[k];
                real* word = &in_global(points.distance)[group * 32 + lane];
                real d = site_distance<HIGH>(state.cloud, lane_site<HIGH>(points, group, lane), chosen);
                // Chosen points have a sign: nothing is below them.
                if (d < *word) lower_shared_word(word, d);
            }
        }
        count(state, UPDATES, leaves);
    }
}

// Makes a copy of the upper levels' maxima, and the count of the band, ready for the next refresh.
__device__ inline void clear_turn(const State& state, const Team& team, u32 turn) {
    if (team.thread() == 0) state.header->band[turn] = 0;
    for (u32 l = 2; l < state.tree.height; ++l) {
        const Level& level = state.tree.levels[l];
        for (u32 node = team.thread(); node < level.count; node += team.threads()) level.blocks[node >> 5].largest[turn][node & 31] = 0;
    }
}

// Once all distances are 0, what is left are duplicates of chosen points: all at once.
__device__ inline void accept_duplicates(const State& state, const Team& team) {
    const Points& points = state.points;
    for (u32 at = team.thread(); at < points.length; at += team.threads()) {
        if (to_bits(points.distance[at]) != 0) continue;
        u32 k = atomicAdd(state.accepted.count, 1u);
        state.accepted.key[k] = ~(bits)0;
        state.accepted.at[k] = at;
        points.distance[at] = -(real)0;
    }
}
