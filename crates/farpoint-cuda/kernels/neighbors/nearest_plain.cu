// The textbook kernel for nearest points: one thread per query, all points of the other cloud by
// tiles in shared memory. Any number of axes.
//
// Launch: 512 threads; see `stretch_of_block` for the grid. No scratch.
//
// It is the yardstick of the others, without the faults of the well-known one: it runs on the
// caller's stream, offsets have 64 bits, ties go to the lowest index, padding is not looked at.
#include "neighbors/matching.cuh"

struct PlainArgs {
    Matching matching;
    u32 chunks[2];
};

constexpr u32 THREADS = 512;

struct Tile {
    real x[THREADS];
    real y[THREADS];
    real z[THREADS];
};

// A lane's query and the nearest point found so far.
struct Query {
    u32 row;
    real x, y, z;
    real best;
    u32 nearest;
};

template <typename Metric, bool HIGH>
__device__ __forceinline__ void scan(const Tile& tile, u32 points, u32 begin, const Cloud& queries, const Cloud& targets,
                                     Query& query) {
    for (u32 k = 0; k < points; ++k) {
        real distance = distance3<Metric>(query.x, query.y, query.z, tile.x[k], tile.y[k], tile.z[k]);
        if (HIGH) distance = with_further<Metric>(distance, queries, query.row, targets, begin + k);
        if (distance < query.best) query.best = distance, query.nearest = begin + k;
    }
}

template <typename Metric>
__device__ __forceinline__ void plain(const PlainArgs& args) {
    __shared__ Tile tile;
    Stretch stretch = stretch_of_block(args.chunks);
    const Cloud queries = cloud_of(args.matching, stretch.side, stretch.pair);
    const Cloud targets = cloud_of(args.matching, stretch.side ^ 1, stretch.pair);
    u32 row = stretch.which * THREADS + threadIdx.x;
    bool active = row < queries.length;
    // Should all distances overflow to infinity, the lowest index is the first.
    Query query = {row, 0, 0, 0, infinity(), targets.length > 0 ? 0 : NONE};
    if (active) query.x = queries.at(row, 0), query.y = queries.at(row, 1), query.z = queries.at(row, 2);
    for (u32 begin = 0; begin < targets.length; begin += THREADS) {
        u32 mine = begin + threadIdx.x;
        __syncthreads();  // all are done with the tile before
        if (mine < targets.length) {
            tile.x[threadIdx.x] = targets.at(mine, 0);
            tile.y[threadIdx.x] = targets.at(mine, 1);
            tile.z[threadIdx.x] = targets.at(mine, 2);
        }
        __syncthreads();
        u32 points = active ? min(THREADS, targets.length - begin) : 0;
        if (targets.dims > 3) scan<Metric, true>(tile, points, begin, queries, targets, query);
        else scan<Metric, false>(tile, points, begin, queries, targets, query);
    }
    if (active) write_nearest(queries, row, query.best, query.nearest);
    else if (row < queries.slots) write_nearest(queries, row, 0, NONE);
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(plain)(const PlainArgs args) { plain<Squared>(args); }
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(plain_absolute)(const PlainArgs args) {
    plain<Absolute>(args);
}
