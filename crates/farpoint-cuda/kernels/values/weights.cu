// Weights from the distances of the neighbors of a place, and the gradient of the distances: a thread a
// place. All operations are those of `farpoint::values::inverse_distance_weights`.
#include "common/common.cuh"

struct WeightsArgs {
    const real* distances;  // (places, k)
    const real* grad;       // of the weights; null for the weights themselves
    real* output;
    u64 places;
    u32 k;
    u32 power;              // 1 or 2
    real eps;
};

// Not inlined: a division is long.
__device__ __noinline__ real divided(real a, real b) { return a / b; }

__device__ __forceinline__ real term(const WeightsArgs& args, real distance) {
    real powered = args.power == 2 ? distance * distance : distance;
    return divided((real)1, powered + args.eps);
}

__device__ __forceinline__ real sum_of_terms(const WeightsArgs& args, const real* distances) {
    real sum = 0;
#pragma unroll 1
    for (u32 j = 0; j < args.k; ++j) sum = sum + term(args, distances[j]);
    return sum;
}

__device__ __forceinline__ void write_weights(const WeightsArgs& args, const real* distances, real sum, real* output) {
#pragma unroll 1
    for (u32 j = 0; j < args.k; ++j) {
        output[j] = sum == (real)0 ? (real)0 : divided(term(args, distances[j]), sum);
    }
}

__device__ __forceinline__ void write_gradients(const WeightsArgs& args, const real* distances, const real* grad, real sum,
                                                real* output) {
    real mean = 0;
#pragma unroll 1
    for (u32 j = 0; j < args.k; ++j) mean = mean + grad[j] * divided(term(args, distances[j]), sum);
#pragma unroll 1
    for (u32 j = 0; j < args.k; ++j) {
        real distance = distances[j], u = term(args, distance);
        real slope = args.power == 2 ? distance + distance : (real)1;
        real gradient = (real)0 - (divided(grad[j] - mean, sum) * (u * u)) * slope;
        output[j] = sum == (real)0 || distance == infinity() ? (real)0 : gradient;
    }
}

// One kernel for both: its divisions are one function.
extern "C" __global__ void KERNEL(weights)(const __grid_constant__ WeightsArgs args) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 place = (u64)blockIdx.x * blockDim.x + threadIdx.x; place < args.places; place += step) {
        const real* distances = args.distances + place * args.k;
        real* output = args.output + place * args.k;
        real sum = sum_of_terms(args, distances);
        if (args.grad) {
            write_gradients(args, distances, args.grad + place * args.k, sum, output);
        } else {
            write_weights(args, distances, sum, output);
        }
    }
}
