// Between bands: accepted points are applied to all others, the largest distances of all groups
// and nodes are found, and the points of the next band are listed.
//
// A few points: each block picks those near its groups, then near each of its nodes, and each group looks at
// what is left (`refresh`). Many: each searches the tree for the groups it reaches (`scatter`).
#pragma once
#include "peak/band.cuh"

constexpr u32 NEAR = 6144 / sizeof(real);  // accepted points near a block's groups that it holds at a time
constexpr u32 SLOTS = 8;                   // nodes whose groups a block refreshes together

// What a block knows of some nodes and of the accepted points around.
struct Staged {
    real x[NEAR], y[NEAR], z[NEAR];
    unsigned short near[SLOTS][NEAR];  // those near each node
    u32 count, counts[SLOTS];
    bits largest[SLOTS];
    u32 members[SLOTS][32];
    Box box;
    bits bound;
};

// Passes the maxima of nodes of level 1 on to the levels above.
__device__ __forceinline__ void raise_maxima(const State& state, u32 node, u32 turn, bits largest) {
    const Tree& tree = state.tree;
    for (u32 part = 0; part < copies(state); ++part) {
        if (tree.height > 1) copy_of(state, tree.levels[1].blocks, part)[node >> 5].largest[turn][node & 31] = largest;
        // Several parts do so at the end (raise_part).
        for (u32 l = 2, above = node >> 5; !SPANS && l < tree.height; ++l, above >>= 5) {
            ATOMIC(atomicMax)(&copy_of(state, tree.levels[l].blocks, part)[above >> 5].largest[turn][above & 31], largest);
        }
    }
}

// The part of a cloud that a block refreshes: nodes of level 1 in a row.
struct Part {
    u32 first, nodes;
};

__device__ __forceinline__ Part part_of(const State& state, const Team& team) {
    u32 tiles = (state.points.groups + 31) / 32, most = (tiles + team.size - 1) / team.size;
    u32 first = min(team.rank * most, tiles);
    return {first, min(most, tiles - first)};
}

// Passes the maxima of a block's nodes of level 1 on to the levels above, where each has a copy of these: an
// operation on another GPU's memory for each node of level 2, rather than of level 1. All threads take part.
__device__ __forceinline__ void raise_part(const State& state, const Part& part, u32 turn) {
    const Tree& tree = state.tree;
    u32 lane = threadIdx.x & 31, first = part.first >> 5, last = (part.first + part.nodes - 1) >> 5;
    for (u32 above = first + (threadIdx.x >> 5); above <= last; above += blockDim.x >> 5) {
        u32 node = above * 32 + lane;
        bool here = node >= part.first && node < part.first + part.nodes;
        bits largest = warp_largest(here ? *(volatile bits*)&tree.levels[1].blocks[above].largest[turn][lane] : 0);
        u32 l = 2 + lane, up = above >> 5 * min(lane, 6u);
        if (l < tree.height) {
            for (u32 p = 0; p < copies(state); ++p) ATOMIC(atomicMax)(&copy_of(state, tree.levels[l].blocks, p)[up >> 5].largest[turn][up & 31], largest);
        }
    }
}

// The box around a block's part, and its largest distance.
__device__ __forceinline__ void bound_part(const State& state, const Part& part, u32 turn, Staged& staged) {
    u32 lane = threadIdx.x & 31;
    Box box = {{infinity(), infinity(), infinity()}, {-infinity(), -infinity(), -infinity()}};
    bits bound = 0;
    const Level& level = state.tree.levels[state.tree.height > 1 ? 1 : 0];
    u32 first = state.tree.height > 1 ? part.first : 0, n = state.tree.height > 1 ? part.nodes : level.count;
    for (u32 k = lane; k < n; k += 32) {
        const Children& c = level.blocks[(first + k) >> 5];
        box = box_of_both(box, box_of(c, (first + k) & 31));
        bits largest = c.largest[turn ^ 1][(first + k) & 31];
        bound = largest > bound ? largest : bound;
    }
    box = warp_box(box);
    bound = warp_largest(bound);
    if (lane == 0) staged.box = box, staged.bound = bound;
}

// Appends this warp's lanes with `hit` to a list in shared memory; their place comes back.
__device__ __forceinline__ u32 append(bool hit, u32* count) {
    u32 lane = threadIdx.x & 31, hits = __ballot_sync(FULL, hit), place = 0;
    if (hits == 0) return 0;
    if (lane == 0) place = atomicAdd(count, (u32)__popc(hits));
    return __shfl_sync(FULL, place, 0) + __popc(hits & ((1u << lane) - 1u));
}

// An accepted point: number `k` of the list.
template <bool HIGH>
__device__ __forceinline__ Packed accepted_point(const State& state, Positions list, u32 from, u32 k) {
    if (from != NONE) return state.packed[(from + k) % state.packed_size];
    Site other = site(state.points, list[k]);
    return {other.x, other.y, other.z, 0};
}

// Lists which of the points in shared memory are near each of some nodes.
__device__ __forceinline__ void list_near(const State& state, u32 first, u32 slots, u32 turn, Staged& staged) {
    u32 lane = threadIdx.x & 31, warps = blockDim.x >> 5, each = max(warps / SLOTS, 1u), n = staged.count;
    for (u32 w = threadIdx.x >> 5; w < SLOTS * each; w += warps) {
        u32 slot = w / each, node = first + slot;
        if (slot >= slots) continue;
        bool whole = state.tree.height == 1;
        const Children& c = state.tree.levels[whole ? 0 : 1].blocks[whole ? 0 : node >> 5];
        Box box = whole ? staged.box : box_of(c, node & 31);
        real bound = from_bits(whole ? staged.bound : c.largest[turn ^ 1][node & 31]);
        for (u32 begin = (w % each) * 32; begin < n; begin += each * 32) {
            u32 k = begin + lane;
            bool hit = k < n && gap_to(box, staged.x[min(k, n - 1)], staged.y[min(k, n - 1)], staged.z[min(k, n - 1)]) < bound;
            u32 place = append(hit, &staged.counts[slot]);
            if (hit) staged.near[slot][place] = (unsigned short)k;
        }
    }
}

// Applies the points near its node to a group of distances `t`; the new ones come back.
template <bool HIGH>
__device__ __forceinline__ real refresh_group(const State& state, u32 group, real t, u32 turn, u32 slot, const Staged& staged, Positions list) {
    const Points& points = state.points;
    const Children& boxes = state.tree.levels[0].blocks[group >> 5];
    u32 lane = threadIdx.x & 31, n = staged.counts[slot];
    real before = t;
    Box box = box_of(boxes, group & 31);
    real bound = from_bits(boxes.largest[turn ^ 1][group & 31]);
    Site mine;
    bool loaded = false;
    for (u32 first = 0; first < n; first += 32) {
        u32 k = staged.near[slot][min(first + lane, n - 1)];
        real x = staged.x[k], y = staged.y[k], z = staged.z[k];
        u32 rest = __ballot_sync(FULL, first + lane < n && gap_to(box, x, y, z) < bound);
        if (rest && !loaded) mine = lane_site<HIGH>(points, group, lane), loaded = true;
        for (; rest; rest &= rest - 1) {
            u32 who = __shfl_sync(FULL, k, __ffs(rest) - 1);
            Site other = {staged.x[who], staged.y[who], staged.z[who], NONE, NONE};
            if (HIGH) other.row = points.order[list[who]];
            real d = site_distance<HIGH>(state.cloud, mine, other);
            // Chosen points have a sign: nothing is below them.
            if (d < t) t = d;
        }
    }
    if (t != before) points.distance[group * 32 + lane] = t;
    return t;
}

// Finds whom each point of a group that lies above beta waits for in it; which these are comes back.
template <bool HIGH>
__device__ __forceinline__ u32 find_members(const State& state, u32 group, real t, real beta) {
    u32 lane = threadIdx.x & 31;
    bool in = t > beta;
    u32 members = __ballot_sync(FULL, in);
    if (members == 0) return 0;
    Site mine = site(state.points, group * 32 + lane);
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
    if (in) state.witness[mine.at] = witness;
    return members;
}

// Applies the points in shared memory to some nodes, a warp a group of each node. The last time also makes the
// maxima and lists what lies above beta.
template <bool HIGH>
__device__ __forceinline__ void refresh_nodes(const State& state, u32 first, u32 slots, u32 turn, Staged& staged, Positions list, real beta, bool some, bool last) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5, groups = state.points.groups;
    if (threadIdx.x < SLOTS) staged.counts[threadIdx.x] = 0, staged.largest[threadIdx.x] = 0;
    __syncthreads();
    if (some) {
        list_near(state, first, slots, turn, staged);
        __syncthreads();
    }
    for (u32 child = warp; child < 32; child += warps) {
        const u32 ahead = 4;  // groups whose distances are loaded together
        for (u32 slot = 0; slot < slots; slot += ahead) {
            real t[ahead];
            for (u32 j = 0; j < ahead; ++j) {
                u32 k = slot + j, g = (first + k) * 32 + child;
                t[j] = k < slots && g < groups && (last || staged.counts[k]) ? state.points.distance[g * 32 + lane] : -(real)0;
            }
            for (u32 j = 0; j < ahead; ++j) {
                u32 k = slot + j, g = (first + k) * 32 + child;
                bool here = k < slots && g < groups;
                if (here && staged.counts[k]) t[j] = refresh_group<HIGH>(state, g, t[j], turn, k, staged, list);
                if (!last) continue;
                u32 members = here ? find_members<HIGH>(state, g, t[j], beta) : 0;
                bits largest = warp_largest(t[j] > (real)0 ? to_bits(t[j]) : 0);
                if (lane != 0) continue;
                staged.members[k][child] = members;
                if (here) state.tree.levels[0].blocks[g >> 5].largest[turn][g & 31] = largest, atomicMax(&staged.largest[k], largest);
            }
        }
    }
    __syncthreads();
    if (!last) return;
    if (warp < slots) {
        u32 node = first + warp, n = __popc(staged.members[warp][lane]), sum = warp_sum_to(n), place = 0;
        if (lane == 31 && sum) place = place_members(state, turn, sum);
        if (lane == 0) raise_maxima(state, node, turn, staged.largest[warp]);
        place = __shfl_sync(FULL, place, 31) + sum - n;
        for (u32 rest = staged.members[warp][lane]; rest; rest &= rest - 1) state.band[place++] = (node * 32 + lane) * 32 + __ffs(rest) - 1;
    }
    __syncthreads();
}

// Applies `n` points of `list` to all groups, finds the largest distances of all nodes and lists
// what lies above beta; `turn` says which copy takes the maxima (of the upper levels it must be
// zero), the other holds bounds from before. `from`: their number among the accepted, or NONE.
template <bool HIGH>
__device__ void refresh(const State& state, const Team& team, Positions list, u32 n, u32 turn, real beta, Staged& staged, u32 from = NONE) {
    Part part = part_of(state, team);
    if (part.nodes == 0) return;
    if (SPANS || HIGH || n > state.packed_size) from = NONE;
    if (n > 0 && threadIdx.x < 32) bound_part(state, part, turn, staged);
    u32 done = 0, begin = 0;
    do {
        if (n > 0) {
            if (threadIdx.x == 0) staged.count = 0;
            __syncthreads();
        }
        begin = done;
        // HIGH: points keep their places, since their rows are looked up by these.
        for (u32 some = 0; done < n && some + blockDim.x <= NEAR; done += blockDim.x) {
            u32 k = done + threadIdx.x;
            Packed other = accepted_point<HIGH>(state, list, from, min(k, n - 1));
            bool hit = k < n && (HIGH || gap_to(staged.box, other.x, other.y, other.z) < from_bits(staged.bound));
            u32 place = append(hit, &staged.count);
            if (HIGH) place = k - begin;
            if (hit) staged.x[place] = other.x, staged.y[place] = other.y, staged.z[place] = other.z;
            __syncthreads();
            some = staged.count;
            __syncthreads();
        }
        for (u32 slot = 0; slot < part.nodes; slot += SLOTS) {
            refresh_nodes<HIGH>(state, part.first + slot, min(SLOTS, part.nodes - slot), turn, staged, list + begin, beta, n > 0, done >= n);
        }
    } while (done < n);
    if (SPANS && state.tree.height > 2) raise_part(state, part, turn);
}


// Applies `n` accepted points, a warp or several per point.
template <bool HIGH>
__device__ void scatter(const State& state, const Team& team, Stack stack, Positions list, u32 n, u32 turn) {
    const Points& points = state.points;
    u32 lane = threadIdx.x & 31;
    // Few points reach many groups: several warps share those of a point.
    u32 shares = 1;
    while (shares < 8 && n * shares * 2 <= team.warps()) shares *= 2;
    const Children* upper = state.tree.height > 1 ? state.tree.levels[1].blocks : state.tree.levels[0].blocks + 1;
    Steps work = steps_of_accepted(state, team, n, shares);
    for (u32 w = work.first; w < work.end; w += work.step) {
        u32 share = w % shares;
        Site chosen = site(points, list[w / shares]);
        auto near = [&](const Children& c, u32 child) {
            return (&c >= upper || (child & (shares - 1)) == share) & box_distance(c, child, chosen.x, chosen.y, chosen.z) < from_bits(c.largest[turn][child]);
        };
        u32 groups[AT_ONCE], leaves = 0, some;
        begin_search(state.tree, stack, near);
        while ((some = next_groups(state.tree, stack, groups, near)) > 0) {
            leaves += some;
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
    if (team.part_thread() == 0) header_of(state, team.part)->band[turn] = header_of(state, team.part)->overfull[turn] = 0;
    for (u32 l = 2; l < state.tree.height; ++l) {
        const Level& level = state.tree.levels[l];
        for (u32 node = team.part_thread(); node < level.count; node += team.part_threads()) level.blocks[node >> 5].largest[turn][node & 31] = 0;
    }
}

// Once all distances are 0, what is left are duplicates of chosen points: all at once.
__device__ inline void accept_duplicates(const State& state, const Team& team) {
    const Points& points = state.points;
    Steps all = team.thread_steps(points.length, share_of_points(state));
    for (u32 at = all.first; at < all.end; at += all.step) {
        if (to_bits(points.distance[at]) != 0) continue;
        u32 k = place_accepted(state, at);
        state.accepted.key[k] = ~(bits)0;
        state.accepted.at[k] = at;
        points.distance[at] = -(real)0;
    }
}
