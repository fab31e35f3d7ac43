// The variant of `persistent` that hung: 32 points per thread on the grid, for clouds of up to 1,081,344
// points on 132 multiprocessors. Not shipped; `farpoint-cuda-tests persistent-wide` runs it to find out
// why, now that its waits have a limit.
//
// To compile it, in the root folder, after `cargo xtask kernels` has fetched the compiler:
//   python3 -c "import sys, pathlib; sys.path.insert(0, 'crates/farpoint-cuda/kernels'); import build;
//   build.write_ptx(COMPILER, pathlib.Path('crates/farpoint-cuda-tests/kernels/persistent_wide.cu'), 'f32', 90,
//   pathlib.Path('target'))"
// with COMPILER the folder of libnvrtc.so.12 below target/.
//
// Besides what it samples, each warp writes how far it has come where `trace` points: so that a
// block which is stuck between its waits, where no limit is, can be told from one that waits.
#include "persistent/team.cuh"

struct WideArgs {
    Guard guard;
    Batch batch;
    Word* mailboxes;
    u32 team;
    u32* trace;  // [blocks][warps][4]: epoch, samples chosen, stage, rows
};

__device__ __noinline__ void spoil(const Guard& guard) {
    const WideArgs& args = (const WideArgs&)guard;
    spoil_clouds(args.batch, blockIdx.x / args.team, gridDim.x / args.team);
}

__device__ __forceinline__ void note(u32* trace, u32 word, u32 value) {
    if (trace && lane_id() == 0) {
        u32 warp = blockIdx.x * (blockDim.x / 32u) + threadIdx.x / 32u;
        store_relaxed(&trace[4u * warp + word], value);
    }
}

// sample_by_team of persistent/team.cuh, for one cloud, with notes.
template <u32 K>
__device__ __forceinline__ void sample(const WideArgs& args) {
    const u32 team = args.team, rank = blockIdx.x % team;
    const u32 warp = threadIdx.x / 32u, warps = blockDim.x / 32u;
    Board& board = *(Board*)arena;
    Packet* mail = (Packet*)(&board + 1);
    real* shelf = (real*)(mail + team);
    u32* raised = &args.mailboxes[2u * WORDS * team].a;
    const Cloud cloud = cloud_of(args.batch, 0);
    Held<K, false, false> points;
    points.load(cloud, {warp * team + rank, warps * team}, shelf);
    note(args.trace, 3, points.rows);
    Progress run = begin(cloud);
    u32 epoch = 0;
    while (!run.done) {
        Offer offers[1] = {no_offer()};
        Candidate bound = offers[0].bound;
        if (run.chosen < run.starts) {
            offers[0] = offer_start(cloud, points, run.chosen);
        } else {
            note(args.trace, 2, 1);  // offering
            put_offer(points, board.slots + warp);
            note(args.trace, 0, epoch + 1);
            note(args.trace, 2, 2);  // exchanging
            exchange(board, mail, args.mailboxes, team, ++epoch, args.guard, raised);
            if (lane_id() < board.count) offers[0] = unpack(board.list[lane_id()]);
            bound = first(board.bound, offers[0].bound);
        }
        note(args.trace, 2, 3);  // choosing
        choose(cloud, offers, bound, points, run);
        note(args.trace, 1, run.chosen);
    }
    note(args.trace, 2, 4);  // done
    finish_cloud(cloud_of(args.batch, 0), run.chosen, run.covering, rank * blockDim.x + threadIdx.x, team * blockDim.x);
}

extern "C" __global__ void __launch_bounds__(256, 1) KERNEL(wide_8)(const __grid_constant__ WideArgs args) { sample<8>(args); }
extern "C" __global__ void __launch_bounds__(256, 1) KERNEL(wide_16)(const __grid_constant__ WideArgs args) { sample<16>(args); }
extern "C" __global__ void __launch_bounds__(256, 1) KERNEL(wide_32)(const __grid_constant__ WideArgs args) { sample<32>(args); }
