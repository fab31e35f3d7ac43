// What the searches share: a warp looks for the neighbors of one row, at 32 points at a time, and has the best
// 32 so far, a key a lane. More than 32 take several rounds, each for those that come after the last of the
// round before.
#pragma once
#include "search/key.cuh"
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

// The distance from the row to this lane's point `other`, of which three axes are at hand; NaN or infinite for
// a lane without one. Only if it is within the limit all axes are looked at.
__device__ __forceinline__ real measure(const Search& search, const Part& x, const Part& y, const Query& query, real limit,
                                        const real (&at)[3], u32 other) {
    real d = distance_of(search, query.x, query.y, query.z, at[0], at[1], at[2]);
    if (search.dims > 3 && d <= limit && d < infinity()) d = with_all_axes(search, d, x.cloud, query.row, y.cloud, other);
    return d;
}

// Whether this lane's point counts, of those within the limit.
__device__ __forceinline__ bool counts(const Search& search, const Part& y, const Query& query, real d, u32 other) {
    bool good = true;
    if (search.exclude_self) good = other != query.row;
    if (search.limits[1] > 0) good = good && reaches(search, d);
    // Infinitely far away are places without a point, bad rows, and points whose distance overflows.
    if (good && d == infinity()) {
        good = other != NONE && !is_bad_row_there(y.cloud.points + (i64)other * y.cloud.row_stride, y.cloud.axis_stride, y.cloud.dims);
    }
    return good;
}

constexpr u32 WAITING = 64;  // keys that wait to be sorted in
constexpr u32 FEW = 10;      // that are put in their places one by one

// The best so far. BY_INDEX: those of lowest index; the others are the nearest.
template <bool BY_INDEX>
struct List {
    Key kept;     // this lane's, ascending; the last key where there is none
    Key after;    // neighbors of this round come after this one
    Key* buffer;  // by index: keys that wait
    real limit;   // the largest distance that counts
    u32 bound;    // by index: rows from here on do not count
    u32 wanted;   // in this round, 32 at most
    u32 waiting;
    bool again;   // a round that is not the first

    __device__ __forceinline__ void begin(real most, u32 many) {
        kept = Key::last();
        limit = most;
        bound = NONE;
        wanted = many;
        waiting = 0;
    }

    // This lane's point, if `good`.
    __device__ __forceinline__ void offer(real d, u32 row, bool good) {
        u32 lane = threadIdx.x & 31;
        Key key = Key::of(d, row, BY_INDEX);
        if (BY_INDEX) good = good && row < bound;
        if (again) good = good && after < key;
        u32 there = __ballot_sync(FULL, good);
        if (!there) return;
        if (BY_INDEX) {
            if (good) buffer[waiting + __popc(there & ((1u << lane) - 1u))] = key;
            waiting += __popc(there);
            if (waiting >= 32) sort_in();
        } else if (__popc(there) > FEW) {
            merge(good ? key : Key::last());
            tighten();
        } else {
            for (; there; there &= there - 1) insert(key.of_lane(__ffs(there) - 1));
            tighten();
        }
    }

    // One key at its place.
    __device__ __forceinline__ void insert(const Key& key) {
        u32 lane = threadIdx.x & 31, place = __popc(__ballot_sync(FULL, kept < key));
        Key below = kept.of_lane_below();
        if (lane > place) kept = below;
        if (lane == place) kept = key;
    }

    // A key of each lane.
    __device__ __forceinline__ void merge(Key key) {
        key = sort_keys(key);
        kept = merge_keys(lesser(kept, key.across(31)));
    }

    // The first 32 keys that wait; the rest moves up.
    __device__ __forceinline__ void sort_in() {
        u32 lane = threadIdx.x & 31, rest = waiting > 32 ? waiting - 32 : 0;
        __syncwarp();
        Key key = lane < waiting ? buffer[lane] : Key::last();
        Key later = lane < rest ? buffer[lane + 32] : Key::last();
        __syncwarp();
        if (lane < rest) buffer[lane] = later;
        waiting = rest;
        merge(key);
        tighten();
        __syncwarp();
    }

    // The worst that is kept says what is not worth looking at anymore.
    __device__ __forceinline__ void tighten() {
        Key worst = kept.of_lane(wanted - 1);
        if (!(worst < Key::last())) return;
        if (BY_INDEX) bound = worst.row(true);
        else limit = smaller(limit, worst.distance(false));
    }

    __device__ __forceinline__ void end() {
        while (BY_INDEX && waiting > 0) sort_in();
    }
};

// Writes this lane's place of a row; `here` if it has a neighbor.
__device__ __forceinline__ void write_lane(const Search& search, const Part& x, const Part& y, u32 row, u32 place, real d, u32 other, bool here) {
    i64 base = search.whole ? y.begin : 0;
    write_place(search, (x.begin + row) * search.k + place, here ? d : infinity(), here ? base + other : -1);
}

// Fills a row's places from `place` on, by a warp, and writes its number of neighbors. Rows of padding are at
// distance 0.
__device__ __forceinline__ void finish(const Search& search, const Part& x, u32 row, u32 place, u32 found) {
    u32 lane = threadIdx.x & 31;
    i64 at = x.begin + row;
    real missing = row < x.cloud.length ? infinity() : (real)0;
    for (u32 k = place + lane; k < search.k; k += 32) write_place(search, at * search.k + k, missing, -1);
    if (lane == 0) write_count(search, at, found);
}

// All rounds for a row; `pass` has the points of y come by.
template <bool BY_INDEX, typename Pass>
__device__ __forceinline__ void search_row(const Search& search, const Part& x, const Part& y, const Query& query, List<BY_INDEX>& list, Pass pass) {
    u32 lane = threadIdx.x & 31, place = 0, found = 0;
    list.after = Key::last();
    list.again = false;
    while (place < search.k && found == place) {
        u32 wanted = min(search.k - place, 32u);
        list.begin(search.limits[0], wanted);
        pass();
        list.end();
        bool here = lane < wanted && list.kept < Key::last();
        if (lane < wanted) write_lane(search, x, y, query.row, place + lane, list.kept.distance(BY_INDEX), list.kept.row(BY_INDEX), here);
        found += __popc(__ballot_sync(FULL, here));
        place += wanted;
        list.after = list.kept.of_lane(wanted - 1);
        list.again = true;
    }
    finish(search, x, query.row, place, found);
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
