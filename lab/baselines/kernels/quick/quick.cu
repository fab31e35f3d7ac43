// QuickFPS (M. Han et al., IEEE TCAD 42(11), 2023): one sample at a time over the buckets of a KD-tree of fixed
// height, one block a cloud. docs/quick.md says when a bucket is skipped, delayed or visited, and why that is exact.
//
// A warp has every so many-th 32 buckets: each lane tests one, and the warp visits those that need it.
//
// Launch: a block per cloud, of whole warps; for each of the 2^most_height buckets BUCKET_BYTES of dynamic shared
// memory, and a word. No block waits for another.
#include "quick/split.cuh"
#include "quick/step.cuh"

constexpr u32 THREADS = 512;

struct QuickArgs {
    Batch batch;
    u8* scratch;      // `stride` bytes per cloud
    u64 stride;
    u32 rows;         // of the largest cloud
    u32 most_height;
    u32 points;       // of a bucket, aimed at
};

// The height of the tree for so many points.
__device__ __forceinline__ u32 height_for(const QuickArgs& args, u32 length) {
    u32 buckets = length / args.points;
    return min(args.most_height, buckets == 0 ? 0 : 31 - __clz(buckets));
}

__device__ __forceinline__ Sample start_at(const Cloud& cloud, const Buckets& b, u32 k) {
    u32 row = cloud.start(k);
    return {{cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2), row}, b.bucket(row), infinity()};
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(quick)(const __grid_constant__ QuickArgs args) {
    __shared__ Sample told[2][32];
    const Cloud cloud = cloud_of(args.batch, blockIdx.x);
    if (cloud.wanted == 0) {
        finish_cloud(cloud, 0, cloud.length > 0 ? infinity() : (real)0, threadIdx.x, blockDim.x);
        return;
    }
    u32 height = height_for(args, cloud.length);
    const Buckets b(args.scratch + blockIdx.x * args.stride, args.rows, 1u << args.most_height, 1u << height);
    split_cloud(cloud, b, height);
    for (u32 k = threadIdx.x >> 5; k < b.count; k += blockDim.x >> 5) visit(cloud, b, k, {0, 0, 0, NONE});
    __syncthreads();

    u32 starts = min(cloud.start_count, cloud.wanted), chosen = 0;
    Sample sample = start_at(cloud, b, 0);
    while (chosen < cloud.wanted && (chosen < starts || sample.value > cloud.stop)) {
        if (threadIdx.x == 0) write_sample(cloud, chosen, sample.point.row, sample.value);
        sample = apply_sample(cloud, b, sample, told[chosen & 1]);
        if (++chosen < starts) sample = start_at(cloud, b, chosen);
    }
    // The next choice, not taken, is what the sample leaves uncovered.
    finish_cloud(cloud, chosen, larger(sample.value, (real)0), threadIdx.x, blockDim.x);
}
