// Neighbors of lowest index by comparing all pairs, up to 32 of them and three axes: a lane a row of x. The warps
// of a block have the same 32 rows, and each a part of the points of y, which they look at 32 at a time; what the
// parts found is put together at the end. An ordinary launch without scratch.
#include "search/search.cuh"

struct FewArgs {
    Search search;
    u32 chunks;  // blocks a cloud, for 32 rows each
};

constexpr u32 MOST_FEW = 32;  // neighbors; src/search/method.rs knows

struct alignas(4 * sizeof(real)) Corner {
    real x, y, z, unused;
};

struct FewShared {
    Corner points[WARPS][32];
    u32 found[WARPS][32];             // by each part for each row
    u32 rows[WARPS][MOST_FEW][33];    // them; the 33rd column keeps banks apart
};

// This lane's row of x; NaN, to which nothing is near, if there is none or it is bad.
__device__ __forceinline__ Corner corner_of(const Cloud& cloud, u32 row) {
    bool here = row < cloud.length;
    Corner corner = {not_a_number(), 0, 0, 0};
    if (here && !is_bad_row(cloud, row)) corner = {cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2), 0};
    return corner;
}

template <typename Metric>
__device__ __forceinline__ real distance_of(const Corner& a, const Corner& b) {
    return distance3<Metric>(a.x, a.y, a.z, b.x, b.y, b.z);
}

// Whether a point within the limit counts.
template <typename Metric>
__device__ __forceinline__ bool counts(const Search& search, const Corner& mine, u32 row, const Corner& point, u32 other) {
    if (search.exclude_self && row == other) return false;
    if (search.limits[1] <= 0 && search.limits[0] < infinity()) return true;
    real d = distance_of<Metric>(mine, point);
    bool bad = is_bad(point.x) || is_bad(point.y) || is_bad(point.z);
    return !bad && (search.limits[1] <= 0 || reaches(search, d));
}

// Looks through this warp's part of y.
template <typename Metric>
__device__ __forceinline__ u32 look_through(const Search& search, const Corner& mine, u32 row, const Cloud& y, FewShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u32 groups = (y.length + 31) / 32, first = groups * warp / WARPS * 32, end = min(groups * (warp + 1) / WARPS * 32, y.length);
    Corner* points = shared.points[warp];
    u32 found = 0;
    real limit = search.limits[0];
    Corner nothing = {not_a_number(), 0, 0, 0};
    auto point_at = [&](u32 other) -> Corner {
        return other < end ? Corner{y.at(other, 0), y.at(other, 1), y.at(other, 2), 0} : nothing;
    };
    Corner next = point_at(first + lane);
#pragma unroll 1
    for (; first < end; first += 32) {
        __syncwarp();
        points[lane] = next;
        __syncwarp();
        next = point_at(first + 32 + lane);
        u32 near = 0;
#pragma unroll
        for (u32 j = 0; j < 32; ++j) {
            if (distance_of<Metric>(mine, points[j]) <= limit) near |= 1u << j;
        }
#pragma unroll 1
        for (; near; near &= near - 1) {
            u32 j = __ffs(near) - 1;
            if (found < search.k && counts<Metric>(search, mine, row, points[j], first + j)) {
                shared.rows[warp][found++][lane] = first + j;
            }
        }
        if (__all_sync(FULL, found == search.k)) break;
    }
    return found;
}

// Writes the places of a row, a lane each.
template <typename Metric>
__device__ __forceinline__ void write_row(const Search& search, const Part& x, const Part& y, u32 row, const FewShared& shared) {
    u32 lane = threadIdx.x & 31, which = row & 31;
    u32 part = 0, before = 0, all = 0;
#pragma unroll
    for (u32 p = 0; p < WARPS; ++p) {
        if (lane >= all) part = p, before = all;
        all += shared.found[p][which];
    }
    u32 found = min(all, search.k);
    i64 at = x.begin + row;
    if (lane < search.k) {
        real d = row < x.cloud.length ? infinity() : (real)0;  // padding is at distance 0
        i64 index = -1;
        if (lane < found) {
            u32 other = shared.rows[part][lane - before][which];
            d = distance_of<Metric>(corner_of(x.cloud, row), Corner{y.cloud.at(other, 0), y.cloud.at(other, 1), y.cloud.at(other, 2), 0});
            index = (search.whole ? y.begin : 0) + other;
        }
        write_place(search, at * search.k + lane, d, index);
    }
    if (lane == 0) write_count(search, at, found);
}

template <typename Metric>
__device__ __forceinline__ void search_few(const FewArgs& args, FewShared& shared) {
    const Search& search = args.search;
    u32 b = blockIdx.x / args.chunks, first = blockIdx.x % args.chunks * 32;
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    Part x = part_of(search.sides[0], search.dims, b), y = part_of(search.sides[1], search.dims, b);
    if (first >= x.cloud.slots) return;
    Corner mine = corner_of(x.cloud, first + lane);
    shared.found[warp][lane] = look_through<Metric>(search, mine, first + lane, y.cloud, shared);
    __syncthreads();
    for (u32 row = first + warp; row < min(first + 32, x.cloud.slots); row += WARPS) write_row<Metric>(search, x, y, row, shared);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(few_lowest)(const __grid_constant__ FewArgs args) {
    __shared__ FewShared shared;
    if (args.search.norm == 1) search_few<Absolute>(args, shared);
    else search_few<Squared>(args, shared);
}
