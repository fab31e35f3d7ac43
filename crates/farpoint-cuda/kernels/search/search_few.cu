// Neighbors of lowest index by comparing pairs, up to 32 of them and three axes: a lane a row of x. The warps of a
// block have the same 32 rows. In each step they compare these with the next THREADS points of y, 32 each, until all
// rows have enough neighbors. An ordinary launch without scratch.
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
    Corner asking[32];
    u32 found[2][WARPS][32];  // by each warp for each row, of two steps by turns
    u32 rows[MOST_FEW][33];   // neighbors of each row; the 33rd column keeps banks apart
};

// A row, or NaN, to which nothing is near.
__device__ __forceinline__ Corner corner_of(const Cloud& cloud, u32 row) {
    if (row >= cloud.length) return {not_a_number(), 0, 0, 0};
    return {cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2), 0};
}

__device__ __forceinline__ bool is_bad(const Corner& corner) { return is_bad(corner.x) || is_bad(corner.y) || is_bad(corner.z); }

template <typename Metric>
__device__ __forceinline__ real distance_of(const Corner& a, const Corner& b) {
    return distance3<Metric>(a.x, a.y, a.z, b.x, b.y, b.z);
}

// Of points within the limit, those that count.
template <typename Metric>
__device__ __forceinline__ u32 those_wanted(const Search& search, const Corner& mine, u32 row, const Corner* points, u32 first, u32 near) {
    u32 wanted = 0;
#pragma unroll 1
    for (; near; near &= near - 1) {
        u32 j = __ffs(near) - 1;
        bool counts = !(search.exclude_self && row == first + j) && !is_bad(points[j]);
        if (counts && (search.limits[1] <= 0 || reaches(search, distance_of<Metric>(mine, points[j])))) wanted |= 1u << j;
    }
    return wanted;
}

// Looks through y, of which this lane has its `next` point; how many neighbors each lane's row has comes back.
template <typename Metric>
__device__ __forceinline__ u32 look_through(const Search& search, const Corner& mine, u32 row, const Cloud& y, Corner next, FewShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, total = is_bad(mine) ? search.k : 0;
    bool all_count = !search.exclude_self && search.limits[1] <= 0 && search.limits[0] < infinity();
    Corner* points = shared.points[warp];
    real limit = search.limits[0];
#pragma unroll 1
    for (u32 begin = 0, turn = 0; begin < y.length && !__all_sync(FULL, total >= search.k); begin += THREADS, turn ^= 1) {
        u32 first = begin + warp * 32, near = 0;
        __syncwarp();
        points[lane] = next;
        __syncwarp();
        next = corner_of(y, first + THREADS + lane);
        if (first < y.length) {
#pragma unroll
            for (u32 j = 0; j < 32; ++j) {
                if (distance_of<Metric>(mine, points[j]) <= limit) near |= 1u << j;
            }
        }
        if (!all_count) near = those_wanted<Metric>(search, mine, row, points, first, near);
        shared.found[turn][warp][lane] = __popc(near);
        __syncthreads();
        u32 place = total;
#pragma unroll
        for (u32 w = 0; w < WARPS; ++w) {
            u32 found = shared.found[turn][w][lane];
            place += w < warp ? found : 0;
            total += found;
        }
#pragma unroll 1
        for (; near && place < search.k; near &= near - 1) shared.rows[place++][lane] = first + __ffs(near) - 1;
    }
    return is_bad(mine) ? 0 : min(total, search.k);
}

// Writes the places of a row, a lane each.
template <typename Metric>
__device__ __forceinline__ void write_row(const Search& search, const Part& x, const Part& y, u32 row, u32 found, const FewShared& shared) {
    u32 lane = threadIdx.x & 31, which = row & 31;
    i64 at = x.begin + row;
    if (lane < search.k) {
        real d = row < x.cloud.length ? infinity() : (real)0;  // padding is at distance 0
        i64 index = -1;
        if (lane < found) {
            u32 other = shared.rows[lane][which];
            d = distance_of<Metric>(shared.asking[which], corner_of(y.cloud, other));
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
    Corner mine = corner_of(x.cloud, first + lane), next = corner_of(y.cloud, threadIdx.x);
    if (warp == 0) shared.asking[lane] = mine;
    u32 found = look_through<Metric>(search, mine, first + lane, y.cloud, next, shared);
    __syncthreads();
#pragma unroll
    for (u32 which = 0; which < 32; which += WARPS) {
        u32 row = first + which + warp, many = __shfl_sync(FULL, found, which + warp);
        if (row < x.cloud.slots) write_row<Metric>(search, x, y, row, many, shared);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(few_lowest)(const __grid_constant__ FewArgs args) {
    __shared__ FewShared shared;
    if (args.search.norm == 1) search_few<Absolute>(args, shared);
    else search_few<Squared>(args, shared);
}
