// From the first samples' distances to the radii of the levels: what `approximate/fastpoint` of the CPU library
// does, operation by operation.
#pragma once
#include "common/common.cuh"

constexpr u32 INPUTS = 32;    // known values of a curve
constexpr u32 OUTPUTS = 64;   // predicted ones
constexpr u32 HIDDEN = 128;   // neurons of a hidden layer
constexpr u32 LEVELS = 6;

struct CurveShared {
    double inputs[INPUTS];
    double curve[OUTPUTS];
    float layers[2][HIDDEN];
};

// Selection distances of the first samples, squared, without that of the start.
struct Selected {
    const real* squares;
    u32 length;

    // One over the distance of sample `k`, from 1 on; NaN where that is no number.
    __device__ __forceinline__ double inverse(double k) const {
        double distance = sqrt((double)squares[min((u32)k - 1, length - 1)]);
        return distance > 0 && distance < 1.0 / 0.0 ? 1.0 / distance : 0.0 / 0.0;
    }

    // The same between two samples.
    __device__ __forceinline__ double value(double sample) const {
        sample = sample > 1.0 ? sample : 1.0;
        double k = floor(sample), share = sample - k, below = inverse(k);
        return share > 0 ? below + share * (inverse(k + 1.0) - below) : below;
    }
};

// The fraction of the samples at which value `k` is predicted.
__device__ __forceinline__ double fraction_of(u32 k) { return 0.1 + 0.9 * (double)k / (double)(OUTPUTS - 1); }

// The predicted curve by the network, by threads from 0 to HIDDEN - 1 of a block.
__device__ inline void by_network(const float* numbers, double share, CurveShared& shared) {
    u32 t = threadIdx.x;
    if (t < INPUTS) {
        double surface = sqrt((double)(t + 1) / (double)INPUTS);
        double feature = t == INPUTS - 1 ? sqrt(share < 0.6 ? share : 0.6) : shared.inputs[t] / surface - 1.0;
        shared.layers[0][t] = (float)feature;
    }
    __syncthreads();
    for (u32 layer = 0; layer < 3; ++layer) {
        u32 inputs = layer == 0 ? INPUTS : HIDDEN, neurons = layer == 2 ? OUTPUTS : HIDDEN;
        const float* values = shared.layers[layer & 1];
        if (t < neurons) {
            float sum = numbers[neurons * inputs + t];
#pragma unroll 16
            for (u32 k = 0; k < inputs; ++k) sum = sum + numbers[t * inputs + k] * values[k];
            if (layer == 2) shared.curve[t] = (1.0 + (double)sum) * sqrt(10.0 * fraction_of(t));
            else shared.layers[(layer + 1) & 1][t] = sum > 0 ? sum : 0.0f;
        }
        numbers += neurons * (inputs + 1);
        __syncthreads();
    }
}

// The square or cube root of a number that is not negative, or itself.
__device__ __forceinline__ double root_of(double value, u32 power) {
    if (power == 1) return value;
    if (power == 2) return sqrt(value);
    double y = value > 1.0 ? value : 1.0;
    for (u32 step = 0; step < 60; ++step) y = y - (y - value / (y * y)) / 3.0;
    return y;
}

struct Line {
    double a, b;

    __device__ __forceinline__ double at(double x, u32 power) const {
        double value = a + b * x;
        return root_of(value > 0.0 ? value : 0.0, power);
    }
};

__device__ __forceinline__ double known_at(u32 i) { return (double)(i + 1) / 320.0; }

// The line through the powers of the later half of the known values, by least squares.
__device__ inline Line line_through(const double* inputs, u32 power) {
    double sum_x = 0, sum_y = 0, covariance = 0, variance = 0, y[INPUTS / 2];
    const double n = INPUTS / 2;
    for (u32 i = INPUTS / 2; i < INPUTS; ++i) {
        double value = inputs[i];
        for (u32 step = 1; step < power; ++step) value = value * inputs[i];
        y[i - INPUTS / 2] = value;
        sum_x += known_at(i);
        sum_y += value;
    }
    double mean_x = sum_x / n, mean_y = sum_y / n;
    for (u32 i = INPUTS / 2; i < INPUTS; ++i) {
        double x = known_at(i) - mean_x;
        covariance += x * (y[i - INPUTS / 2] - mean_y);
        variance += x * x;
    }
    double b = covariance / variance;
    return {mean_y - b * mean_x, b};
}

// The curve whose power, from 1 to 3, is a line that fits the known values best; by one thread.
__device__ inline void by_fit(CurveShared& shared) {
    double best = 1.0 / 0.0;
    for (u32 k = 0; k < OUTPUTS; ++k) shared.curve[k] = 1.0;
    for (u32 power = 1; power <= 3; ++power) {
        Line line = line_through(shared.inputs, power);
        double error = 0;
        for (u32 i = INPUTS / 2; i < INPUTS; ++i) {
            double off = line.at(known_at(i), power) - shared.inputs[i];
            error += off * off;
        }
        if (!(error < best)) continue;
        best = error;
        for (u32 k = 0; k < OUTPUTS; ++k) shared.curve[k] = line.at(fraction_of(k), power);
    }
}

// The value of a predicted curve between its knots.
__device__ __forceinline__ double curve_at(const double* curve, double fraction) {
    double place = (fraction - 0.1) / 0.9 * (double)(OUTPUTS - 1);
    u32 k = min((u32)(place > 0.0 ? place : 0.0), OUTPUTS - 2);
    double share = place - (double)k;
    return curve[k] + share * (curve[k + 1] - curve[k]);
}

// The falling radii of the levels, by a block; false if there is no curve to predict from. `network` is null for
// the fit.
__device__ inline bool find_radii(Selected first, u32 count, u32 points, const float* network, real* radii,
                                  CurveShared& shared) {
    double scale = 1.0 / first.value(0.1 * (double)count), mine = 0;
    if (threadIdx.x < INPUTS) {
        mine = first.value((double)(threadIdx.x + 1) / 320.0 * (double)count) * scale;
        shared.inputs[threadIdx.x] = mine;
    }
    if (__syncthreads_or(!(mine - mine == 0) || !(scale - scale == 0))) return false;
    if (network) by_network(network, (double)count / (double)points, shared);
    else if (threadIdx.x == 0) by_fit(shared);
    __syncthreads();
    if (threadIdx.x != 0) return true;
    real least = (real)scale;
    for (u32 level = 1; level <= LEVELS; ++level) {
        real radius = (real)(scale / curve_at(shared.curve, (double)level / (double)LEVELS));
        if (radius > 0 && radius < least) least = radius;
        radii[level - 1] = least;
    }
    return true;
}
