// Several neighbors by comparing all pairs: a warp a row of x looks at all points of y in the order of their
// rows, 32 at a time. An ordinary launch without scratch; any number of axes.
#include "search/list.cuh"

struct BruteArgs {
    Search search;
    const i64* offsets;  // of all within balls: where each row's begin
    u32 chunks;          // blocks a cloud
};

// The row of this warp; false if there is none.
__device__ __forceinline__ bool query_at(const Place& place, Query& query) {
    if (place.at >= place.x.cloud.length) return false;
    query = query_of(place.x.cloud, place.at);
    return true;
}

// Calls `visit` with this lane's point and its row, until it says that this is enough.
template <typename Visit>
__device__ __forceinline__ void scan(const Cloud& y, Visit visit) {
    u32 lane = threadIdx.x & 31;
    for (u32 first = 0; first < y.length; first += 32) {
        u32 row = first + lane;
        bool here = row < y.length;
        real at[3];
#pragma unroll
        for (u32 a = 0; a < 3; ++a) at[a] = here ? y.at(row, a) : not_a_number();
        if (visit(at, here ? row : NONE)) return;
    }
}

// The nearest.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_nearest)(const __grid_constant__ BruteArgs args) {
    const Search& search = args.search;
    Place place(search, args.chunks);
    Query query;
    if (!query_at(place, query)) {
        if (place.at < place.x.cloud.slots) finish(search, place.x, place.at, 0, 0);
        return;
    }
    bool asks = !is_bad_row(place.x.cloud, query.row);
    List<false> list = {};
    search_row<false>(search, place.x, place.y, query, list, [&]() {
        if (!asks) return;
        scan(place.y.cloud, [&](const real (&at)[3], u32 row) {
            real d = measure(search, place.x, place.y, query, list.limit, at, row);
            list.offer(d, row, d <= list.limit && counts(search, place.y, query, d, row));
            return false;
        });
    });
}

// All that count, by ascending row: `take` is given what this lane has found and its place among them, until
// there are `most`; how many there are.
template <typename Take>
__device__ __forceinline__ u32 take_all(const Search& search, const Place& place, const Query& query, u32 most, Take take) {
    u32 lane = threadIdx.x & 31, found = 0;
    real limit = search.limits[0];
    if (is_bad_row(place.x.cloud, query.row)) return 0;
    scan(place.y.cloud, [&](const real (&at)[3], u32 row) {
        real d = measure(search, place.x, place.y, query, limit, at, row);
        bool good = d <= limit && counts(search, place.y, query, d, row);
        u32 there = __ballot_sync(FULL, good);
        u32 mine = found + __popc(there & ((1u << lane) - 1u));
        if (good && mine < most) take(mine, d, row);
        found = min(found + __popc(there), most);
        return found == most;
    });
    return found;
}

// Those of lowest index.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_lowest)(const __grid_constant__ BruteArgs args) {
    const Search& search = args.search;
    Place place(search, args.chunks);
    Query query = {0, 0, 0, place.at};
    if (place.at >= place.x.cloud.slots) return;
    u32 found = 0;
    if (query_at(place, query)) {
        found = take_all(search, place, query, search.k, [&](u32 mine, real d, u32 row) {
            write_lane(search, place.x, place.y, query.row, mine, d, row, true);
        });
    }
    finish(search, place.x, query.row, found, found);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_count)(const __grid_constant__ BruteArgs args) {
    const Search& search = args.search;
    Place place(search, args.chunks);
    Query query;
    if (place.at >= place.x.cloud.slots) return;
    u32 found = query_at(place, query) ? take_all(search, place, query, NONE, [](u32, real, u32) {}) : 0;
    if ((threadIdx.x & 31) == 0) write_count(search, place.x.begin + place.at, found);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_fill)(const __grid_constant__ BruteArgs args) {
    const Search& search = args.search;
    Place place(search, args.chunks);
    Query query;
    if (!query_at(place, query)) return;
    const i64* offsets = args.offsets + place.x.begin + query.row;
    i64 begin = offsets[0], base = search.whole ? place.y.begin : 0;
    take_all(search, place, query, (u32)(offsets[1] - begin), [&](u32 mine, real d, u32 row) {
        write_place(search, begin + mine, d, base + row);
    });
}
