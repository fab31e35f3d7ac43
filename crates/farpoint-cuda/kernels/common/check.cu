// Looks for rows that hold NaN or infinity: how many per cloud, and the first.
//
// `parts` blocks per cloud, block b*parts + k for cloud b. `counts` must be zero and `firsts`
// all ones (-1) at launch; a cloud without a bad row keeps -1. The answer of `batch` is not
// used.
#include "common/batch.cuh"

struct CheckArgs {
    Batch batch;
    u64* counts;
    u64* firsts;
    u32 parts;
};

extern "C" __global__ void KERNEL(check)(const CheckArgs args) {
    Cloud cloud = cloud_of(args.batch, blockIdx.x / args.parts);
    u32 part = blockIdx.x % args.parts;
    u32 count = 0, first = NONE;
    u64 stride = (u64)args.parts * blockDim.x;
    for (u64 row = (u64)part * blockDim.x + threadIdx.x; row < cloud.length; row += stride) {
        bool bad = false;
        for (u32 axis = 0; axis < cloud.dims; ++axis) bad |= is_bad(cloud.at((u32)row, axis));
        if (bad) {
            ++count;
            first = first < (u32)row ? first : (u32)row;
        }
    }
    for (int step = 16; step > 0; step >>= 1) {
        count += __shfl_xor_sync(FULL, count, step);
        u32 other = __shfl_xor_sync(FULL, first, step);
        first = other < first ? other : first;
    }
    if ((threadIdx.x & 31) == 0 && count > 0) {
        u32 b = blockIdx.x / args.parts;
        atomicAdd(&args.counts[b], (u64)count);
        atomicMin(&args.firsts[b], (u64)first);
    }
}
