// Several neighbors through a box tree over y, which search_index.cu has built: a warp a row of x goes down the
// tree, 32 boxes or points at a time. An ordinary launch.
//
// A box bound needs no slack: every computed step of it is monotone, so it is never above the computed
// distance to a point inside.
#include "search/index.cuh"
#include "search/list.cuh"

struct TreeArgs {
    Search search;
    Indexes indexes[2];  // of x only where its rows are taken in that order
    const i64* offsets;  // of all within balls: where each row's begin
    u32 chunks;          // blocks a cloud
    u32 ordered;         // whether x has an index, too
};

// The way down: on each level the node, its children that are still to be looked at, and their bounds.
struct Path {
    real bound[MOST_LEVELS][32];
    u32 node[MOST_LEVELS];
    u32 pending[MOST_LEVELS];
};

__device__ __forceinline__ real gap(u32 norm, real below, real above) {
    real outside = larger(larger(below, above), (real)0);
    return norm == 1 ? outside : outside * outside;
}

// At most the computed distance of the row to anything in a child's box.
__device__ __forceinline__ real box_bound(u32 norm, const Children& children, u32 child, const Query& query) {
    real x = gap(norm, children.low[0][child] - query.x, query.x - children.high[0][child]);
    real y = gap(norm, children.low[1][child] - query.y, query.y - children.high[1][child]);
    real z = gap(norm, children.low[2][child] - query.z, query.z - children.high[2][child]);
    return (x + y) + z;
}

// Calls `visit` with each group that `limit` reaches, which may fall meanwhile. NEAREST: the nearest first.
template <bool NEAREST, typename Visit>
__device__ __forceinline__ void descend(const Search& search, const Tree& tree, const Query& query, Path& path, const real& limit, Visit visit) {
    u32 lane = threadIdx.x & 31, level = tree.height - 1, node = 0;
    bool fresh = true;
    real bound = 0;
    u32 pending = 0;
    while (true) {
        if (fresh) {
            bound = box_bound(search.norm, in_global(tree.levels[level].blocks)[node], lane, query);
            pending = __ballot_sync(FULL, node * 32 + lane < tree.levels[level].count);
            if (level > 0) path.bound[level][lane] = bound;
            fresh = false;
        }
        u32 near = __ballot_sync(FULL, (pending >> lane & 1) && bound <= limit);
        if (!near) {
            if (++level == tree.height) return;
            __syncwarp();
            bound = path.bound[level][lane];
            pending = path.pending[level];
            node = path.node[level];
            continue;
        }
        u32 child = __ffs(near) - 1;
        if (NEAREST) {
            real least = warp_smallest(near >> lane & 1 ? bound : infinity());
            child = __ffs(__ballot_sync(FULL, (near >> lane & 1) && bound == least)) - 1;
        }
        // What is out of reach now stays so.
        pending = near & ~(1u << child);
        child += node * 32;
        if (level == 0) {
            visit(child);
            continue;
        }
        __syncwarp();
        if (lane == 0) path.pending[level] = pending, path.node[level] = node;
        --level;
        node = child;
        fresh = true;
    }
}

// The row of this warp; false if there is none.
__device__ __forceinline__ bool query_at(const TreeArgs& args, const Place& place, Query& query) {
    if (place.at >= place.x.cloud.length) return false;
    u32 row = place.at;
    if (args.ordered) row = in_global(index_of(args.indexes[0], blockIdx.x / args.chunks, place.x.cloud.length).order)[place.at];
    query = query_of(place.x.cloud, row);
    return true;
}

// This lane's point of a group.
struct Point {
    real at[3];
    u32 row;
};

__device__ __forceinline__ Point point_of(const Indexed& index, u32 group) {
    u32 lane = threadIdx.x & 31;
    const Group& sites = in_global(index.sites)[group];
    return {{sites.x[lane], sites.y[lane], sites.z[lane]}, in_global(index.order)[group * 32 + lane]};
}

template <bool BY_INDEX>
__device__ __forceinline__ void search_tree(const TreeArgs& args) {
    __shared__ Indexed index;
    __shared__ Path paths[WARPS];
    __shared__ Key buffers[BY_INDEX ? WARPS : 1][WAITING];
    const Search& search = args.search;
    u32 warp = threadIdx.x >> 5;
    Place place(search, args.chunks);
    if (threadIdx.x == 0) index = index_of(args.indexes[1], blockIdx.x / args.chunks, place.y.cloud.length);
    __syncthreads();
    Query query;
    if (!query_at(args, place, query)) {
        if (place.at < place.x.cloud.slots) finish(search, place.x, place.at, 0, 0);
        return;
    }
    bool asks = place.y.cloud.length > 0 && !is_bad_row(place.x.cloud, query.row);
    List<BY_INDEX> list = {};
    list.buffer = buffers[BY_INDEX ? warp : 0];
    search_row<BY_INDEX>(search, place.x, place.y, query, list, [&]() {
        if (!asks) return;
        descend<!BY_INDEX>(search, index.tree, query, paths[warp], list.limit, [&](u32 group) {
            Point point = point_of(index, group);
            real d = measure(search, place.x, place.y, query, list.limit, point.at, point.row);
            list.offer(d, point.row, d <= list.limit && counts(search, place.y, query, d, point.row));
        });
    });
}

// All within balls: counted, or written from the row's offset on.
template <bool FILL>
__device__ __forceinline__ void within_tree(const TreeArgs& args) {
    __shared__ Indexed index;
    __shared__ Path paths[WARPS];
    const Search& search = args.search;
    u32 lane = threadIdx.x & 31;
    Place place(search, args.chunks);
    if (threadIdx.x == 0) index = index_of(args.indexes[1], blockIdx.x / args.chunks, place.y.cloud.length);
    __syncthreads();
    Query query;
    if (!query_at(args, place, query)) {
        if (!FILL && place.at < place.x.cloud.slots && lane == 0) write_count(search, place.x.begin + place.at, 0);
        return;
    }
    i64 at = FILL ? args.offsets[place.x.begin + query.row] : 0, end = FILL ? args.offsets[place.x.begin + query.row + 1] : 0;
    i64 base = search.whole ? place.y.begin : 0;
    u32 found = 0;
    real limit = search.limits[0];
    if (place.y.cloud.length > 0 && !is_bad_row(place.x.cloud, query.row)) {
        descend<false>(search, index.tree, query, paths[threadIdx.x >> 5], limit, [&](u32 group) {
            Point point = point_of(index, group);
            real d = measure(search, place.x, place.y, query, limit, point.at, point.row);
            bool good = d <= limit && counts(search, place.y, query, d, point.row);
            u32 there = __ballot_sync(FULL, good);
            i64 mine = at + found + __popc(there & ((1u << lane) - 1u));
            if (FILL && good && mine < end) write_place(search, mine, d, base + point.row);
            found += __popc(there);
        });
    }
    if (!FILL && lane == 0) write_count(search, place.x.begin + query.row, found);
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(tree_nearest)(const __grid_constant__ TreeArgs args) { search_tree<false>(args); }
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(tree_lowest)(const __grid_constant__ TreeArgs args) { search_tree<true>(args); }
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(tree_count)(const __grid_constant__ TreeArgs args) { within_tree<false>(args); }
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(tree_fill)(const __grid_constant__ TreeArgs args) { within_tree<true>(args); }
