// Where the lists of a cloud lie. With FARPOINT_SPAN the blocks of several GPUs are one team. The cloud is cut into
// parts along its order, one a GPU; each has its points, its groups and its stretch of every list in its own memory,
// which the others read and write as their own. Otherwise there is one part, and nothing here costs anything.
#pragma once
#include "peak/state.cuh"

#ifdef FARPOINT_SPAN

// The header of a part: it counts what is in the part's stretches.
__device__ __forceinline__ Header* header_of(const State& state, u32 part) {
    return (Header*)((u8*)state.header + part * state.span.stride);
}

__device__ __forceinline__ u32 own_part(const State& state) { return state.span.part; }

// Whose part a position is in.
__device__ __forceinline__ u32 owner_of(const State& state, u32 at) {
    u32 part = 0;
    for (u32 p = 1; p < state.span.parts; ++p) part += at >= p * state.span.share;
    return part;
}

// How many points each part has; groups by the same cut.
__device__ __forceinline__ u32 share_of_points(const State& state) { return state.span.share; }
__device__ __forceinline__ u32 share_of_groups(const State& state) { return state.span.share / 32; }

// Cuts the cloud at hand: each block refreshes as many nodes (`part_of` in update.cuh).
__device__ __forceinline__ void cut_cloud(State& state, const Team& team) {
    u32 tiles = (state.points.groups + 31) / 32, most = (tiles + team.size - 1) / team.size;
    state.span.share = team.part_size() * most * 32 * 32;
}

// What each part has for itself, after its header and mail: counts, and a copy of the upper levels. `own_bytes` of
// src/fps/span/layout.rs is the same sum.
__device__ inline void place_own(State& state, u8* own, u32 blocks, u32 rows) {
    state.span.totals = (sizeof(Header) + 2 * (sizeof(Mail) + sizeof(bits)) * (blockDim.x >> 5) * blocks + 255) / 256 * 256;
    state.span.digits = state.span.totals + sizeof(u32) * DIGITS * DEAL_ROUNDS * (MOST_PARTS - 1) * 2;
    Children* nodes = (Children*)(own + state.span.digits + sizeof(u32) * sort_words(blocks / state.span.parts));
    u32 count = ((rows + 31ull) / 32 + 31) / 32;
    for (u32 l = 1; l < MOST_LEVELS && count > 1; ++l) {
        state.tree.levels[l].blocks = nodes;
        count = (count + 31) / 32;
        nodes += count;
    }
}

__device__ __forceinline__ u32 copies(const State& state) { return state.span.parts; }

// What a part's own has in place of this of this part's.
template <typename Own>
__device__ __forceinline__ Own* of_part(const State& state, Own* own, u32 part) {
    return (Own*)((u8*)own + ((i64)part - (i64)state.span.part) * (i64)state.span.stride);
}
__device__ __forceinline__ Children* copy_of(const State& state, Children* nodes, u32 part) { return of_part(state, nodes, part); }

// This part's counts, of dealing and of sorting.
__device__ __forceinline__ u32* totals_of(const State& state, Dealing use) {
    u32* totals = (u32*)((u8*)header_of(state, state.span.part) + state.span.totals);
    return totals + use * DIGITS * DEAL_ROUNDS * (MOST_PARTS - 1);
}
__device__ __forceinline__ u32* digits_of(const State& state) { return (u32*)((u8*)header_of(state, state.span.part) + state.span.digits); }

// A place in the list of accepted points for the one at this position.
__device__ __forceinline__ u32 place_accepted(const State& state, u32 at) {
    u32 part = owner_of(state, at);
    return part * state.span.share + ATOMIC(atomicAdd)(&header_of(state, part)->accepted, 1u);
}

// The same for all lanes with `done`.
__device__ __forceinline__ u32 place_all_accepted(const State& state, u32 at, bool done) {
    u32 lane = threadIdx.x & 31, part = owner_of(state, at), place = 0;
    for (u32 p = 0; p < state.span.parts; ++p) {
        u32 all = __ballot_sync(FULL, done && part == p), first = 0;
        if (all == 0) continue;
        if (lane == 0) first = ATOMIC(atomicAdd)(&header_of(state, p)->accepted, (u32)__popc(all));
        first = __shfl_sync(FULL, first, 0);
        if (part == p) place = p * state.span.share + first + __popc(all & ((1u << lane) - 1u));
    }
    return place;
}

// A place in the list of the next band for `n` points of this part.
__device__ __forceinline__ u32 place_members(const State& state, u32 turn, u32 n) {
    return state.span.part * state.span.share + ATOMIC(atomicAdd)(&header_of(state, state.span.part)->band[turn], n);
}

// Numbers the points of lists: in each part those from `begin` to `end` of its stretch.
__device__ inline u32 number(const State& state, Stretches& list, const u32* begin, const u32* end) {
    u32 sum = 0;
    for (u32 p = 0; p < MOST_PARTS; ++p) {
        bool here = p < state.span.parts;
        list.shift[p] = here ? p * state.span.share + begin[p] - sum : 0;
        sum += here ? end[p] - begin[p] : 0;
        list.end[p] = sum;
    }
    return sum;
}

// All accepted points so far; `state.span.fresh` numbers those since the last call. All threads take part.
__device__ inline u32 count_accepted(State& state) {
    Span& span = state.span;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 now[MOST_PARTS];
        for (u32 p = 0; p < span.parts; ++p) now[p] = *(volatile u32*)&header_of(state, p)->accepted;
        span.accepted += number(state, span.fresh, span.taken, now);
        for (u32 p = 0; p < span.parts; ++p) span.taken[p] = now[p];
    }
    __syncthreads();
    return span.accepted;
}

// From now on `state.span.fresh` numbers all of them.
__device__ inline void number_accepted(State& state) {
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 none[MOST_PARTS] = {};
        number(state, state.span.fresh, none, state.span.taken);
    }
    __syncthreads();
}

// Room for `n` keys and rows where coordinates and band were, cut as the points are.
__device__ __forceinline__ Pairs<bits> spaced_pairs(const State& state, u32 n) {
    u32 points = state.span.share;
    u32 share = (u32)(((u64)n * points + state.points.length - 1) / state.points.length);
    return {(bits*)state.points.sites, state.band, share, 3 * points - share, points - share};
}

// The points of a band, and how many.
__device__ inline u32 count_members(State& state, u32 turn) {
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 none[MOST_PARTS] = {}, now[MOST_PARTS];
        for (u32 p = 0; p < state.span.parts; ++p) now[p] = *(volatile u32*)&header_of(state, p)->band[turn];
        number(state, state.span.members, none, now);
    }
    __syncthreads();
    return state.span.members.end[MOST_PARTS - 1];
}

__device__ __forceinline__ u32 member_at(const State& state, u32 k) { return state.band[state.span.members.place(k)]; }

// Positions of points: a list, or the accepted points of the last band.
struct Positions {
    const u32* at;
    const Stretches* through;
    u32 skipped;
    __device__ __forceinline__ Positions(const u32* at, const Stretches* through = nullptr, u32 skipped = 0) : at(at), through(through), skipped(skipped) {}
    __device__ __forceinline__ u32 operator[](u32 k) const { return at[through ? through->place(skipped + k) : skipped + k]; }
    __device__ __forceinline__ Positions operator+(u32 n) const { return {at, through, skipped + n}; }
};

__device__ __forceinline__ Positions accepted_from(const State& state, u32) { return {state.accepted.at, &state.span.fresh}; }

// Numbers from `begin` to before `end`.
struct Range {
    u32 begin, end;
};

// The numbers of a list that this part deals with: what is in its own memory, as to read another's takes some times
// as long; an even share if one part has far more than others.
__device__ __forceinline__ Range range_of(const State& state, const Stretches& list) {
    u32 parts = state.span.parts, part = state.span.part, n = list.end[MOST_PARTS - 1], most = 0;
    for (u32 p = 0, begin = 0; p < MOST_PARTS; begin = list.end[p++]) most = max(most, list.end[p] - begin);
    if ((u64)most * parts * 2 <= (u64)n * 3) return {part > 0 ? list.end[part - 1] : 0, list.end[part]};
    return {(u32)((u64)n * part / parts), (u32)((u64)n * (part + 1) / parts)};
}

// Of the last accepted points, `shares` times each: what a warp deals with.
__device__ __forceinline__ Steps steps_of_accepted(const State& state, const Team& team, u32, u32 shares) {
    Range range = range_of(state, state.span.fresh);
    return {range.begin * shares + team.part_warp(), range.end * shares, team.part_warps()};
}

#else

typedef const u32* Positions;

__device__ __forceinline__ u32 share_of_points(const State&) { return 0; }
__device__ __forceinline__ u32 share_of_groups(const State&) { return 0; }
__device__ __forceinline__ u32 copies(const State&) { return 1; }
__device__ __forceinline__ u32 own_part(const State&) { return 0; }
__device__ __forceinline__ Header* header_of(const State& state, u32) { return state.header; }
__device__ __forceinline__ Children* copy_of(const State&, Children* nodes, u32) { return nodes; }
__device__ __forceinline__ u32 place_accepted(const State& state, u32) { return atomicAdd(state.accepted.count, 1u); }
__device__ __forceinline__ u32 place_all_accepted(const State& state, u32, bool done) {
    u32 lane = threadIdx.x & 31, all = __ballot_sync(FULL, done), place = 0;
    if (lane == 0) place = atomicAdd(state.accepted.count, (u32)__popc(all));
    return __shfl_sync(FULL, place, 0) + __popc(all & ((1u << lane) - 1u));
}
__device__ __forceinline__ u32 place_members(const State& state, u32 turn, u32 n) { return atomicAdd(&state.header->band[turn], n); }
__device__ __forceinline__ u32 count_accepted(const State& state) { return *(volatile u32*)state.accepted.count; }
__device__ __forceinline__ u32 count_members(const State& state, u32 turn) { return *(volatile u32*)&state.header->band[turn]; }
__device__ __forceinline__ u32 member_at(const State& state, u32 k) { return state.band[k]; }
__device__ __forceinline__ Positions accepted_from(const State& state, u32 from) { return state.accepted.at + from; }
__device__ __forceinline__ Steps steps_of_accepted(const State&, const Team& team, u32 n, u32 shares) { return team.warp_steps(n * shares); }

#endif
