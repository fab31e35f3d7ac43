// Several neighbors through a box tree over y, which search_index.cu has built: a warp a row of x goes down the
// tree, 32 boxes or points at a time. An ordinary launch.
//
// A box bound needs no slack: every computed step of it is monotone, so it is never above the computed
// distance to a point inside.
#include "common/lowest.cuh"
#include "search/index.cuh"
#include "search/list.cuh"
#ifndef FARPOINT_F64
#include "search/together.cuh"
#endif

struct TreeArgs {
    Search search;
    Indexes indexes[2];  // of x only where its rows are taken in that order
    const i64* offsets;  // of all within balls: where each row's begin
    u32 ordered;         // whether x has an index, too
    u32 each;            // rows a warp
};

// Registers are left for this many blocks of a multiprocessor.
#ifdef FARPOINT_F64
constexpr u32 TREE_OCCUPANCY = 6;
#else
constexpr u32 TREE_OCCUPANCY = 8;
#endif
constexpr u32 TREE_THREADS = 128;  // of a block; src/search/tree.rs knows
constexpr u32 TREE_WARPS = TREE_THREADS / 32;

// Distances. PLAIN: squared, of at most three axes.
template <bool PLAIN>
struct Distances {
    static __device__ __forceinline__ real gap(u32 norm, real below, real above) {
        real outside = larger(larger(below, above), (real)0);
        return !PLAIN && norm == 1 ? outside : outside * outside;
    }

    // At most the computed distance of the row to anything in a child's box.
    static __device__ __forceinline__ real to_box(const Search& search, const Children& children, u32 child, const Query& query) {
        real x = gap(search.norm, children.low[0][child] - query.x, query.x - children.high[0][child]);
        real y = gap(search.norm, children.low[1][child] - query.y, query.y - children.high[1][child]);
        real z = gap(search.norm, children.low[2][child] - query.z, query.z - children.high[2][child]);
        return (x + y) + z;
    }

    // The squared distance to the middle of a child's box. It is no bound, but where several boxes hold the row
    // it tells them apart.
    static __device__ __forceinline__ real to_middle(const Children& children, u32 child, const Query& query) {
        real half = (real)0.5;
        return squared(query.x, query.y, query.z, half * children.low[0][child] + half * children.high[0][child],
                       half * children.low[1][child] + half * children.high[1][child],
                       half * children.low[2][child] + half * children.high[2][child]);
    }

    static __device__ __forceinline__ real to_point(const Search& search, const Query& query, const Group& sites, u32 lane) {
        real x = sites.x[lane], y = sites.y[lane], z = sites.z[lane];
        return PLAIN ? squared(query.x, query.y, query.z, x, y, z) : distance_of(search, query.x, query.y, query.z, x, y, z);
    }
};

// A row of x on its way through the tree of y.
template <bool PLAIN>
struct Way {
    const Search& search;
    const Part& x;
    const Part& y;
    const Group* sites;
    const u32* order;
    Nodes nodes;
    const Query& query;
    const real& limit;  // what is farther away is not visited; it may fall
    const u32& bound;   // nor are rows from here on at the limit, or by index at any distance; NONE for all

    // Calls `take` with this lane's distance, the row of its point and which lanes' points count, if any does.
    template <typename Take>
    __device__ __forceinline__ void visit(u32 group, Take take) const {
        u32 lane = threadIdx.x & 31;
        const Group& points = in_global(sites)[group];
        real d = Distances<PLAIN>::to_point(search, query, points, lane);
        // Places without a point and bad rows have an infinite x.
        u32 lanes = __ballot_sync(FULL, (d <= limit) & (points.x[lane] < infinity()));
        if (!lanes) return;
        u32 row = in_global(order)[group * 32 + lane];
        if (!PLAIN && search.dims > 3) {
            if (is_among(lanes)) d = with_all_axes(search, d, x.cloud, query.row, y.cloud, row);
            lanes &= __ballot_sync(FULL, d <= limit);
        }
        if (search.exclude_self || search.limits[1] > 0) {
            lanes &= __ballot_sync(FULL, is_wanted(search, query, d, row));
        }
        take(d, row, lanes);
    }

    // Which lanes' children are within reach, being so far away at least.
    template <bool NEAREST>
    __device__ __forceinline__ u32 within_reach(const Children& children, real distance) const {
        bool within = distance <= limit;
        if (within && bound != NONE && !(NEAREST && distance < limit)) within = lowest_below(children, threadIdx.x & 31) < bound;
        return __ballot_sync(FULL, within);
    }

    // How far this lane's child of a node is at least, and which children are within reach.
    template <u32 LEVEL, bool NEAREST>
    __device__ __forceinline__ u32 open(u32 node, real& distance) const {
        u32 lane = threadIdx.x & 31;
        const Children& children = nodes.at<LEVEL>(node);
        distance = Distances<PLAIN>::to_box(search, children, lane, query);
        // Places without a node have an infinite box.
        return within_reach<NEAREST>(children, distance) & __ballot_sync(FULL, children.low[0][lane] < infinity());
    }

    // Of some lanes that whose child has the lowest row.
    static __device__ __forceinline__ u32 lowest_of(u32 lanes, const Children& children) {
        u32 row = is_among(lanes) ? lowest_below(children, threadIdx.x & 31) : NONE;
        return lanes & __ballot_sync(FULL, row == warp_least(row));
    }

    // Of some lanes those with the least value.
    static __device__ __forceinline__ u32 least_of(u32 lanes, real value) {
        real least = warp_smallest(is_among(lanes) ? value : infinity());
        return lanes & __ballot_sync(FULL, value == least);
    }

    // Goes down from a node with children on a level, or from the root of a lower tree. NEAREST: the nearest
    // children come first; until `first` is false, of several that hold the row that whose middle is nearest. Where
    // rows are beyond the bound, those with the lowest come first of what is left.
    template <u32 LEVEL, bool NEAREST, typename Take>
    __device__ __forceinline__ void descend(u32 node, u32 done, bool& first, Take take) const {
        u32 near = 1;
        real distance = 0;
        if (nodes.has<LEVEL>()) near = open<LEVEL, NEAREST>(node, distance);
        while (near) {
            u32 nearest = NEAREST ? least_of(near, distance) : near;
            if (NEAREST && first && (nearest & (nearest - 1)) && nodes.has<LEVEL>()) {
                nearest = least_of(nearest, Distances<PLAIN>::to_middle(nodes.at<LEVEL>(node), threadIdx.x & 31, query));
            }
            if (bound != NONE && (nearest & (nearest - 1))) nearest = lowest_of(nearest, nodes.at<LEVEL>(node));
            u32 child = __ffs(nearest) - 1;
            near &= ~(1u << child);
            if constexpr (LEVEL > 0) {
                descend<LEVEL - 1, NEAREST>(node * 32 + child, done, first, take);
            } else if (node * 32 + child != done) {
                first = false;
                visit(node * 32 + child, take);
            }
            if (!near || !(NEAREST || bound != NONE)) continue;
            // What is out of reach now stays so. Distances of high levels are hardly ever needed again.
            if (!NEAREST) near &= within_reach<NEAREST>(nodes.at<LEVEL>(node), 0);
            else if (LEVEL < 3) near &= within_reach<NEAREST>(nodes.at<LEVEL>(node), distance);
            else near &= open<LEVEL, NEAREST>(node, distance);
        }
    }

    // Goes through the tree, beginning with a group unless it is NONE.
    template <bool NEAREST, typename Take>
    __device__ __forceinline__ void go(u32 group, Take take) const {
        bool first = group == NONE;
        if (group != NONE) visit(group, take);
        // Nodes of the fourth level are few.
        u32 tops = nodes.count<3>();
        for (u32 top = 0; top < tops; ++top) descend<3, NEAREST>(top, group, first, take);
    }
};

// The rows that a warp has: from a place of a cloud on, one after another.
struct Span {
    u32 cloud, first, end;

    __device__ __forceinline__ explicit Span(const TreeArgs& args) {
        cloud = blockIdx.z * gridDim.y + blockIdx.y;
        first = (blockIdx.x * TREE_WARPS + (threadIdx.x >> 5)) * args.each;
        end = first + args.each;
    }
};

// The row at a place of a cloud of x, and whether it may have neighbors. In order of an index, `place` becomes
// that in its groups.
template <bool PLAIN>
__device__ __forceinline__ bool query_at(const TreeArgs& args, u32 cloud, const Part& x, u32& place, Query& query) {
    if (args.ordered) {
        Indexed index = index_of(args.indexes[0], cloud, x.cloud.length);
        place = in_global(index.sequence)[place];
        const Group& sites = in_global(index.sites)[place >> 5];
        query = {sites.x[place & 31], sites.y[place & 31], sites.z[place & 31], in_global(index.order)[place]};
        return query.x < infinity();
    }
    query = query_of(x.cloud, place);
    if (!PLAIN && x.cloud.dims > 3) return !is_bad_row(x.cloud, place);
    return !(is_bad(query.x) || is_bad(query.y) || is_bad(query.z));
}

template <bool PLAIN, bool BY_INDEX>
__device__ __forceinline__ void search_tree(const TreeArgs& args) {
    __shared__ Candidates candidates[TREE_WARPS];
    const Search& search = args.search;
    Span span(args);
    if (span.cloud >= search.clouds) return;
    Part x = part_of(search.sides[0], search.dims, span.cloud), y = part_of(search.sides[1], search.dims, span.cloud);
    Indexed index = index_of(args.indexes[1], span.cloud, y.cloud.length);
    bool itself = !BY_INDEX && args.ordered && args.indexes[0].memory == args.indexes[1].memory;
#pragma unroll 1
    for (u32 at = span.first; at < min(span.end, x.cloud.length); ++at) {
        Query query;
        u32 place = at;
        bool asks = query_at<PLAIN>(args, span.cloud, x, place, query) && y.cloud.length > 0;
        List<BY_INDEX, PLAIN> list(candidates[threadIdx.x >> 5]);
        Way<PLAIN> way = {search, x, y, index.sites, index.order, {index.tree.levels[0].blocks, index.groups}, query, list.limit, list.bound};
        search_row(search, x, y, query, list, [&]() {
            u32 own = itself ? place >> 5 : NONE;
            if (asks) way.template go<!BY_INDEX>(own, [&](real d, u32 row, u32 lanes) { list.offer(d, row, lanes); });
        });
    }
    for (u32 place = max(span.first, x.cloud.length); place < min(span.end, x.cloud.slots); ++place) finish(search, x, place, 0);
}

// All within balls: counted, or written from the row's offset on.
template <bool FILL>
__device__ __forceinline__ void within_tree(const TreeArgs& args) {
    const Search& search = args.search;
    u32 lane = threadIdx.x & 31;
    Span span(args);
    if (span.cloud >= search.clouds) return;
    Part x = part_of(search.sides[0], search.dims, span.cloud), y = part_of(search.sides[1], search.dims, span.cloud);
    Indexed index = index_of(args.indexes[1], span.cloud, y.cloud.length);
    i64 base = search.whole ? y.begin : 0;
    real limit = search.limits[0];
    u32 bound = NONE;
#pragma unroll 1
    for (u32 row = span.first; row < min(span.end, x.cloud.length); ++row) {
        Query query;
        u32 place = row;
        bool asks = query_at<false>(args, span.cloud, x, place, query) && y.cloud.length > 0;
        const i64* offset = args.offsets + x.begin + query.row;
        i64 at = FILL ? offset[0] : 0, end = FILL ? offset[1] : 0;
        u32 found = 0;
        Way<false> way = {search, x, y, index.sites, index.order, {index.tree.levels[0].blocks, index.groups}, query, limit, bound};
        if (asks) {
            way.template go<false>(NONE, [&](real d, u32 row, u32 lanes) {
                i64 mine = at + found + __popc(lanes & lanes_below());
                if (FILL && is_among(lanes) && mine < end) write_place(search, mine, d, base + row);
                found += __popc(lanes);
            });
        }
        if (!FILL && lane == 0) write_count(search, x.begin + query.row, found);
    }
    if constexpr (!FILL) {
        for (u32 place = max(span.first, x.cloud.length) + lane; place < min(span.end, x.cloud.slots); place += 32) {
            write_count(search, x.begin + place, 0);
        }
    }
}

#ifndef FARPOINT_F64
// Few nearest neighbors of rows in the order of an index.
template <u32 BEST>
__device__ __forceinline__ void search_together(const TreeArgs& args) {
    __shared__ Numbers<BEST> numbers[TREE_WARPS][TOGETHER];
    const Search& search = args.search;
    Span span(args);
    if (span.cloud >= search.clouds) return;
    Part x = part_of(search.sides[0], search.dims, span.cloud), y = part_of(search.sides[1], search.dims, span.cloud);
    Indexed asking = index_of(args.indexes[0], span.cloud, x.cloud.length), index = index_of(args.indexes[1], span.cloud, y.cloud.length);
    bool itself = args.indexes[0].memory == args.indexes[1].memory;
    if (span.first < x.cloud.length) {
        Together<BEST> rows = {search, index.sites, index.order, {index.tree.levels[0].blocks, index.groups}, numbers[threadIdx.x >> 5]};
        rows.begin(asking, itself, span.first, x.cloud.length);
        if (y.cloud.length > 0) rows.go();
        rows.write(x.begin, search.whole ? y.begin : 0);
    }
    for (u32 place = max(span.first, x.cloud.length); place < min(span.end, x.cloud.slots); ++place) finish(search, x, place, 0);
}
#endif

#define BOUNDS __launch_bounds__(TREE_THREADS, TREE_OCCUPANCY)
extern "C" __global__ void BOUNDS KERNEL(tree_nearest)(const __grid_constant__ TreeArgs args) { search_tree<true, false>(args); }
extern "C" __global__ void BOUNDS KERNEL(tree_nearest_any)(const __grid_constant__ TreeArgs args) { search_tree<false, false>(args); }
extern "C" __global__ void BOUNDS KERNEL(tree_lowest)(const __grid_constant__ TreeArgs args) { search_tree<true, true>(args); }
extern "C" __global__ void BOUNDS KERNEL(tree_lowest_any)(const __grid_constant__ TreeArgs args) { search_tree<false, true>(args); }
extern "C" __global__ void BOUNDS KERNEL(tree_count)(const __grid_constant__ TreeArgs args) { within_tree<false>(args); }
extern "C" __global__ void BOUNDS KERNEL(tree_fill)(const __grid_constant__ TreeArgs args) { within_tree<true>(args); }
#ifndef FARPOINT_F64
extern "C" __global__ void __launch_bounds__(TREE_THREADS, 8) KERNEL(tree_together_16)(const __grid_constant__ TreeArgs args) { search_together<16>(args); }
extern "C" __global__ void __launch_bounds__(TREE_THREADS, 6) KERNEL(tree_together_32)(const __grid_constant__ TreeArgs args) { search_together<32>(args); }
#endif
