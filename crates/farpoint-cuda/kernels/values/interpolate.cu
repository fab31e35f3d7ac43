// Weighted sums of rows of values, by ascending j, and the gradient of the weights. That of the values is
// added up by sent.cu.
#include "values/rows.cuh"
#include "values/numbers.cuh"

struct InterpolateArgs {
    Rows rows;
    const void* values;
    const real* weights;
    void* output;
    u32 lanes;  // logarithm of the lanes of a row
};

struct WeightGradientArgs {
    Rows rows;
    const void* values;
    const void* grad;
    real* output;
    u32 count;  // indices
};

constexpr u32 AHEAD = 4;

template <typename V, u32 N>
__device__ __forceinline__ void interpolate(const InterpolateArgs& args) {
    u32 k = args.rows.k, channels = args.rows.channels;
    Group group(args.lanes);
    for (u64 place = group.first; place < args.rows.places; place += group.step) {
        u32 begin = cloud_row(args.rows, (u32)place), flat = (u32)place * k;
        for (u32 channel = group.lane * N; channel < channels; channel += group.lanes * N) {
            real sums[N] = {};
            for (u32 j = 0; j < k; j += AHEAD) {
                u32 from[AHEAD];
                real weights[AHEAD];
                Numbers<V, N> values[AHEAD];
#pragma unroll
                for (u32 a = 0; a < AHEAD; ++a) {
                    from[a] = a < k - j ? row_at(args.rows, begin, flat + j + a) : NONE;
                    weights[a] = a < k - j ? __ldg(args.weights + flat + j + a) : (real)0;
                }
#pragma unroll
                for (u32 a = 0; a < AHEAD; ++a) {
                    if (from[a] == NONE) continue;
                    values[a] = load<AGAIN, V, N>((const V*)args.values + (u64)from[a] * channels + channel);
                }
#pragma unroll
                for (u32 a = 0; a < AHEAD; ++a) {
                    if (from[a] == NONE) continue;
#pragma unroll
                    for (u32 n = 0; n < N; ++n) sums[n] = sums[n] + weights[a] * widen(values[a].at[n]);
                }
            }
            store<V, N, ONCE>((V*)args.output + place * channels + channel, sums);
        }
    }
}

// The gradients of some weights, by a warp: for each 32 partial sums, of the channels of each lane, whose halves
// are added until one is left.
template <typename V>
__device__ __forceinline__ void of_weights(const WeightGradientArgs& args) {
    u32 lane = threadIdx.x & 31, channels = args.rows.channels;
    u64 step = (u64)gridDim.x * (THREADS / 32) * AHEAD;
    for (u64 first = ((u64)blockIdx.x * (THREADS / 32) + (threadIdx.x >> 5)) * AHEAD; first < args.count; first += step) {
        const V* values[AHEAD];
        const V* grad[AHEAD];
        real sums[AHEAD] = {};
#pragma unroll
        for (u32 a = 0; a < AHEAD; ++a) {
            values[a] = grad[a] = nullptr;
            if (first + a >= args.count) continue;
            u32 flat = (u32)first + a, place = divide(flat, args.rows.by_k);
            u32 from = row_at(args.rows, cloud_row(args.rows, place), flat);
            if (from == NONE) continue;
            values[a] = (const V*)args.values + (u64)from * channels;
            grad[a] = (const V*)args.grad + (u64)place * channels;
        }
        for (u32 c = lane; c < channels; c += 32) {
            V of_grad[AHEAD], of_values[AHEAD];
#pragma unroll
            for (u32 a = 0; a < AHEAD; ++a) {
                of_grad[a] = of_values[a] = V{};
                if (values[a]) of_grad[a] = grad[a][c], of_values[a] = values[a][c];
            }
#pragma unroll
            for (u32 a = 0; a < AHEAD; ++a) sums[a] = sums[a] + widen(of_grad[a]) * widen(of_values[a]);
        }
#pragma unroll
        for (u32 a = 0; a < AHEAD; ++a) {
#pragma unroll
            for (u32 half = 16; half > 0; half >>= 1) sums[a] = sums[a] + __shfl_down_sync(FULL, sums[a], half);
            if (lane == 0 && first + a < args.count) args.output[first + a] = sums[a];
        }
    }
}

#define INTERPOLATE(name, weights, V) \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(name)(const __grid_constant__ InterpolateArgs args) { \
        interpolate<V, PER_UNIT<V>>(args); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(name##_1)(const __grid_constant__ InterpolateArgs args) { \
        interpolate<V, 1>(args); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(weights)(const __grid_constant__ WeightGradientArgs args) { \
        of_weights<V>(args); \
    }

INTERPOLATE(interpolate, of_weights, real)
#ifndef FARPOINT_F64
INTERPOLATE(interpolate_half, of_weights_half, Half)
INTERPOLATE(interpolate_bfloat, of_weights_bfloat, Bfloat)
#endif
