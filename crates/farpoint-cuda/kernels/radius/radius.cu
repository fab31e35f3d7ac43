// RadiusFPS-G, the kernels. Each takes the same arguments; blockIdx.y is the cloud.
//
// Preparing: begin, box, (mark,) grid, map, then `passes` times digits, offsets, move; count,
// rank, ranges, gather, spheres. A step of sampling: select (or find_voxel and find_point),
// then update (or filter, lower and raise).
#include "radius/grid.cuh"
#include "radius/sort.cuh"
#include "radius/step.cuh"

// A kernel with this many threads per block and this many blocks per multiprocessor.
#define RADIUS_KERNEL(name, threads, blocks)                      \
    extern "C" __global__ void __launch_bounds__(threads, blocks) \
        KERNEL(radius_##name)(const __grid_constant__ RadiusArguments args)

// The cloud of this block and its part of the arrays.
#define FIND_CLOUD                             \
    u32 b = args.first_cloud + blockIdx.y;     \
    Cloud cloud = cloud_of(args.batch, b);     \
    Voxels v = voxels_of(args, b)

// As above, in kernels of one block per tile; clouds differ in length.
#define FIND_TILE \
    FIND_CLOUD;   \
    if ((u64)blockIdx.x * TILE >= cloud.length) return

RADIUS_KERNEL(begin, 32, 1) {
    FIND_CLOUD;
    if (threadIdx.x == 0) begin_cloud(v.state);
}

RADIUS_KERNEL(box, 256, 4) {
    FIND_TILE;
    widen_box(cloud, v);
}

RADIUS_KERNEL(mark, 256, 4) {
    FIND_TILE;
    mark_voxels(cloud, v, wanted_voxels(args, cloud.length));
}

RADIUS_KERNEL(grid, 1024, 1) {
    __shared__ u32 parts[LANES + 1];
    FIND_CLOUD;
    settle_grid(cloud, v, args.nvox, wanted_voxels(args, cloud.length), parts);
}

RADIUS_KERNEL(map, 256, 4) {
    FIND_TILE;
    map_points(cloud, v, keyed(v, args.passes));
}

RADIUS_KERNEL(digits, 256, 4) {
    FIND_TILE;
    count_digits(cloud.length, keyed(v, args.passes - args.pass).keys, 8 * args.pass, v.counts);
}

RADIUS_KERNEL(offsets, 1024, 1) {
    __shared__ u32 parts[LANES + 1];
    FIND_CLOUD;
    offsets_of_digits(cloud.length, v.counts, parts);
}

RADIUS_KERNEL(move, 256, 2) {
    FIND_TILE;
    u32 left = args.passes - args.pass;
    move_points(cloud.length, keyed(v, left), keyed(v, left - 1), 8 * args.pass, v.counts);
}

RADIUS_KERNEL(count, 256, 3) {
    FIND_TILE;
    count_voxels(cloud.length, keyed(v, 0).keys, v.counts);
}

RADIUS_KERNEL(rank, 1024, 1) {
    __shared__ u32 parts[LANES + 1];
    FIND_CLOUD;
    rank_tiles(cloud.length, tiles_of(cloud.length), v, parts);
}

RADIUS_KERNEL(ranges, 256, 4) {
    __shared__ u32 parts[LANES + 1];
    FIND_TILE;
    write_ranges(cloud.length, keyed(v, 0).keys, v, parts);
}

RADIUS_KERNEL(gather, 256, 4) {
    FIND_TILE;
    gather_points(cloud, v);
}

RADIUS_KERNEL(spheres, 256, 4) {
    FIND_CLOUD;
    u32 chunks = v.state->chunks, voxels = v.state->voxels, warps = blockDim.x / LANES;
    for (u32 slot = blockIdx.x * warps + threadIdx.x / LANES; slot < chunks * LANES; slot += gridDim.x * warps) {
        if (slot % LANES * chunks + slot / LANES < voxels) set_sphere(v, slot);
    }
}

// Fused kernel 1: the best voxel, its point, and what follows from the choice. One block.
RADIUS_KERNEL(select, 512, 2) {
    __shared__ Candidate parts[LANES];
    FIND_CLOUD;
    u32 chunks = v.state->chunks, chunk;
    wait_for_previous();
    let_next_start();
    u32 step = fresh(&v.state->step);
    if (step == NONE) return;
    choose(cloud, v.state, step, block_best(best_leader(v, chunks, chunk), parts));
}

RADIUS_KERNEL(find_voxel, 512, 2) {
    __shared__ Candidate parts[LANES];
    FIND_CLOUD;
    wait_for_previous();
    let_next_start();
    u32 step = fresh(&v.state->step);
    // Before the first sample there are no leaders.
    if (step == NONE || step == 0) return;
    find_voxel(v, parts);
}

RADIUS_KERNEL(find_point, 512, 2) {
    __shared__ Candidate parts[LANES];
    FIND_CLOUD;
    wait_for_previous();
    let_next_start();
    u32 step = fresh(&v.state->step);
    if (step == NONE) return;
    choose(cloud, v.state, step, find_point(v, parts));
}

// This warp's first chunk, and how far it is to the next.
#define FIND_CHUNKS                                                               \
    u32 lane = threadIdx.x % LANES, warps = blockDim.x / LANES * gridDim.x;       \
    u32 chunk = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;          \
    u32 chunks = v.state->chunks, voxels = v.state->voxels

// Fused kernel 2: tests the voxels of a chunk, a lane each, and visits those in reach. The
// kernel before let it start only after the last update was done, so that voxels can be loaded
// before the wait.
RADIUS_KERNEL(update, 128, 5) {
    FIND_CLOUD;
    FIND_CHUNKS;
    let_next_start();
    Voxel mine = load_voxel(v, chunk, chunks, voxels, lane);
    real limit = reach(mine.sphere.radius, mine.best.value);
    wait_for_previous();
    Pick pick = fresh(&v.state->pick);
    if (pick.index == NONE) return;
    while (chunk < chunks) {
        u32 mask = __ballot_sync(FULL, reaches(mine, limit, pick));
        if (mask) visit_voxels<true, true>(cloud, v, pick, chunk, mask, mine);
        chunk += warps;
        if (chunk >= chunks) break;
        mine = load_voxel(v, chunk, chunks, voxels, lane);
        limit = reach(mine.sphere.radius, mine.best.value);
    }
}

RADIUS_KERNEL(filter, 128, 6) {
    FIND_CLOUD;
    FIND_CHUNKS;
    wait_for_previous();
    let_next_start();
    Pick pick = fresh(&v.state->pick);
    if (pick.index == NONE) return;
    for (; chunk < chunks; chunk += warps) {
        Voxel mine = load_voxel(v, chunk, chunks, voxels, lane);
        u32 mask = __ballot_sync(FULL, reaches(mine, reach(mine.sphere.radius, mine.best.value), pick));
        if (lane == 0) v.masks[chunk] = mask;
    }
}

// The listed voxels: their distances are lowered, or their maxima found.
template <bool LOWER, bool FIND>
__device__ __forceinline__ void visit_listed(const RadiusArguments& args) {
    FIND_CLOUD;
    FIND_CHUNKS;
    wait_for_previous();
    let_next_start();
    Pick pick = fresh(&v.state->pick);
    if (pick.index == NONE) return;
    for (; chunk < chunks; chunk += warps) {
        u32 mask = fresh(&v.masks[chunk]);
        if (mask == 0) continue;
        Voxel mine = load_voxel(v, chunk, chunks, voxels, lane);
        visit_voxels<LOWER, FIND>(cloud, v, pick, chunk, mask, mine);
    }
}

RADIUS_KERNEL(lower, 128, 6) { visit_listed<true, false>(args); }
RADIUS_KERNEL(raise, 128, 6) { visit_listed<false, true>(args); }
