// The nearest neighbors of four rows by a warp: rows that follow each other in the order of an index lie side by side,
// so that most of the boxes and points that one has to look at are the others', too. Eight lanes have the best so far
// of each row.
#pragma once
#include "common/lowest.cuh"
#include "search/index.cuh"
#include "search/key.cuh"
#include "search/list.cuh"

constexpr u32 TOGETHER = 4;            // rows of a warp; src/search/tree.rs knows
constexpr u32 LANES = 32 / TOGETHER;   // of a row
constexpr u32 POINTS = 32 / LANES;     // of a group, by lane
static_assert(POINTS == 4, "as many as are read at a time");

// Of a row, one after another, as words of keys: the BEST so far, then candidates that wait until there are BEST of
// them; fewer than that, and those of a group.
template <u32 BEST>
struct Numbers {
    u64 of[2 * BEST - 1 + 32];
};

constexpr u64 NOTHING = 0x7f800000ffffffffull;  // after all others: at an infinite distance, no row

// A number cut short: the upper bits of the distance, and where the number is.
constexpr u32 PLACES = 127;
__device__ __forceinline__ u32 cut_short(u64 number, u32 place) { return (u32)(number >> 32) & ~PLACES | place; }
__device__ __forceinline__ bool look_equal(u32 a, u32 b) { return (a ^ b) <= PLACES; }

// Sorts a row's numbers in descending or ascending order (bitonic sort). Every RUN of them, one after another, rise and
// then fall, or the other way round, as any two do.
template <u32 RUN, bool DESCENDING, typename Number, u32 EACH>
__device__ __forceinline__ void sort_row(Number (&mine)[EACH]) {
    u32 first = lane_here() % LANES * EACH;
#pragma unroll
    for (u32 run = RUN; run <= LANES * EACH; run *= 2) {
#pragma unroll
        for (u32 step = run / 2; step > 0; step /= 2) {
            Number other[EACH];
#pragma unroll
            for (u32 e = 0; e < EACH; ++e) other[e] = step < EACH ? mine[e ^ step] : __shfl_xor_sync(FULL, mine[e], step / EACH);
#pragma unroll
            for (u32 e = 0; e < EACH; ++e) {
                // Runs that are to be merged are sorted by turns.
                bool rising = run < LANES * EACH ? ((first | e) & run) == 0 : !DESCENDING;
                bool keep_less = (((first | e) & step) == 0) == rising;
                mine[e] = keep_less ? min(mine[e], other[e]) : max(mine[e], other[e]);
            }
        }
    }
}

// Of each number and what lies opposite the lesser stays.
template <typename Number, u32 EACH>
__device__ __forceinline__ void take_lesser(Number (&mine)[EACH], const Number (&other)[EACH]) {
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) mine[e] = min(mine[e], other[e]);
}

// Takes as many of a row's `count` numbers that wait among the best as there is room for: by numbers cut short, unless
// those do not tell what is the last of the best. Not inlined: it is long, and called at several places.
template <u32 BEST>
__device__ __noinline__ void take_best(u32 count, u64* numbers) {
    constexpr u32 EACH = BEST / LANES;
    u32 first = lane_here() % LANES * EACH;
    __syncwarp();
    u32 some[EACH], kept[EACH], dropped[EACH];
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) {
        u32 place = BEST + count - 1 - (first + e);
        some[e] = first + e < count ? cut_short(numbers[place], place) : NONE;
        kept[e] = cut_short(numbers[first + e], first + e);
    }
    sort_row<2, true>(some);
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) dropped[e] = max(kept[e], some[e]);
    take_lesser(kept, some);
    sort_row<BEST, false>(kept);
    u32 last = __shfl_sync(FULL, kept[EACH - 1], LANES - 1, LANES);
    bool unclear = false;
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) {
        // Where there is nothing yet all look equal; that matters only to what has waited.
        bool out = look_equal(dropped[e], last), in = (first + e < BEST - 1) & look_equal(kept[e], last);
        unclear |= last < to_bits(infinity()) ? out | in : out & ((dropped[e] & PLACES) >= BEST);
    }
    u64 best[EACH];
    if (__any_sync(FULL, unclear)) {
        u64 waits[EACH];
#pragma unroll
        for (u32 e = 0; e < EACH; ++e) {
            waits[e] = first + e < count ? numbers[BEST + count - 1 - (first + e)] : NOTHING;
            best[e] = numbers[first + e];
        }
        // The best that look equal may be in any order.
        sort_row<2, true>(waits);
        sort_row<2, false>(best);
        take_lesser(best, waits);
        sort_row<BEST, false>(best);
    } else {
#pragma unroll
        for (u32 e = 0; e < EACH; ++e) best[e] = numbers[kept[e] & PLACES];
    }
    __syncwarp();
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) numbers[first + e] = best[e];
    __syncwarp();
}

// The rows of a warp on their way through the tree of y.
template <u32 BEST>
struct Together {
    static constexpr u32 EACH = BEST / LANES;  // of the best, by lane

    const Search& search;
    const Group* sites;
    const u32* order;
    Nodes nodes;
    Numbers<BEST>* numbers;
    // Of this lane's row.
    u64* own;               // its numbers
    u32 count;              // of those that wait
    u32 row;                // NONE: there is none
    u32 group;              // that it is in; NONE if y is another cloud
    real x, y, z;
    // Of each row: what is farther away does not count; below 0 if nothing does.
    real limit[TOGETHER];

    __device__ __forceinline__ void begin(const Indexed& asking, bool itself, u32 at, u32 end) {
        u32 which = lane_here() / LANES, first = lane_here() % LANES * EACH;
        bool here = at + which < end;
        u32 place = in_global(asking.sequence)[here ? at + which : at];
        const Group& group_of = in_global(asking.sites)[place >> 5];
        row = here ? in_global(asking.order)[place] : NONE;
        group = here && itself ? place >> 5 : NONE;
        x = here ? group_of.x[place & 31] : infinity();
        y = group_of.y[place & 31], z = group_of.z[place & 31];
        count = 0;
        own = numbers[which].of;
#pragma unroll
        for (u32 e = 0; e < EACH; ++e) own[first + e] = first + e + search.k < BEST ? 0 : NOTHING;
        real most = x < infinity() ? search.limits[0] : (real)-1;
#pragma unroll
        for (u32 r = 0; r < TOGETHER; ++r) limit[r] = __shfl_sync(FULL, most, r * LANES);
    }

    __device__ __forceinline__ void settle() {
        take_best<BEST>(count, own);
        count = count > BEST ? count - BEST : 0;
#pragma unroll
        for (u32 r = 0; r < TOGETHER; ++r) limit[r] = smaller(limit[r], Key{numbers[r].of[BEST - 1]}.distance(false));
    }

    __device__ __forceinline__ real own_limit() const {
        real result = limit[0];
#pragma unroll
        for (u32 r = 1; r < TOGETHER; ++r) result = lane_here() / LANES == r ? limit[r] : result;
        return result;
    }

    // Compares the points of a group with all rows.
    __device__ __forceinline__ void visit(u32 visited) {
        u32 lane = lane_here(), shift = lane / LANES * LANES, first = lane % LANES * POINTS;
        const Group& points = in_global(sites)[visited];
        float4 px = *(const float4*)&points.x[first], py = *(const float4*)&points.y[first], pz = *(const float4*)&points.z[first];
        real d[POINTS] = {squared(x, y, z, px.x, py.x, pz.x), squared(x, y, z, px.y, py.y, pz.y), squared(x, y, z, px.z, py.z, pz.z),
                          squared(x, y, z, px.w, py.w, pz.w)};
        // Places without a point and bad rows have an infinite x.
        bool here[POINTS] = {px.x < infinity(), px.y < infinity(), px.z < infinity(), px.w < infinity()};
        u32 wanted[POINTS], any = 0;
        real most = own_limit();
#pragma unroll
        for (u32 i = 0; i < POINTS; ++i) any |= wanted[i] = __ballot_sync(FULL, here[i] & (d[i] <= most));
        if (!any) return;
        uint4 four = *(const uint4*)&in_global(order)[visited * 32 + first];
        u32 rows[POINTS] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (u32 i = 0; i < POINTS; ++i) {
            if (search.exclude_self) wanted[i] &= __ballot_sync(FULL, rows[i] != row);
            u32 mine = wanted[i] >> shift & ((1u << LANES) - 1);
            if (is_among(wanted[i])) own[BEST + count + __popc(mine & ((1u << lane % LANES) - 1))] = Key::of(d[i], rows[i], false).word;
            count += __popc(mine);
        }
#pragma unroll 1
        while (__any_sync(FULL, count >= BEST)) settle();
    }

    // Which lanes' children are not beyond the limit of a row.
    __device__ __forceinline__ u32 within(const real (&distance)[TOGETHER]) const {
        bool any = false;
#pragma unroll
        for (u32 r = 0; r < TOGETHER; ++r) any |= distance[r] <= limit[r];
        return __ballot_sync(FULL, any);
    }

    // Whether the best of a row are all at distance 0.
    __device__ __forceinline__ bool has_only_same() const {
        bool any = false;
#pragma unroll
        for (u32 r = 0; r < TOGETHER; ++r) any |= limit[r] == (real)0;
        return any;
    }

    // Whether a row below a child would come before the last of the best.
    __device__ __forceinline__ bool comes_before_last(const Children& children, const real (&distance)[TOGETHER], u32 child) const {
        bool any = false;
#pragma unroll
        for (u32 r = 0; r < TOGETHER; ++r) {
            u64 least = Key::of(distance[r], lowest_below(children, lane_here()), false).word;
            any |= distance[r] < limit[r] || (distance[r] == limit[r] && least < numbers[r].of[BEST - 1]);
        }
        return __ballot_sync(FULL, any) >> child & 1;
    }

    // Goes down from a node with children on a level, or from the root of a lower tree; the nearest children come
    // first.
    template <u32 LEVEL>
    __device__ __forceinline__ void descend(u32 node) {
        u32 near = 1, lane = lane_here();
        real distance[TOGETHER] = {}, nearest = 0;
        bool here = nodes.has<LEVEL>();
        const Children& children = nodes.at<LEVEL>(here ? node : 0);
        if (here) {
            Box box = box_of(children, lane);
#pragma unroll
            for (u32 r = 0; r < TOGETHER; ++r) {
                distance[r] = gap_to(box, __shfl_sync(FULL, x, r * LANES), __shfl_sync(FULL, y, r * LANES), __shfl_sync(FULL, z, r * LANES));
                nearest = r == 0 ? distance[r] : smaller(nearest, distance[r]);
            }
            // Places without a node have an infinite box.
            near = within(distance) & __ballot_sync(FULL, box.low[0] < infinity());
        }
        while (near) {
            real least = warp_smallest(is_among(near) ? nearest : infinity());
            u32 child = __ffs(near & __ballot_sync(FULL, nearest == least)) - 1;
            near &= ~(1u << child);
            // Points that coincide are as near as the last of the best: not all of them are looked at.
            if (here && least == (real)0 && has_only_same() && !comes_before_last(children, distance, child)) continue;
            u32 below = node * 32 + child;
            if constexpr (LEVEL > 0) descend<LEVEL - 1>(below);
            else if (!__any_sync(FULL, below == group)) visit(below);
            if (near && here) near &= within(distance);
        }
    }

    // The rows' own groups come first.
    __device__ __forceinline__ void go() {
        u32 left = __ballot_sync(FULL, group != NONE);
#pragma unroll 1
        while (left) {
            u32 next = __shfl_sync(FULL, group, __ffs(left) - 1);
            left &= __ballot_sync(FULL, group != next);
            visit(next);
        }
        if (__any_sync(FULL, count > 0)) settle();
        u32 tops = nodes.count<3>();
        for (u32 top = 0; top < tops; ++top) descend<3>(top);
        if (__any_sync(FULL, count > 0)) settle();
    }

    // Writes the rows of x, which begin at `begin`; those of y begin at `base`.
    __device__ __forceinline__ void write(i64 begin, i64 base) const {
        u32 first = lane_here() % LANES * EACH, skipped = BEST - search.k, found = 0;
        u64 best[EACH];
#pragma unroll
        for (u32 e = 0; e < EACH; ++e) best[e] = own[first + e];
        // Those that look equal when they are cut short may be in any order.
        bool risen = __shfl_up_sync(FULL, best[EACH - 1], 1, LANES) <= best[0] || first == 0;
#pragma unroll
        for (u32 e = 1; e < EACH; ++e) risen &= best[e - 1] <= best[e];
        if (!__all_sync(FULL, risen)) sort_row<2, false>(best);
#pragma unroll
        for (u32 e = 0; e < EACH; ++e) {
            u32 there = __ballot_sync(FULL, first + e >= skipped && (u32)best[e] != NONE);
            found += __popc(there >> lane_here() / LANES * LANES & ((1u << LANES) - 1));
        }
        if (row == NONE) return;
#pragma unroll
        for (u32 e = 0; e < EACH; ++e) {
            i64 index = (u32)best[e] != NONE ? base + (u32)best[e] : -1;
            if (first + e >= skipped) write_place(search, (begin + row) * search.k + first + e - skipped, Key{best[e]}.distance(false), index);
        }
        if (first == 0) write_count(search, begin + row, found);
    }
};
