// Every point in a register: one launch a batch, and one exchange for several samples.
//
// A cloud is held by a block, by a thread-block cluster, or by a team of blocks of the grid. Each
// thread keeps the coordinates of its points and their distances in registers. What travels is in
// offer.cuh: every group of points offers its first one (in a block, its first few) together with a
// bound on all its others; a reader of all offers knows not only the next sample but several, exactly.
//
// Kernels (each name ends in _f32 or _f64), K points per thread in registers, most threads per block:
//   persistent_block_K     K (threads): f32 2 (1024), 4, 8, 16 (512)     f64 4, 8 (384), 16 (256)
//   persistent_cluster_K                f32 4, 8 (512), 32 (256)         f64 4, 8 (384), 16 (256)
//   persistent_grid_K                   f32 4 (512)                      f64 4 (384)
//   persistent_{block,cluster,grid}_more: K = 4, f32 512 threads, f64 384; any number of axes
// All but _more are for at most three axes. block_more and cluster_more keep distances of the
// points past K in shared memory. Clusters: compute capability 9.0 and above only.
//
// Launch, T threads per block (a multiple of 32), `blocks` per cloud (1, cluster size, team):
//   block    grid = clouds
//   cluster  grid = clouds * blocks, cluster dimension = blocks: any size up to 16; 16 needs
//            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
//   grid     cooperative, grid = teams * team (blocks left over leave at once): team t takes the
//            clouds t, t + teams, ...
// Dynamic shared memory in bytes; R = sizeof(real), P = 32 for f32 and 64 for f64, N the largest
// cloud, rows = max(1, ceil(N / (blocks * T))), past = max(0, rows - K) where those are allowed:
//   block    64 * P + (3 * rows + past) * T * R
//   cluster  2 * blocks * T / 32 * P + (3 * rows + past) * T * R
//   grid     64 * P + BOARD + team * P + (3 * rows + past) * T * R, BOARD = 16 for f32, 32 for f64
// Capacity: rows <= K without `past`, else what shared memory holds. On 132 blocks of 227 KiB:
//   grid_4_f32 270,336 points, grid_4_f64 202,752; a cluster of 16 of cluster_32_f32 131,072, of
//   cluster_16_f64 65,536; block_16_f32 8,192. N must be below 2^31.
// Scratch (grid only, null for the others): `mailboxes`, teams * (team * 2 * P + 16) bytes, aligned to
// 16, all zero before every launch.
//
// Which points are whose depends on blocks and T; the result does not. A warp touches its rows
// eight at a time, so rows just above a multiple of eight cost most. Shapes meant:
//   32 clouds of 1,024: block_4, T = 256 (or block_8, 128)     8 of 16,384: cluster_8, 16 blocks of 128
//   32 of 24,000: cluster_32, 4 blocks of 256                  40,000: cluster_32, 16 blocks of 128
//   124,668: grid_4, all blocks, T = 256
#include "persistent/team.cuh"

struct PersistentArgs {
    Guard guard;
    Batch batch;
    Word* mailboxes;
    u32 team;  // blocks per cloud (1 for a block)
};

// Of a block's or a cluster's own cloud, or of those that its team takes.
__device__ __noinline__ void spoil(const Guard& guard) {
    const PersistentArgs& args = (const PersistentArgs&)guard;
    spoil_clouds(args.batch, blockIdx.x / args.team, gridDim.x / args.team);
}

// Most threads per block, so that nothing is spilled.
#ifdef FARPOINT_F64
#define FEW 384
#define MANY 256
#else
#define FEW 512
#define MANY 512
#endif

#define PERSISTENT(name, threads, ...)                                                                          \
    extern "C" __global__ void __launch_bounds__(threads, 1) KERNEL(persistent_##name)(const __grid_constant__ PersistentArgs args) { \
        __VA_ARGS__;                                                                                            \
    }
#define BLOCK(name, threads, ...) PERSISTENT(block_##name, threads, sample_by_block<__VA_ARGS__>(args.batch))
#define CLUSTER(name, threads, ...) PERSISTENT(cluster_##name, threads, sample_by_cluster<__VA_ARGS__>(args.guard, args.batch))
#define GRID(name, threads, ...) \
    PERSISTENT(grid_##name, threads, sample_by_team<__VA_ARGS__>(args.guard, args.batch, args.mailboxes, args.team))

// Name, most threads; points per thread, more than three axes, points past the registers.
#ifndef FARPOINT_F64
BLOCK(2, 1024, 2, false, false)
#endif
BLOCK(4, FEW, 4, false, false)
BLOCK(8, FEW, 8, false, false)
BLOCK(16, MANY, 16, false, false)
BLOCK(more, FEW, 4, true, true)

#if __CUDA_ARCH__ >= 900
CLUSTER(4, FEW, 4, false, false)
CLUSTER(8, FEW, 8, false, false)
#ifdef FARPOINT_F64
CLUSTER(16, 256, 16, false, false)
#else
CLUSTER(32, 256, 32, false, false)
#endif
CLUSTER(more, FEW, 4, true, true)
#endif

GRID(4, FEW, 4, false, false)
GRID(more, FEW, 4, true, true)
