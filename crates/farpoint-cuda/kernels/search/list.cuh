// What the searches share: a warp looks for the neighbors of one row, at 32 points at a time, and collects those
// within a limit that falls. More than 32 neighbors take several rounds, each for those that come after the last
// of the round before.
#pragma once
#include "common/warp.cuh"
#include "search/search.cuh"

// The row that a warp searches for.
struct Query {
    real x, y, z;
    u32 row;
};

// Not inlined: it is hardly ever needed.
__device__ __noinline__ bool is_bad_row_there(const real* row, i64 axis_stride, u32 dims) {
    bool bad = false;
#pragma unroll 1
    for (u32 axis = 0; axis < dims; ++axis) bad |= is_bad(row[(i64)axis * axis_stride]);
    return bad;
}

// Whether a point that is not bad counts, of those within the limit.
__device__ __forceinline__ bool is_wanted(const Search& search, const Query& query, real d, u32 other) {
    // Without branches within a warp.
    bool wanted = !search.exclude_self | (other != query.row);
    if (search.limits[1] > 0) wanted &= (d >= search.limits[1]) | (d <= search.limits[2]);
    return wanted;
}

// Whether this lane's point counts, of those within the limit.
__device__ __forceinline__ bool counts(const Search& search, const Part& y, const Query& query, real d, u32 other) {
    bool good = is_wanted(search, query, d, other);
    // Infinitely far away are places without a point, bad rows, and points whose distance overflows.
    if (good && d == infinity()) {
        good = other != NONE && !is_bad_row_there(y.cloud.points + (i64)other * y.cloud.row_stride, y.cloud.axis_stride, y.cloud.dims);
    }
    return good;
}

__device__ __forceinline__ u32 lanes_below() {
    u32 lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    return lanes;
}

// Whether this lane is one of some.
__device__ __forceinline__ bool is_among(u32 lanes) { return lanes >> (threadIdx.x & 31) & 1; }

__device__ __forceinline__ u32 smaller(u32 a, u32 b) { return min(a, b); }
__device__ __forceinline__ u32 larger(u32 a, u32 b) { return max(a, b); }

// Candidates a warp has room for: as many as are kept when there are too many, and a group more.
constexpr u32 ROOM = 64;

// Candidates in any order; ranks are counted by fours.
struct Candidates {
    alignas(16) real distance[ROOM + 4];
    alignas(16) u32 row[ROOM + 4];
};

// What candidates are sorted by first: their rows, or their distances.
template <bool BY_INDEX>
struct First {
    typedef real Type;
    static __device__ __forceinline__ real* of(Candidates& all) { return all.distance; }
    static __device__ __forceinline__ real last() { return infinity(); }
    static __device__ __forceinline__ real largest(real value) { return from_bits(warp_largest(to_bits(value))); }
};

template <>
struct First<true> {
    typedef u32 Type;
    static __device__ __forceinline__ u32* of(Candidates& all) { return all.row; }
    static __device__ __forceinline__ u32 last() { return NONE; }
    static __device__ __forceinline__ u32 largest(u32 value) {
        for (int step = 16; step > 0; step >>= 1) value = max(value, __shfl_xor_sync(FULL, value, step));
        return value;
    }
};

// How many candidates come before one, by distance and row.
template <bool BY_INDEX>
__device__ __forceinline__ u32 rank_of(const Candidates& all, u32 count, real d, u32 row) {
    u32 rank = 0;
#pragma unroll 1
    for (u32 i = 0; i < count; ++i) {
        real other = all.distance[i];
        rank += BY_INDEX ? all.row[i] < row : other < d || (other == d && all.row[i] < row);
    }
    return rank;
}

// The last candidate that is kept, by what is sorted by first; and its row, NONE if none that are as far away were
// dropped.
template <bool BY_INDEX>
struct Last {
    typename First<BY_INDEX>::Type number;
    u32 row;
};

// Of more than 32 candidates the best `wanted` stay; the last of these. Not inlined: it is seldom needed.
template <bool BY_INDEX>
__device__ __noinline__ Last<BY_INDEX> keep_best(Candidates& all, u32 count, u32 wanted) {
    typedef First<BY_INDEX> Order;
    typedef typename Order::Type Number;
    u32 lane = threadIdx.x & 31;
    __syncwarp();
    bool here[2] = {true, lane + 32 < count}, keep[2];
    real d[2] = {all.distance[lane], all.distance[lane + 32]};
    u32 row[2] = {all.row[lane], all.row[lane + 32]}, there[2];
    Number mine[2] = {Order::of(all)[lane], here[1] ? Order::of(all)[lane + 32] : Order::last()};
    Number low = sort_lanes(mine[0]), high = sort_lanes(mine[1]);
    // The first of two ascending runs are the lesser of what lies opposite.
    Number opposite = __shfl_sync(FULL, high, (wanted - 1 - lane) & 31);
    Number last = Order::largest(lane < wanted ? smaller(low, opposite) : (Number)0);
    for (u32 i = 0; i < 2; ++i) {
        keep[i] = here[i] && mine[i] <= last;
        there[i] = __ballot_sync(FULL, keep[i]);
    }
    u32 last_row = NONE;
    if (__popc(there[0]) + __popc(there[1]) > wanted) {
        // Some are as far away as the last.
        u32 highest = 0;
        for (u32 i = 0; i < 2; ++i) {
            keep[i] = here[i] && rank_of<BY_INDEX>(all, count, d[i], row[i]) < wanted;
            there[i] = __ballot_sync(FULL, keep[i]);
            if (keep[i] && mine[i] == last) highest = max(highest, row[i]);
        }
        last_row = ~warp_least(~highest);
    }
    __syncwarp();
    for (u32 i = 0; i < 2; ++i) {
        u32 at = (i == 0 ? 0 : __popc(there[0])) + __popc(there[i] & lanes_below());
        if (keep[i]) all.distance[at] = d[i], all.row[at] = row[i];
    }
    __syncwarp();
    return {last, BY_INDEX ? (u32)last : last_row};
}

// The best so far. BY_INDEX: those of lowest index; the others are the nearest. ONCE: one round is enough.
template <bool BY_INDEX, bool ONCE = false>
struct List {
    typedef First<BY_INDEX> Order;
    typedef typename Order::Type Number;

    Candidates& all;
    real limit;         // the largest distance that counts
    u32 bound;          // rows from here on do not count at the limit, by index at any distance
    u32 wanted;         // in this round, 32 at most
    u32 waiting;        // candidates
    bool fresh;         // nothing was offered in this round
    bool again;         // a round that is not the first
    real after_distance;  // neighbors of such a round come after this one
    u32 after_row;

    __device__ __forceinline__ explicit List(Candidates& room) : all(room), again(false), after_distance(0), after_row(0) {}

    __device__ __forceinline__ void begin(real most, u32 many) {
        limit = most;
        bound = NONE;
        wanted = many;
        waiting = 0;
        fresh = true;
    }

    __device__ __forceinline__ bool is_new(real d, u32 row) const {
        if (BY_INDEX) return row > after_row;
        return (d > after_distance) | ((d == after_distance) & (row > after_row));
    }

    // Whether a point within the limit is not beyond the last of the best.
    __device__ __forceinline__ bool is_before(real d, u32 row) const {
        return BY_INDEX ? row < bound : (d < limit) | ((d == limit) & (row < bound));
    }

    // The points of some lanes, all of them within the limit.
    __device__ __forceinline__ void offer(real d, u32 row, u32 lanes) {
        if (!ONCE && again) lanes &= __ballot_sync(FULL, is_new(d, row));
        if (bound != NONE) lanes &= __ballot_sync(FULL, is_before(d, row));
        if (!BY_INDEX && fresh) lanes &= start(d, lanes);
        if (waiting + __popc(lanes) > ROOM) {
            tighten();
            lanes &= __ballot_sync(FULL, is_before(d, row));
        }
        u32 at = waiting + __popc(lanes & lanes_below());
        if (is_among(lanes)) all.distance[at] = d, all.row[at] = row;
        waiting += __popc(lanes);
    }

    // The first group says how far away the last neighbor is at most; which lanes are within.
    __device__ __forceinline__ u32 start(real d, u32 lanes) {
        fresh = false;
        if (__popc(lanes) < wanted) return FULL;
        real sorted = sort_lanes(is_among(lanes) ? d : infinity());
        limit = smaller(limit, __shfl_sync(FULL, sorted, wanted - 1));
        return __ballot_sync(FULL, d <= limit);
    }

    // There are more than 32.
    __device__ __forceinline__ void tighten() {
        Last<BY_INDEX> last = keep_best<BY_INDEX>(all, waiting, wanted);
        bound = last.row;
        if (!BY_INDEX) limit = smaller(limit, (real)last.number);
        waiting = wanted;
    }

    // How many numbers come before one; of equal ones the rank is the same.
    __device__ __forceinline__ u32 rank_of_number(Number mine) const {
        const Number* numbers = Order::of(all);
        u32 rank = 0;
#pragma unroll 1
        for (u32 i = 0; i < waiting; i += 4) {
#pragma unroll
            for (u32 j = 0; j < 4; ++j) rank += numbers[i + j] < mine;
        }
        return rank;
    }

    // This lane's candidate and its place among all; whether there is one.
    __device__ __forceinline__ bool end(real& d, u32& row, u32& rank) {
        u32 lane = threadIdx.x & 31;
        if (waiting > 32) tighten();
        if (lane < 4) Order::of(all)[waiting + lane] = Order::last();
        __syncwarp();
        bool here = lane < waiting;
        d = all.distance[lane];
        row = all.row[lane];
        rank = rank_of_number(Order::of(all)[lane]);
        if (!BY_INDEX && warp_or(here ? 1u << rank : 0) != (waiting == 32 ? FULL : (1u << waiting) - 1u)) rank = rank_of<BY_INDEX>(all, waiting, d, row);
        __syncwarp();
        return here && rank < wanted;
    }
};

// Writes this lane's place of a row.
__device__ __forceinline__ void write_lane(const Search& search, const Part& x, const Part& y, u32 row, u32 place, real d, u32 other) {
    i64 base = search.whole ? y.begin : 0;
    write_place(search, (x.begin + row) * search.k + place, d, base + other);
}

// Fills a row's places from `place` on, by a warp, and writes its number of neighbors. Rows of padding are at
// distance 0.
__device__ __forceinline__ void finish(const Search& search, const Part& x, u32 row, u32 found) {
    u32 lane = threadIdx.x & 31;
    i64 at = x.begin + row;
    real missing = row < x.cloud.length ? infinity() : (real)0;
    for (u32 k = found + lane; k < search.k; k += 32) write_place(search, at * search.k + k, missing, -1);
    if (lane == 0) write_count(search, at, found);
}

// All rounds for a row; `pass` has the points of y come by.
template <bool BY_INDEX, bool ONCE, typename Pass>
__device__ __forceinline__ void search_row(const Search& search, const Part& x, const Part& y, const Query& query, List<BY_INDEX, ONCE>& list, Pass pass) {
    u32 found = 0;
    while (true) {
        u32 wanted = ONCE ? search.k : min(search.k - found, 32u);
        list.begin(search.limits[0], wanted);
        pass();
        real d;
        u32 row, rank;
        bool mine = list.end(d, row, rank);
        if (mine) write_lane(search, x, y, query.row, found + rank, d, row);
        found += min(list.waiting, wanted);
        if (ONCE || list.waiting < wanted || found == search.k) break;
        u32 last = __ffs(__ballot_sync(FULL, mine && rank == wanted - 1)) - 1;
        list.after_distance = __shfl_sync(FULL, d, last);
        list.after_row = __shfl_sync(FULL, row, last);
        list.again = true;
    }
    finish(search, x, query.row, found);
}

// A warp's row in a batch: the place'th of its cloud. Blocks take WARPS places each, `chunks` blocks a cloud.
struct Place {
    Part x, y;
    u32 at;

    __device__ __forceinline__ Place(const Search& search, u32 chunks) {
        u32 b = blockIdx.x / chunks;
        x = part_of(search.sides[0], search.dims, b);
        y = part_of(search.sides[1], search.dims, b);
        at = blockIdx.x % chunks * WARPS + (threadIdx.x >> 5);
    }
};

__device__ __forceinline__ Query query_of(const Cloud& cloud, u32 row) { return {cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2), row}; }
