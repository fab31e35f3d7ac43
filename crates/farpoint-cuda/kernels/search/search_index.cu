// Builds the indexes of a batch of clouds: neighbor order, groups, boxes. One cooperative launch, a team of
// blocks a cloud.
#include "common/order.cuh"
#include "common/refine.cuh"
#include "search/index.cuh"
#include "search/search.cuh"

// Threads of a block.
#ifdef FARPOINT_F64
constexpr u32 BUILDERS = 512;
#else
constexpr u32 BUILDERS = 1024;
#endif

struct IndexArgs {
    Guard guard;
    Clouds sides[2];
    Indexes indexes[2];
    u8* headers;         // one Header per team, zero at launch
    u8* scratch;         // arrays, `stride` bytes per team
    u64 header_stride;
    u64 stride;
    u32 team;            // blocks per cloud
    u32 rows;            // of the largest cloud
    u32 clouds;          // of a side
    u32 first;           // side that is built first
    u32 sides_built;
    u32 dims;
};

struct Header {
    u32 arrivals;
    u32 raised;  // whether one of the team has given up
};

// A cloud whose bad coordinates are 0, so that all numbers of the order can be compared.
struct Cleaned {
    const Cloud& cloud;
    u32 length;
    __device__ __forceinline__ real at(u32 row, u32 axis) const {
        real value = cloud.at(row, axis);
        return is_bad(value) ? (real)0 : value;
    }
};

union BuildShared {
    OrderShared order;
    Refining<BUILDERS> refining;
};

// Places the arrays of a team; src/search/index.rs computes the same sum.
__device__ __forceinline__ Ordering place_arrays(u8* scratch, u32 rows, u32 blocks) {
    u64 padded = ((u64)rows + 31) / 32 * 32;
    Ordering ordering;
    ordering.parts = (Box*)cut(&scratch, sizeof(Box) * blocks);
    ordering.digits = (u32*)cut(&scratch, sizeof(u32) * sort_words(blocks));
    u32* words = (u32*)cut(&scratch, 3 * padded * sizeof(u32));
    ordering.pairs[0] = {words, nullptr};
    ordering.pairs[1] = {words + padded, words + 2 * padded};
    return ordering;
}

// Stores this lane's point of a group, and the group's box, in which bad rows are not.
__device__ __forceinline__ void place_point(const Cloud& cloud, const Indexed& index, u32 g, u32 row) {
    u32 lane = threadIdx.x & 31;
    bool good = row != NONE && !is_bad_row(cloud, row);
    real at[3] = {infinity(), 0, 0};
    Box box;
    for (u32 a = 0; a < 3; ++a) {
        if (good) at[a] = cloud.at(row, a);
        box.low[a] = good ? at[a] : infinity();
        box.high[a] = good ? at[a] : -infinity();
    }
    index.sites[g].x[lane] = at[0];
    index.sites[g].y[lane] = at[1];
    index.sites[g].z[lane] = at[2];
    index.order[g * 32 + lane] = row;
    store_box(index.tree.levels[0], g, warp_box(box));
}

__device__ void build(Team& team, const Cloud& cloud, const Indexed& index, Ordering ordering, BuildShared& shared) {
    Cleaned cleaned = {cloud, cloud.length};
    ordering.pairs[0].values = index.order;
    order_cloud(team, cleaned, ordering, shared.order);
    for (u32 begin = team.rank * BUILDERS; begin < cloud.length; begin += team.size * BUILDERS) {
        u32 at = begin + threadIdx.x;
        u32 row = index.order[min(at, cloud.length - 1)];
        row = refine(cleaned, row, cloud.length - begin, shared.refining);
        // Places past the end stay there.
        row = sort_lanes(at < cloud.length ? row : NONE);
        u32 g = at >> 5;
        if (g < index.groups) place_point(cloud, index, g, row);
    }
    for (u32 l = 1; l < index.tree.height; ++l) {
        team.sync();
        build_level(team, index.tree.levels[l - 1], index.tree.levels[l]);
    }
}

// What a team did not finish has no points.
__device__ __noinline__ void spoil(const Guard& guard) {
    const IndexArgs& args = (const IndexArgs&)guard;
    u32 teams = gridDim.x / args.team, jobs = args.clouds * args.sides_built;
    for (u32 job = blockIdx.x / args.team; job < jobs; job += teams) {
        u32 s = args.first + job % args.sides_built, b = job / args.sides_built;
        Part part = part_of(args.sides[s], args.dims, b);
        if (part.cloud.length == 0) continue;
        Indexed index = index_of(args.indexes[s], b, part.cloud.length);
        // Rows ask in vain: nothing is inside any box.
        for (u32 at = threadIdx.x; at < index.groups * 32; at += blockDim.x) {
            index.sites[at >> 5].x[at & 31] = infinity();
            index.order[at] = at < part.cloud.length ? at : NONE;
        }
        u32 blocks = tree_blocks(index.groups);
        for (u32 k = threadIdx.x; k < blocks * 96; k += blockDim.x) {
            index.tree.levels[0].blocks[k / 96].low[k / 32 % 3][k % 32] = infinity();
            index.tree.levels[0].blocks[k / 96].high[k / 32 % 3][k % 32] = -infinity();
        }
    }
}

extern "C" __global__ void __launch_bounds__(BUILDERS, 1) KERNEL(build)(const __grid_constant__ IndexArgs args) {
    __shared__ BuildShared shared;
    u32 teams = gridDim.x / args.team, which = blockIdx.x / args.team;
    // Blocks beyond the last whole team have nothing to do.
    if (which >= teams) return;
    Header& header = *(Header*)(args.headers + which * args.header_stride);
    Team team(blockIdx.x % args.team, args.team, &header.arrivals, args.guard, &header.raised);
    if (is_absent(args.guard, AT_BEGIN, team.rank)) return;
    Ordering ordering = place_arrays(args.scratch + which * args.stride, args.rows, args.team);
    u32 jobs = args.clouds * args.sides_built;
    for (u32 job = which; job < jobs; job += teams) {
        u32 s = args.first + job % args.sides_built, b = job / args.sides_built;
        Part part = part_of(args.sides[s], args.dims, b);
        if (part.cloud.length == 0) continue;  // the whole team
        Indexed index = index_of(args.indexes[s], b, part.cloud.length);
        build(team, part.cloud, index, ordering, shared);
        team.sync();
    }
}
