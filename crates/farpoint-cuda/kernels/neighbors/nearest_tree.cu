// Nearest points through box trees of both clouds: for clouds of thousands to millions of points.
//
// One cooperative launch for a batch: each pair gets a team of blocks. Some of the blocks order
// and box one cloud while the others do the same to the other; then 32 neighbors, a lane each,
// go down the tree of the other cloud together, nearest boxes first. (Neighbors on the curve,
// that is: where it jumps, those on either side of the gap go one after the other.)
//
// A box bound needs no slack: every computed step of it is monotone, so it is never above the
// computed distance to a point inside; boxes at the same distance are opened where they have a lower
// row, so that the lowest index wins among equals.
#include "common/lowest.cuh"
#include "neighbors/matching.cuh"
#include "common/order.cuh"
#include "common/refine.cuh"

// The metric and HIGH of the kernel. The others are modules of their own, so that a call loads only the one it runs.
#ifndef VARIANT
#define VARIANT Squared, false
#endif

#ifdef FARPOINT_F64
constexpr u32 THREADS = 512;
#else
constexpr u32 THREADS = 1024;
#endif
constexpr u32 WARPS = THREADS / 32;

struct TreeArgs {
    Guard guard;
    Matching matching;
    u8* headers;         // one Header per team, zero at launch
    u8* scratch;         // arrays, `stride` bytes per team
    u64 header_stride;
    u64 stride;
    u32 team;            // blocks per pair
    u32 first;           // of these, blocks that build the tree of side 0
    u32 rows[2];         // rows of the largest cloud of each side
};

struct Header {
    u32 arrivals[3];  // of the whole team, and of those that build either side
    u32 next;         // the next group of queries
    u32 raised;       // whether one of the team has given up
};

// A cloud and the tree over it.
struct Index {
    Cloud cloud;
    Points points;
    Tree tree;
    Ordering ordering;
};

// Where a warp is in its search: on each level the node it is in, its children that are still to be
// looked at, and how far these are.
struct Path {
    real bound[MOST_LEVELS][32];
    u32 block[MOST_LEVELS];
    u32 pending[MOST_LEVELS];
};

struct Shared {
    Index sides[2];
    union {
        OrderShared order;
        Refining<THREADS> refining;
        Path paths[WARPS];
    };
};

// Places the arrays of a cloud of up to `rows` points; src/chamfer/tree.rs computes the same sum.
__device__ inline void place_arrays(Index& index, u8** scratch, u32 rows, u32 blocks) {
    u64 padded = ((u64)rows + 31) / 32 * 32;
    index.ordering.parts = (Box*)cut(scratch, sizeof(Box) * blocks);
    index.ordering.digits = (u32*)cut(scratch, sizeof(u32) * sort_words(blocks));
    index.points.sites = (Group*)cut(scratch, 3 * padded * sizeof(real));
    u32* words = (u32*)cut(scratch, 4 * padded * sizeof(u32));
    index.ordering.pairs[0] = {words, words + 2 * padded};
    index.ordering.pairs[1] = {words + padded, words + 3 * padded};
    index.points.order = index.ordering.pairs[0].values;
    index.points.distance = nullptr;
    u32 groups = (u32)(padded / 32);
    index.tree.levels[0].blocks = (Children*)cut(scratch, (u64)tree_blocks(groups) * sizeof(Children));
}

// The shape of the tree over the cloud at hand.
__device__ inline void shape_tree(Index& index) {
    index.points.length = index.cloud.length;
    index.points.groups = (index.cloud.length + 31) / 32;
    u32 count = index.points.groups;
    Children* nodes = index.tree.levels[0].blocks;
    for (u32 l = 0; l < MOST_LEVELS; ++l) {
        index.tree.levels[l] = {nodes, count};
        index.tree.height = l + 1;
        if (count <= 32) break;
        count = (count + 31) / 32;
        nodes += count;
    }
}

// The lowest rows below each node of a level over those of the level below, by the warps that box the same nodes.
__device__ inline void store_lowest_level(const Team& team, const Level& below, const Level& level) {
    for (u32 node = team.part_warp(); node < level.count; node += team.part_warps()) {
        store_lowest(level, node, warp_least(lowest_below(below.blocks[node], threadIdx.x & 31)));
    }
}

// Orders a cloud and boxes it. Within a group the rows ascend, so that the first of equally near
// points is the lowest.
__device__ void build(Team& team, const Index& index, Shared& shared) {
    const Points& points = index.points;
    if (points.length == 0) return;
    order_cloud(team, index.cloud, index.ordering, shared.order);
    for (u32 begin = team.rank * THREADS; begin < points.length; begin += team.size * THREADS) {
        u32 at = begin + threadIdx.x;
        u32 row = sort_lanes(refined_row(index.cloud, points, begin, shared.refining));
        u32 g = at >> 5;
        if (g < points.groups) {
            points.order[at] = row;
            place_in_group(index.cloud, points, index.tree, g, row);
            __syncwarp();
            store_lowest(index.tree.levels[0], g, __shfl_sync(FULL, row, 0));
        }
    }
    for (u32 l = 1; l < index.tree.height; ++l) {
        team.sync();
        build_level(team, index.tree.levels[l - 1], index.tree.levels[l]);
        __syncwarp();
        store_lowest_level(team, index.tree.levels[l - 1], index.tree.levels[l]);
    }
}

// At most the computed distance of any point in one box to any in a child's.
template <typename Metric>
__device__ __forceinline__ real box_bound(const Children& children, u32 child, const Box& box) {
    real part[3];
    for (u32 a = 0; a < 3; ++a) {
        real outside = larger(children.low[a][child] - box.high[a], box.low[a] - children.high[a][child]);
        part[a] = Metric::of_gap(larger(outside, (real)0));
    }
    return (part[0] + part[1]) + part[2];
}

template <typename Metric>
__device__ __forceinline__ real box_bound(const Children& children, u32 child, const Site& site) {
    return box_bound<Metric>(children, child, Box{{site.x, site.y, site.z}, {site.x, site.y, site.z}});
}

// A lane's query and the nearest point found so far.
struct Query {
    Site site;
    real best;
    u32 row;      // NONE if nothing was found yet
    bool active;  // the search is for this one
};

// Whether a child may hold something nearer for a query, or of equals a lower row.
template <typename Metric>
__device__ __forceinline__ bool reaches(const Children& children, u32 child, const Query& query) {
    real bound = box_bound<Metric>(children, child, query.site);
    return query.active && bound <= query.best && (bound < query.best || lowest_below(children, child) < query.row);
}

struct alignas(16) Four {
    real at[4];
};

// Compares the queries with all points of a group, if any of them may find something there.
template <typename Metric, bool HIGH>
__device__ __forceinline__ void visit(const Index& queries, const Index& targets, u32 group, Query& query) {
    const Children& boxes = in_global(targets.tree.levels[0].blocks)[group >> 5];
    if (!__any_sync(FULL, reaches<Metric>(boxes, group & 31, query))) return;
    const Group& sites = in_global(targets.points.sites)[group];
    const u32* order = in_global(targets.points.order) + group * 32;
    real least = infinity();
    u32 at = 0;
#pragma unroll
    for (u32 k = 0; k < 32; k += 4) {
        Four x = *(const Four*)(sites.x + k), y = *(const Four*)(sites.y + k), z = *(const Four*)(sites.z + k);
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            real d = distance3<Metric>(query.site.x, query.site.y, query.site.z, x.at[j], y.at[j], z.at[j]);
            if (HIGH) d = with_further<Metric>(d, queries.cloud, query.site.row, targets.cloud, order[k + j]);
            if (d < least) least = d, at = k + j;
        }
    }
    if (least <= query.best) {
        u32 row = order[at];
        if (least < query.best || row < query.row) query.row = row;
        query.best = least;
    }
}

// The group that a point seems to be nearest to.
template <typename Metric>
__device__ __forceinline__ u32 likely_group(const Tree& tree, const Site& site) {
    u32 lane = threadIdx.x & 31, node = 0;
    for (u32 l = tree.height; l-- > 0;) {
        const Children& children = in_global(tree.levels[l].blocks)[node];
        real bound = node * 32 + lane < tree.levels[l].count ? box_bound<Metric>(children, lane, site) : infinity();
        real least = warp_smallest(bound);
        node = node * 32 + __ffs(__ballot_sync(FULL, bound == least)) - 1;
    }
    return node;
}

// Opens a node: how far its children are from the box of all queries.
template <typename Metric>
__device__ __forceinline__ void open(const Tree& tree, Path& path, u32 level, u32 node, const Box& box) {
    u32 lane = threadIdx.x & 31;
    const Children& children = in_global(tree.levels[level].blocks)[node];
    u32 pending = __ballot_sync(FULL, node * 32 + lane < tree.levels[level].count);
    path.bound[level][lane] = box_bound<Metric>(children, lane, box);
    __syncwarp();
    if (lane == 0) path.block[level] = node, path.pending[level] = pending;
    __syncwarp();
}

// The box around the queries of some lanes.
__device__ __forceinline__ Box box_of(const Site& site, bool mine) {
    Box box = {{site.x, site.y, site.z}, {site.x, site.y, site.z}};
    if (!mine) {
        for (u32 a = 0; a < 3; ++a) box.low[a] = infinity(), box.high[a] = -infinity();
    }
    return warp_box(box);
}

// Cuts off lanes that are neighbors from `lanes`. The curve jumps: a group may lie in two places,
// and its box over half of the cloud.
__device__ __forceinline__ u32 neighbors(const Site& site, u32 lanes, Box* box) {
    u32 lane = threadIdx.x & 31;
    while (true) {
        bool mine = lanes >> lane & 1;
        *box = box_of(site, mine);
        real extent[3];
        for (u32 a = 0; a < 3; ++a) extent[a] = box->high[a] - box->low[a];
        u32 axis = extent[0] >= extent[1] && extent[0] >= extent[2] ? 0 : extent[1] >= extent[2] ? 1 : 2;
        real at = axis == 0 ? site.x : axis == 1 ? site.y : site.z, half = (axis == 0 ? extent[0] : axis == 1 ? extent[1] : extent[2]) / 2;
        real sorted = sort_lanes(mine ? at : infinity());
        real next = __shfl_down_sync(FULL, sorted, 1);
        u32 gaps = __ballot_sync(FULL, lane + 1 < __popc(lanes) && next - sorted > half);
        if (!gaps) return lanes;
        real last = __shfl_sync(FULL, sorted, __ffs(gaps) - 1);
        lanes = __ballot_sync(FULL, mine && at <= last);
    }
}

__device__ __forceinline__ real worst_of(const Query& query) {
    return from_bits(warp_largest(query.active ? to_bits(query.best) : 0));
}

// The largest of the rows that were found: no lower row, of equals, is found from here on.
__device__ __forceinline__ u32 latest_of(const Query& query) { return ~warp_least(query.active ? ~query.row : NONE); }

// Goes down the tree for the active queries, nearest nodes first.
template <typename Metric, bool HIGH>
__device__ __forceinline__ void descend(const Index& queries, const Index& targets, const Box& box, Query& query, Path& path) {
    u32 lane = threadIdx.x & 31;
    const Tree& tree = targets.tree;
    u32 some = __ffs(__ballot_sync(FULL, query.active)) - 1;
    u32 first = likely_group<Metric>(tree, broadcast(query.site, some));
    visit<Metric, HIGH>(queries, targets, first, query);
    real worst = worst_of(query);
    u32 latest = latest_of(query);
    u32 level = tree.height - 1;
    open<Metric>(tree, path, level, 0, box);
    while (true) {
        real bound = path.bound[level][lane];
        u32 pending = path.pending[level], node = path.block[level];
        bool near = (pending >> lane & 1) && bound <= worst;
        const Children& children = in_global(tree.levels[level].blocks)[node];
        if (near && bound == worst) near = lowest_below(children, lane) < latest;
        if (!__any_sync(FULL, near)) {
            if (++level == tree.height) return;
            continue;
        }
        real least = warp_smallest(near ? bound : infinity());
        u32 child = __ffs(__ballot_sync(FULL, near && bound == least)) - 1;
        __syncwarp();
        if (lane == 0) path.pending[level] = pending & ~(1u << child);
        __syncwarp();
        if (level > 0) {
            bool later = lowest_below(children, child) >= latest;
            if (later && !__any_sync(FULL, reaches<Metric>(children, child, query))) continue;
            open<Metric>(tree, path, --level, node * 32 + child, box);
        } else if (node * 32 + child != first) {
            visit<Metric, HIGH>(queries, targets, node * 32 + child, query);
            worst = worst_of(query);
            latest = latest_of(query);
        }
    }
}

// Finds the nearest points of a group's points.
template <typename Metric, bool HIGH>
__device__ void search(const Index& queries, const Index& targets, u32 group, Path& path) {
    u32 lane = threadIdx.x & 31;
    Query query = {site(queries.points, group * 32 + lane), infinity(), NONE, false};
    for (u32 left = FULL; left;) {
        Box box;
        u32 lanes = neighbors(query.site, left, &box);
        query.active = lanes >> lane & 1;
        descend<Metric, HIGH>(queries, targets, box, query, path);
        left &= ~lanes;
    }
    // Rows that fill up the last group are there twice.
    write_nearest(queries.cloud, query.site.row, query.best, query.row);
}

// What needs no search: rows that pad a cloud, and those whose other cloud is empty.
__device__ inline void write_rest(const Team& team, const Cloud& queries, const Cloud& targets) {
    u32 begin = targets.length == 0 ? 0 : queries.length;
    for (u32 row = begin + team.thread(); row < queries.slots; row += team.threads()) {
        write_nearest(queries, row, row < queries.length ? infinity() : (real)0, NONE);
    }
}

__device__ __forceinline__ bool asked(const Cloud& cloud) { return cloud.values || cloud.indices; }

// Hands out groups of queries until none is left.
template <typename Metric, bool HIGH>
__device__ void search_all(const Team& team, Shared& shared, Header& header) {
    const Index* sides = shared.sides;
    u32 groups[2];
    for (u32 s = 0; s < 2; ++s) {
        bool any = asked(sides[s].cloud) && sides[s ^ 1].points.length > 0;
        groups[s] = any ? sides[s].points.groups : 0;
        if (asked(sides[s].cloud)) write_rest(team, sides[s].cloud, sides[s ^ 1].cloud);
    }
    u32 lane = threadIdx.x & 31;
    while (true) {
        u32 item = lane == 0 ? atomicAdd(&header.next, 1) : 0;
        item = __shfl_sync(FULL, item, 0);
        if (item >= groups[0] + groups[1]) break;
        u32 s = item < groups[0] ? 0 : 1;
        search<Metric, HIGH>(sides[s], sides[s ^ 1], s ? item - groups[0] : item, shared.paths[threadIdx.x >> 5]);
    }
}

template <typename Metric, bool HIGH>
__device__ __forceinline__ void nearest(const TreeArgs& args) {
    __shared__ Shared shared;
    u32 teams = gridDim.x / args.team, which = blockIdx.x / args.team;
    // Blocks beyond the last whole team have nothing to do.
    if (which >= teams) return;
    Header& header = *(Header*)(args.headers + which * args.header_stride);
    const Guard& guard = args.guard;
    Team team(blockIdx.x % args.team, args.team, &header.arrivals[0], guard, &header.raised);
    if (is_absent(guard, AT_BEGIN, team.rank)) return;
    // A team of one builds both sides.
    u32 side = team.rank < args.first ? 0 : 1;
    u32 rank = team.rank - (side == 0 ? 0 : args.first);
    u32 blocks = args.team == 1 ? 1 : side == 0 ? args.first : args.team - args.first;
    Team builders(rank, blocks, &header.arrivals[1 + side], guard, &header.raised);
    if (threadIdx.x == 0) {
        u8* scratch = args.scratch + which * args.stride;
        for (u32 s = 0; s < 2; ++s) place_arrays(shared.sides[s], &scratch, args.rows[s], args.team);
    }
    for (u32 pair = which; pair < args.matching.pairs; pair += teams) {
        if (threadIdx.x == 0) {
            for (u32 s = 0; s < 2; ++s) {
                shared.sides[s].cloud = cloud_of(args.matching, s, pair);
                shape_tree(shared.sides[s]);
            }
            if (team.rank == 0) header.next = 0;
        }
        __syncthreads();
        build(builders, shared.sides[side], shared);
        if (args.team == 1) __syncthreads(), build(builders, shared.sides[1], shared);
        team.sync();
        search_all<Metric, HIGH>(team, shared, header);
        team.sync();
    }
}

__device__ __noinline__ void spoil(const Guard& guard) {
    const TreeArgs& args = (const TreeArgs&)guard;
    spoil_pairs(args.matching, blockIdx.x / args.team, gridDim.x / args.team);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) KERNEL(tree)(const __grid_constant__ TreeArgs args) { nearest<VARIANT>(args); }
