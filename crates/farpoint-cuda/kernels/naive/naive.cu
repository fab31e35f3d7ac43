// The textbook kernel: one block per cloud, every point touched for every sample.
//
// It is the yardstick the other kernels are measured with, so it does what the well-known one does,
// without its faults: ties go to the lowest index, a chosen point is never chosen again, the first
// distance is infinite, and the winner's slot is not overwritten while others still read it.
//
// `naive`, for any number of axes: one block per cloud, of any multiple of 32 threads up to 1,024; no
// dynamic shared memory. Scratch: clouds * rows reals, which need not be set to anything.
//
// `naive_packed`, for up to three: one block per cloud, of 32, 64 .. 1,024 threads. Scratch: clouds *
// stride reals, aligned to 16 bytes, likewise.
#include "common/batch.cuh"
#include "naive/packed.cuh"

struct NaiveArgs {
    Batch batch;
    real* scratch;  // distance of every point to its nearest chosen one; -1 once chosen
};

struct PackedArgs {
    Batch batch;
    real* scratch;
    u64 stride;  // reals per cloud: four times the largest cloud, in whole vectors
};

// The squared distance of two rows.
__device__ __forceinline__ real between(const Cloud& cloud, u32 row, u32 sample, real x, real y, real z) {
    real sum = squared(cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2), x, y, z);
#pragma unroll 1
    for (u32 axis = 3; axis < cloud.dims; ++axis) {
        real difference = cloud.at(row, axis) - cloud.at(sample, axis);
        sum = sum + difference * difference;
    }
    return sum;
}

// Lowers the distances of this thread's points to a new sample, and finds the first of them.
__device__ __forceinline__ Candidate update(const Cloud& cloud, real* nearest, u32 sample) {
    real x = cloud.at(sample, 0), y = cloud.at(sample, 1), z = cloud.at(sample, 2);
    Candidate best = {(real)-1, NONE};
    for (u32 row = threadIdx.x; row < cloud.length; row += blockDim.x) {
        real distance = smaller(nearest[row], between(cloud, row, sample, x, y, z));
        if (row == sample) distance = -1;
        nearest[row] = distance;
        best = first(best, Candidate{distance, row});
    }
    return best;
}

// The first of all threads' candidates, in every thread.
__device__ __forceinline__ Candidate block_first(Candidate mine) {
    __shared__ Candidate warps[32];
    u32 lane = threadIdx.x & 31u;
    mine = warp_first(mine);
    if (lane == 0) warps[threadIdx.x / 32u] = mine;
    __syncthreads();
    mine = lane < blockDim.x / 32u ? warps[lane] : Candidate{(real)-1, NONE};
    __syncthreads();  // the slots may be written again
    return warp_first(mine);
}

// Chooses sample after sample; `next_first(index)` applies a sample, and returns the first candidate after it.
template <typename Next>
__device__ __forceinline__ void choose_all(const Cloud& cloud, Next next_first) {
    u32 starts = cloud.start_count < cloud.wanted ? cloud.start_count : cloud.wanted;
    u32 chosen = 0;
    // Nothing covers no point, but any one sample would.
    Candidate next = {cloud.length > 0 ? infinity() : (real)0, NONE};
    if (starts > 0) next.index = cloud.start(0);
    while (chosen < cloud.wanted && (chosen < starts || next.value > cloud.stop)) {
        if (threadIdx.x == 0) write_sample(cloud, chosen, next.index, next.value);
        next = next_first(next.index);
        if (++chosen < starts) next = {infinity(), cloud.start(chosen)};
    }
    // The next choice, not taken, is what the sample leaves uncovered.
    finish_cloud(cloud, chosen, larger(next.value, (real)0), threadIdx.x, blockDim.x);
}

extern "C" __global__ void __launch_bounds__(1024) KERNEL(naive)(const NaiveArgs args) {
    const Cloud cloud = cloud_of(args.batch, blockIdx.x);
    real* nearest = args.scratch + (i64)blockIdx.x * args.batch.rows;
    for (u32 row = threadIdx.x; row < cloud.length; row += blockDim.x) nearest[row] = infinity();
    choose_all(cloud, [&](u32 sample) { return block_first(update(cloud, nearest, sample)); });
}

extern "C" __global__ void __launch_bounds__(1024) KERNEL(naive_packed)(const __grid_constant__ PackedArgs args) {
    __shared__ Firsts firsts;
    const Cloud cloud = cloud_of(args.batch, blockIdx.x);
    Vector* scratch = (Vector*)(args.scratch + (u64)blockIdx.x * args.stride);
    u64 most = args.stride / (4 * WIDTH);
    u32 vectors = (u32)(((u64)cloud.length + WIDTH - 1) / WIDTH);
    const Packed packed = {{scratch, scratch + most, scratch + 2 * most}, scratch + 3 * most, vectors};
    pack(cloud, packed);
    // All points are there, for all threads.
    __syncthreads();
    u32 turn = 0;
    choose_all(cloud, [&](u32 sample) { return first_of_warps(lower_all(packed, sample), firsts, turn ^= 1); });
}
