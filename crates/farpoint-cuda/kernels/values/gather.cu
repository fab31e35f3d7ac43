// Rows of values by their indices (copy.cuh); the largest of several such rows, channel by channel, and the
// gradient of what was added to them. Nothing of the size of what is added is made in between.
//
// Among equals the lowest index counts. NaN is larger than any number, and the first one counts.
#include "values/copy.cuh"
#include "values/numbers.cuh"

struct MaxArgs {
    Rows rows;
    const void* values;  // of `added` the gradient of the maxima
    const void* add;     // or null
    void* output;
    int* chosen;         // or null
    u32 lanes;           // logarithm of the lanes of a row
};

constexpr u32 AHEAD = 2;

// Rows that a lane looks at together.
template <typename V, u32 N>
struct Ahead {
    Numbers<V, N> values[AHEAD];
    Numbers<V, N> add[AHEAD];
};

// The rows that places j.. of k name.
__device__ __forceinline__ void look_at_indices(const MaxArgs& args, u32 begin, u32 flat, u32 j, u32 (&rows)[AHEAD]) {
    u32 k = args.rows.k;
#pragma unroll
    for (u32 a = 0; a < AHEAD; ++a) rows[a] = j < k && a < k - j ? row_at(args.rows, begin, flat + j + a) : NONE;
}

template <typename V, u32 N>
__device__ __forceinline__ void look(const MaxArgs& args, const u32 (&rows)[AHEAD], u32 flat, u32 channel, Ahead<V, N>& ahead) {
    u32 channels = args.rows.channels;
#pragma unroll
    for (u32 a = 0; a < AHEAD; ++a) {
        if (rows[a] == NONE) continue;
        ahead.values[a] = load<AGAIN, V, N>((const V*)args.values + (u64)rows[a] * channels + channel);
        if (args.add) ahead.add[a] = load<ONCE, V, N>((const V*)args.add + (u64)(flat + a) * channels + channel);
    }
}

template <u32 N>
__device__ __forceinline__ void store_chosen(int* to, const int (&chosen)[N]) {
    if constexpr (N % 4 == 0) {
#pragma unroll
        for (u32 n = 0; n < N; n += 4) {
            *(int4*)(to + n) = make_int4(chosen[n], chosen[n + 1], chosen[n + 2], chosen[n + 3]);
        }
    } else {
#pragma unroll
        for (u32 n = 0; n < N; ++n) to[n] = chosen[n];
    }
}

template <typename V, u32 N>
__device__ __forceinline__ void gather_max(const MaxArgs& args) {
    u32 k = args.rows.k, channels = args.rows.channels;
    Group group(args.lanes);
    for (u64 place = group.first; place < args.rows.places; place += group.step) {
        u32 begin = cloud_row(args.rows, (u32)place), flat = (u32)place * k;
        for (u32 channel = group.lane * N; channel < channels; channel += group.lanes * N) {
            real best[N];
            int chosen[N];
            u32 rows[AHEAD], next[AHEAD];
#pragma unroll
            for (u32 n = 0; n < N; ++n) best[n] = 0, chosen[n] = -1;
            look_at_indices(args, begin, flat, 0, next);
            for (u32 j = 0; j < k; j += AHEAD) {
                Ahead<V, N> ahead;
#pragma unroll
                for (u32 a = 0; a < AHEAD; ++a) rows[a] = next[a];
                look(args, rows, flat + j, channel, ahead);
                // On their way while the rows are compared. Below 2^32: there are 2^20 fewer indices.
                look_at_indices(args, begin, flat, j + AHEAD, next);
#pragma unroll
                for (u32 a = 0; a < AHEAD; ++a) {
                    if (rows[a] == NONE) continue;
#pragma unroll
                    for (u32 n = 0; n < N; ++n) {
                        real sum = widen(ahead.values[a].at[n]);
                        if (args.add) sum = sum + widen(ahead.add[a].at[n]);
                        // Larger, or NaN; never after a NaN.
                        bool larger = !(sum <= best[n]) && best[n] == best[n];
                        if (larger || chosen[n] < 0) best[n] = sum, chosen[n] = (int)(j + a);
                    }
                }
            }
            store<V, N>((V*)args.output + place * channels + channel, best);
            if (args.chosen) store_chosen<N>(args.chosen + place * channels + channel, chosen);
        }
    }
}

// The gradient of what was added: that of the maximum where this index was chosen. Numbers are only moved.
template <typename V, u32 N>
__device__ __forceinline__ void added(const MaxArgs& args) {
    u32 channels = args.rows.channels;
    u64 count = (u64)args.rows.places * args.rows.k;
    Group group(args.lanes);
    for (u64 flat = group.first; flat < count; flat += group.step) {
        u32 place = divide((u32)flat, args.rows.by_k);
        int j = (int)((u32)flat - place * args.rows.k);
        for (u32 channel = group.lane * N; channel < channels; channel += group.lanes * N) {
            u64 at = (u64)place * channels + channel;
            Numbers<V, N> numbers = load<AGAIN, V, N>((const V*)args.values + at);
#pragma unroll
            for (u32 n = 0; n < N; ++n) {
                if (__ldg(args.chosen + at + n) != j) numbers.at[n] = V{};
            }
            V* to = (V*)args.output + flat * channels + channel;
            if constexpr (N == 1) {
                *to = numbers.at[0];
            } else {
                __stcs((uint4*)to, numbers.unit);
            }
        }
    }
}

#define MAX_OF(name, of, V) \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(name)(const __grid_constant__ MaxArgs args) { \
        of<V, PER_UNIT<V>>(args); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(name##_1)(const __grid_constant__ MaxArgs args) { \
        of<V, 1>(args); \
    }

MAX_OF(gather_max, gather_max, real)
MAX_OF(added, added, real)
#ifndef FARPOINT_F64
MAX_OF(gather_max_half, gather_max, Half)
MAX_OF(gather_max_bfloat, gather_max, Bfloat)
MAX_OF(added_2, added, Half)
#endif
