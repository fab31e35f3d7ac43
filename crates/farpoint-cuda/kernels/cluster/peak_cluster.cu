// The peak method for clouds that fit in the shared memory of a cluster of blocks: the same samples as peak/peak.cu,
// without a trip to global memory between the first pass over the rows and the samples.
//
//   order    Morton keys, radix sort between the blocks                             (order.cuh, radix.cuh)
//   single   the first samples, one by one                                          (single.cuh)
//   round    the points above a threshold as candidates, copied to each block       (round.cuh)
//   solve    which of these are samples: those with no other in their way           (solve.cuh)
//   rank     all of them in the order of choice                                     (rank.cuh)
//
// Launch: grid = clouds * blocks, in clusters of `blocks` (1 to 16); 512 threads, or 1,024 (f32), and 8 points of a block
// for each at most; dynamic shared memory as `place_arrays` says. Up to 65,536 rows of three axes. No block waits for
// anything but the barrier of its cluster.
#include "common/guard.cuh"
#include "cluster/order.cuh"
#include "cluster/rank.cuh"
#include "cluster/single.cuh"
#include "cluster/solve.cuh"

struct ClusterArgs {
    Batch batch;
    u64* counters;  // as those of PeakArgs, or null
    u8* scratch;    // `most` of Sample for each cloud
    u64 most;       // samples wanted, and as many more as there is room for candidates
    u32 share;      // points that a block has room for, a multiple of 32
    u32 room;       // candidates that a block has room for, a multiple of 32
    u32 single;     // samples taken one by one before the first round
    u32 target;     // candidates that a round should have
    double gamma;   // what the first threshold is of the largest distance
};

// As in peak/state.cuh.
enum Counter { ROUNDS, CANDIDATES, BUILD_NS = 7, SINGLE_NS, SOLVE_NS, UPDATE_NS, SORT_NS };

// Counts and times of a cloud, by one thread, if a caller wants them.
struct Watch {
    u64* counters;
    u64 last;

    __device__ __forceinline__ void lap(Counter counter) {
        if (!counters) return;
        u64 now = nanoseconds();
        if (last) atomicAdd(&counters[counter], now - last);
        last = now;
    }
    __device__ __forceinline__ void add(Counter counter, u32 n) {
        if (counters) atomicAdd(&counters[counter], (u64)n);
    }
};

// The next threshold if the last one had no candidate, or `n`, too many. `top` is the largest distance. Of many points at
// that distance only those of the first rows become candidates: none below row `low`, and too many below row `high`.
__device__ __forceinline__ Threshold next_threshold(const Threshold& old, u32 n, real top, real gamma, real stop, u32 rows, u32* low, u32* high) {
    real below = top > (real)0 ? from_bits(to_bits(top) - 1) : top;
    if (old.limit == 0) {
        *low = 0, *high = rows;
        if (top == (real)0 || (n > 0 && !(old.beta < below))) return {top, rows};
        if (n == 0) {
            real beta = gamma * top;
            return {larger(beta < top ? beta : below, stop), 0};
        }
        real middle = old.beta + (top - old.beta) / 2;
        return {middle > old.beta && middle < below ? middle : below, 0};
    }
    if (n == 0) *low = old.limit;
    else *high = old.limit;
    return {old.beta, *low + (*high - *low) / 2};
}

// Chooses samples round after round. Returns their number, possibly more than wanted, and the largest distance left.
// `last`: no distance is above it.
__device__ __forceinline__ u32 take_rounds(const Room& r, Desk& desk, const ClusterArgs& args, u32 before, real last, real* top, Watch& watch) {
    const Cloud& cloud = desk.cloud;
    real gamma = (real)args.gamma;
    u32 total = before, low = 0, high = 0;
    Threshold threshold = {total < cloud.wanted ? larger(gamma * last, cloud.stop) : infinity(), 0};
    Fresh fresh = {0, 0};
    while (true) {
        *top = refresh(r, desk, fresh, threshold);
        u32 n = number_candidates(r, desk);
        if (total == cloud.length || *top <= cloud.stop || (total >= cloud.wanted && n == 0)) return total;
        fresh = {0, 0};
        if (n == 0 || n > r.room) {
            threshold = next_threshold(threshold, n, *top, gamma, cloud.stop, cloud.length, &low, &high);
            // No block changes what another has yet to count.
            meet(r);
            continue;
        }
        share_candidates(r, desk, n);
        watch.lap(UPDATE_NS);
        choose(r, desk, n);
        fresh = {list_chosen(r, desk, n, total - before), (n + 31) / 32};
        total += fresh.count;
        watch.lap(SOLVE_NS);
        watch.add(ROUNDS, 1);
        watch.add(CANDIDATES, n);
        // Once there are enough, those that come before the threshold and wait are still to be decided.
        if (total >= cloud.wanted) continue;
        // So that the next round has as many candidates as it should.
        real width = (1 - gamma) * smaller(larger((real)args.target / (real)n, (real)0.5), (real)1.5);
        gamma = 1 - smaller(larger(width, (real)0.02), (real)0.9);
        threshold = {larger(gamma * threshold.beta, cloud.stop), 0};
    }
}

__device__ __forceinline__ void sample_cloud(const Room& r, Desk& desk, const ClusterArgs& args) {
    Cloud& cloud = desk.cloud;
    u32 thread = r.rank * blockDim.x + threadIdx.x, threads = r.blocks * blockDim.x;
    if (cloud.wanted == 0) {
        finish_cloud(cloud, 0, cloud.length > 0 ? infinity() : (real)0, thread, threads);
        return;
    }
    Watch watch = {thread == 0 ? args.counters : nullptr, 0};
    watch.lap(BUILD_NS);
    order_points(r, desk, args.share);
    take_starts(r, desk);
    watch.lap(BUILD_NS);
    real last = infinity(), covering;
    u32 before = take_singles(r, desk, cloud.start_count, min(cloud.start_count + args.single, cloud.wanted), &last);
    watch.lap(SINGLE_NS);
    u32 total = take_rounds(r, desk, args, before, last, &covering, watch);
    watch.lap(UPDATE_NS);
    if (total > before) write_samples(r, desk, total - before, before, args.share);
    watch.lap(SORT_NS);
    if (total == cloud.length) covering = (real)0;
    __syncthreads();
    // Then it was written with the samples.
    if (threadIdx.x == 0 && total > cloud.wanted) cloud.covering = nullptr;
    __syncthreads();
    finish_cloud(cloud, min(total, cloud.wanted), covering, thread, threads);
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1) KERNEL(peak_cluster)(const __grid_constant__ ClusterArgs args) {
    __shared__ Desk desk;
    Room r = place_arrays(args.share, args.room);
    r.blocks = cluster_size();
    r.rank = cluster_rank();
    u32 number = blockIdx.x / r.blocks;
    r.list = (Sample*)args.scratch + number * args.most;
    if (threadIdx.x == 0) desk.cloud = cloud_of(args.batch, number);
    // All blocks are there.
    meet(r);
    r.all = (desk.cloud.length + 31) / 32;
    r.groups = (r.all + r.blocks - 1 - r.rank) / r.blocks;
    r.slice = (r.all + r.blocks - 1) / r.blocks * 32;
    sample_cloud(r, desk, args);
    // No block is gone while another writes to its memory.
    meet(r);
}
