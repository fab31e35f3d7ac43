// Sorts what a search for all points within balls has written, each row's in place: a warp takes 32 rows, one
// after another.
#include "search/search.cuh"

struct SortArgs {
    Search search;
    const i64* offsets;  // where each row's begin
    u32 groups;          // of 32 rows in the largest cloud of x
};

__device__ __forceinline__ i64 read_index(const Search& search, i64 at) {
    return search.narrow ? (i64)((const int*)search.indices)[at] : ((const i64*)search.indices)[at];
}

// Puts two places in order.
__device__ __forceinline__ void order_places(const Search& search, i64 a, i64 b) {
    i64 low = read_index(search, a), high = read_index(search, b);
    real near = search.distances ? search.distances[a] : (real)0, far = search.distances ? search.distances[b] : (real)0;
    bool swap = search.by_index ? high < low : far < near || (far == near && high < low);
    if (!swap) return;
    write_place(search, a, far, high);
    write_place(search, b, near, low);
}

// Bitonic, by a warp; places past the end count as the largest.
__device__ __forceinline__ void sort_row(const Search& search, i64 begin, i64 count) {
    i64 lane = threadIdx.x & 31;
    for (i64 run = 2; run < 2 * count; run <<= 1) {
        for (i64 step = run - 1; step > 0; step = step == run - 1 ? run >> 2 : step >> 1) {
            __syncwarp();
            for (i64 i = lane; i < count; i += 32) {
                i64 other = i ^ step;
                if (other > i && other < count) order_places(search, begin + i, begin + other);
            }
        }
    }
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(sort_within)(const __grid_constant__ SortArgs args) {
    const Search& search = args.search;
    u64 item = (u64)blockIdx.x * WARPS + (threadIdx.x >> 5);
    u64 cloud = item / args.groups;
    if (cloud >= search.clouds) return;
    Part x = part_of(search.sides[0], search.dims, (u32)cloud);
    u32 first = (u32)(item % args.groups) * 32;
    for (u32 row = first; row < min(first + 32, x.cloud.length); ++row) {
        i64 begin = args.offsets[x.begin + row];
        sort_row(search, begin, args.offsets[x.begin + row + 1] - begin);
    }
}
