// Several neighbors by comparing all pairs: a warp a row of x looks at all points of y in the order of their
// rows, 32 at a time. An ordinary launch without scratch; any number of axes.
#include "search/list.cuh"

struct BruteArgs {
    Search search;
    const i64* offsets;  // of all within balls: where each row's begin
    u32 chunks;          // blocks a cloud
};

// The points of a cloud, 32 at a time, a lane each. Addresses move on, since products of 64 bits would take
// longer than the distances.
struct Scan {
    const real* from;
    i64 step, axis_stride;
    u32 dims, length;
    u32 row;  // this lane's

    __device__ __forceinline__ Scan(const Cloud& y) {
        u32 lane = threadIdx.x & 31;
        from = in_global(y.points) + lane * y.row_stride;
        step = 32 * y.row_stride;
        axis_stride = y.axis_stride;
        dims = y.dims;
        length = y.length;
        row = lane;
    }
    // This lane's next point; NaN past the end.
    __device__ __forceinline__ void next(real (&at)[3]) {
        bool here = row < length;
        at[0] = here ? from[0] : not_a_number();
        at[1] = here && dims > 1 ? from[axis_stride] : (real)0;
        at[2] = here && dims > 2 ? from[2 * axis_stride] : (real)0;
        from += step;
        row += 32;
    }
};

// Calls `visit` with this lane's point and its row, NONE past the end, until it says that this is enough.
template <typename Visit>
__device__ __forceinline__ void scan(const Cloud& y, Visit visit) {
    u32 lane = threadIdx.x & 31;
    Scan ahead(y);
    real next[3];
    ahead.next(next);
    for (u32 first = 0; first < y.length; first += 32) {
        real at[3] = {next[0], next[1], next[2]};
        ahead.next(next);
        if (visit(at, first + lane < y.length ? first + lane : NONE)) return;
    }
}

// The nearest, of one row.
template <typename Metric>
__device__ __forceinline__ void find_nearest(const Search& search, const Place& place, const Query& query, Candidates& candidates) {
    bool asks = !is_bad_row(place.x.cloud, query.row);
    List<false> list(candidates);
    search_row(search, place.x, place.y, query, list, [&]() {
        if (!asks) return;
        scan(place.y.cloud, [&](const real (&at)[3], u32 row) {
            real d = distance3<Metric>(query.x, query.y, query.z, at[0], at[1], at[2]);
            if (!__any_sync(FULL, d <= list.limit)) return false;
            if (search.dims > 3 && d <= list.limit) d = with_further<Metric>(d, place.x.cloud, query.row, place.y.cloud, row);
            u32 lanes = __ballot_sync(FULL, d <= list.limit && counts(search, place.y, query, d, row));
            if (lanes) list.offer(d, row, lanes);
            return false;
        });
    });
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_nearest)(const __grid_constant__ BruteArgs args) {
    __shared__ Candidates candidates[WARPS];
    const Search& search = args.search;
    Place place(search, args.chunks);
    if (place.at >= place.x.cloud.length) {
        if (place.at < place.x.cloud.slots) finish(search, place.x, place.at, 0);
        return;
    }
    Query query = query_of(place.x.cloud, place.at);
    Candidates& mine = candidates[threadIdx.x >> 5];
    if (search.norm == 1) find_nearest<Absolute>(search, place, query, mine);
    else find_nearest<Squared>(search, place, query, mine);
}

// All that count, by ascending row: `take` is given what this lane has found and its place among them, until
// there are `most`; how many there are.
template <typename Metric, typename Take>
__device__ __forceinline__ u32 take_all(const Search& search, const Place& place, const Query& query, u32 most, Take take) {
    u32 lane = threadIdx.x & 31, found = 0;
    real limit = search.limits[0];
    scan(place.y.cloud, [&](const real (&at)[3], u32 row) {
        real d = distance3<Metric>(query.x, query.y, query.z, at[0], at[1], at[2]);
        if (!__any_sync(FULL, d <= limit)) return false;
        if (search.dims > 3 && d <= limit) d = with_further<Metric>(d, place.x.cloud, query.row, place.y.cloud, row);
        bool good = d <= limit && counts(search, place.y, query, d, row);
        u32 there = __ballot_sync(FULL, good);
        u32 mine = found + __popc(there & ((1u << lane) - 1u));
        if (good && mine < most) take(mine, d, row);
        found = min(found + __popc(there), most);
        return found == most;
    });
    return found;
}

// The same for the row of this warp, which may be none.
template <typename Take>
__device__ __forceinline__ u32 take_all(const Search& search, const Place& place, u32 most, Take take) {
    if (place.at >= place.x.cloud.length || is_bad_row(place.x.cloud, place.at)) return 0;
    Query query = query_of(place.x.cloud, place.at);
    return search.norm == 1 ? take_all<Absolute>(search, place, query, most, take) : take_all<Squared>(search, place, query, most, take);
}

// Those of lowest index.
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_lowest)(const __grid_constant__ BruteArgs args) {
    const Search& search = args.search;
    Place place(search, args.chunks);
    if (place.at >= place.x.cloud.slots) return;
    u32 found = take_all(search, place, search.k, [&](u32 mine, real d, u32 row) {
        write_lane(search, place.x, place.y, place.at, mine, d, row);
    });
    finish(search, place.x, place.at, found);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_count)(const __grid_constant__ BruteArgs args) {
    const Search& search = args.search;
    Place place(search, args.chunks);
    if (place.at >= place.x.cloud.slots) return;
    u32 found = take_all(search, place, NONE, [](u32, real, u32) {});
    if ((threadIdx.x & 31) == 0) write_count(search, place.x.begin + place.at, found);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(all_fill)(const __grid_constant__ BruteArgs args) {
    const Search& search = args.search;
    Place place(search, args.chunks);
    if (place.at >= place.x.cloud.length) return;
    const i64* offsets = args.offsets + place.x.begin + place.at;
    i64 begin = offsets[0], base = search.whole ? place.y.begin : 0;
    take_all(search, place, (u32)(offsets[1] - begin), [&](u32 mine, real d, u32 row) {
        write_place(search, begin + mine, d, base + row);
    });
}
