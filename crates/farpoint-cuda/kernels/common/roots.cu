// Square roots of what a sampling gives, by one launch: selection distances in place, covering
// radii in double precision. Rounded as the CPU rounds them.
//
// Launch: any grid of 256 threads per block.
#include "common/common.cuh"

struct RootsArgs {
    real* values;
    const real* covering;
    double* radii;
    u64 slots;   // numbers in `values`
    u64 clouds;  // numbers in `covering` and `radii`
};

__device__ __forceinline__ real root(real value) {
#ifdef FARPOINT_F64
    return __dsqrt_rn(value);
#else
    return __fsqrt_rn(value);
#endif
}

extern "C" __global__ void KERNEL(roots)(const RootsArgs args) {
    u64 stride = (u64)gridDim.x * blockDim.x, first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (u64 i = first; i < args.slots; i += stride) args.values[i] = root(args.values[i]);
    for (u64 b = first; b < args.clouds; b += stride) args.radii[b] = (double)root(args.covering[b]);
}
