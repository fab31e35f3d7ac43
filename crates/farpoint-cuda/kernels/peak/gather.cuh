// The update after a band of many accepted points, a tile of groups at a time: the accepted points around the tile
// are found in one search of the tree, held in shared memory, and applied to its groups. No warp writes another's
// groups, and the maxima and the points of the next band come from the same pass.
#pragma once
#include "peak/update.cuh"

constexpr u32 HELD = 32;         // accepted points that a warp holds at a time
constexpr u32 TILE_STACK = 192;  // nodes waiting in a search of up to six levels

// What warps of a block need to gather.
template <u32 WARPS>
struct Gathering {
    u32 stacks[WARPS][TILE_STACK];
    real x[WARPS][HELD], y[WARPS][HELD], z[WARPS][HELD];
    u32 members[WARPS][32];  // of each group of a node: its points of the next band
    bits largest[WARPS];     // of each tile
};

// What is to be applied, and what is wanted next.
struct Step {
    real beta, top;  // accepted in the band that is done: above beta, up to top
    u32 turn;        // the copy of the maxima to make; the other is of before the band
    real next;       // points above this are of the next band
};

// Some groups in a row, of one node; lane k has the box of group k, and its largest distance.
struct Tile {
    u32 first, groups;
    Box box;
    real bound;
};

__device__ __forceinline__ Tile load_tile(const State& state, u32 first, u32 most, u32 turn) {
    u32 groups = first < state.points.groups ? min(most, state.points.groups - first) : 0, lane = threadIdx.x & 31;
    Tile tile = {first, groups, {{infinity(), infinity(), infinity()}, {-infinity(), -infinity(), -infinity()}}, 0};
    if (lane < groups) {
        const Children& c = in_global(state.tree.levels[0].blocks)[first >> 5];
        tile.box = box_of(c, (first & 31) + lane);
        tile.bound = from_bits(c.largest[turn][(first & 31) + lane]);
    }
    return tile;
}

__device__ __forceinline__ Box broadcast(const Box& box, u32 from) {
    Box b;
    for (u32 a = 0; a < 3; ++a) b.low[a] = __shfl_sync(FULL, box.low[a], from), b.high[a] = __shfl_sync(FULL, box.high[a], from);
    return b;
}

// Applies the `n` points held to the groups of a tile. The last time also makes the maxima, the largest of which
// comes back, and notes what lies above `next`.
template <u32 WARPS>
__device__ __forceinline__ bits apply_held(const State& state, const Tile& tile, u32 n, const Step& step, Gathering<WARPS>& shared, u32* members, bool last) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const real *xs = shared.x[warp], *ys = shared.y[warp], *zs = shared.z[warp];
    __syncwarp();
    real x = xs[lane], y = ys[lane], z = zs[lane];
    bits largest = 0;
    u32 applied = 0;
    for (u32 k = 0; k < tile.groups; ++k) {
        u32 group = tile.first + k;
        real* word = &in_global(state.points.distance)[group * 32 + lane];
        real t = *word, before = t;
        Box box = broadcast(tile.box, k);
        real bound = __shfl_sync(FULL, tile.bound, k);
        u32 hits = __ballot_sync(FULL, lane < n && gap_to(box, x, y, z) < bound);
        if (hits) {
            Site mine = lane_site<false>(state.points, group, lane);
            applied += __popc(hits);
            for (; hits; hits &= hits - 1) {
                u32 who = __ffs(hits) - 1;
                real d = squared(mine.x, mine.y, mine.z, xs[who], ys[who], zs[who]);
                // Chosen points have a sign: nothing is below them.
                if (d < t) t = d;
            }
            if (t != before) *word = t;
        }
        if (!last) continue;
        u32 in = find_members<false>(state, group, t, step.next);
        bits most = warp_largest(t > (real)0 ? to_bits(t) : 0);
        largest = most > largest ? most : largest;
        if (lane == 0) members[k] = in, state.tree.levels[0].blocks[group >> 5].largest[step.turn][group & 31] = most;
    }
    __syncwarp();
    count(state, UPDATES, applied);
    return largest;
}

// Finds the accepted points around a tile, and applies them.
template <u32 WARPS>
__device__ __forceinline__ bits gather_tile(const State& state, const Tile& tile, const Step& step, Gathering<WARPS>& shared, u32* members) {
    const Points& points = state.points;
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, n = 0, old = step.turn ^ 1;
    Stack stack = {shared.stacks[warp], 0};
    Box box = warp_box(tile.box);
    real reach = from_bits(warp_largest(to_bits(tile.bound)));
    bits floor = to_bits(step.beta);
    auto near = [&](const Children& c, u32 child) {
        return (c.largest[old][child] > floor) & (box_gap_of(c, child, box) < reach);
    };
    u32 groups[AT_ONCE], some;
    begin_search(state.tree, stack, near);
    while ((some = next_groups(state.tree, stack, groups, near)) > 0) {
        real values[AT_ONCE];
        Site others[AT_ONCE];
        for (u32 k = 0; k < AT_ONCE; ++k) {
            // Lowered by other warps meanwhile, or not: no chosen point is.
            values[k] = -load_shared_word(&in_global(points.distance)[groups[k] * 32 + lane]);
            others[k] = lane_site<false>(points, groups[k], lane);
        }
        for (u32 k = 0; k < AT_ONCE; ++k) {
            bool hit = k < some && values[k] > step.beta && values[k] <= step.top && gap_to(box, others[k].x, others[k].y, others[k].z) < reach;
            u32 hits = __ballot_sync(FULL, hit), fresh = __popc(hits), place = __popc(hits & ((1u << lane) - 1u));
            if (n + fresh > HELD) {
                apply_held<WARPS>(state, tile, n, step, shared, members, false);
                n = 0;
            }
            if (hit) shared.x[warp][n + place] = others[k].x, shared.y[warp][n + place] = others[k].y, shared.z[warp][n + place] = others[k].z;
            n += fresh;
        }
    }
    return apply_held<WARPS>(state, tile, n, step, shared, members, true);
}

// Passes the maximum of a node on, and lists its points of the next band.
__device__ __forceinline__ void list_members(const State& state, u32 node, u32 turn, bits largest, const u32* members) {
    u32 lane = threadIdx.x & 31, mine = members[lane], n = __popc(mine), sum = warp_sum_to(n), place = 0;
    if (lane == 31 && sum) place = atomicAdd(&state.header->band[turn], sum);
    if (lane == 0) raise_maxima(state.tree, node, turn, largest);
    place = __shfl_sync(FULL, place, 31) + sum - n;
    for (; mine; mine &= mine - 1) state.band[place++] = (node * 32 + lane) * 32 + __ffs(mine) - 1;
}

// Applies all points accepted in a band, finds the largest distances of all nodes and lists the next band. `step.turn`
// is as in `refresh`. The distances of further axes are not looked at: for up to three.
template <u32 WARPS>
__device__ __noinline__ void gather(const State& state, const Team& team, const Step& step, Gathering<WARPS>& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, nodes = (state.points.groups + 31) / 32, share = 1;
    // In small clouds several warps share a node, a tile each.
    while (share < WARPS && nodes * share * 2 <= team.warps()) share *= 2;
    u32 most = 32 / share, slots = WARPS / share, slot = warp / share;
    for (u32 begin = team.rank * slots; begin < nodes; begin += team.size * slots) {
        u32 node = begin + slot, *members = shared.members[slot];
        if (node < nodes) {
            u32 first = warp % share * most;
            if (lane < most) members[first + lane] = 0;
            Tile tile = load_tile(state, node * 32 + first, most, step.turn ^ 1);
            bits largest = gather_tile<WARPS>(state, tile, step, shared, members + first);
            if (lane == 0) shared.largest[warp] = largest;
        }
        if (share > 1) __syncthreads();
        __syncwarp();
        if (node < nodes && warp % share == 0) {
            bits largest = warp_largest(lane < share ? shared.largest[warp + lane] : 0);
            list_members(state, node, step.turn, largest, members);
        }
        if (share > 1) __syncthreads();
        __syncwarp();
    }
}
