// Gradients of values: a row adds up what the places that name it were given, by ascending flat place, so
// that the bits are the same on every run and the CPU's. Who names a row is said by an inverted list
// (invert.cuh).
//
// Each group of lanes has one row at a time; a lane looks at several places ahead, only the sum has an
// order. Rows with long lists are left to a second kernel.
#include "values/invert.cuh"
#include "values/numbers.cuh"

struct SentArgs {
    const u32* begins;
    const u32* places;
    const void* grad;
    const void* factors;  // what was chosen, or weights
    void* output;
    u32 rows;
    u32 channels;
    u32 k;
    u32 lanes;            // logarithm of the lanes of a row
    Divisor by_k;
};

// Places that a lane looks at together.
template <u32 N> constexpr u32 AHEAD = N == 1 ? 4 : 8;

// A row of gradients for each index.
template <typename V, u32 N>
struct Gathered {
    struct Item { Numbers<V, N> sent; };

    static __device__ __forceinline__ void look(const SentArgs& args, u32 flat, u32 channel, Item& item) {
        item.sent = load<ONCE, V, N>((const V*)args.grad + (u64)flat * args.channels + channel);
    }

    static __device__ __forceinline__ real value(const Item& item, u32 n) { return widen(item.sent.at[n]); }
};

// A row for each place, times the weight of the index.
template <typename V, u32 N>
struct Weighted {
    struct Item {
        Numbers<V, N> sent;
        real weight;
    };

    static __device__ __forceinline__ void look(const SentArgs& args, u32 flat, u32 channel, Item& item) {
        u32 place = divide(flat, args.by_k);
        item.weight = __ldg((const real*)args.factors + flat);
        item.sent = load<AGAIN, V, N>((const V*)args.grad + (u64)place * args.channels + channel);
    }

    static __device__ __forceinline__ real value(const Item& item, u32 n) { return item.weight * widen(item.sent.at[n]); }
};

// A row for each place, of which the numbers count for which this index was chosen.
template <typename V, u32 N>
struct Chosen {
    struct Item {
        Numbers<V, N> sent;
        u32 mask;
    };

    static __device__ __forceinline__ void look(const SentArgs& args, u32 flat, u32 channel, Item& item) {
        u32 place = divide(flat, args.by_k);
        int j = (int)(flat - place * args.k);
        u64 at = (u64)place * args.channels + channel;
        const int* chosen = (const int*)args.factors + at;
        item.mask = 0;
        if constexpr (N == 1) {
            item.mask = __ldg(chosen) == j;
        } else {
            constexpr u32 STEP = N < 4 ? N : 4;
#pragma unroll
            for (u32 n = 0; n < N; n += STEP) {
                int four[4] = {-1, -1, -1, -1};
                if constexpr (STEP == 4) {
                    int4 read = __ldg((const int4*)(chosen + n));
                    four[0] = read.x, four[1] = read.y, four[2] = read.z, four[3] = read.w;
                } else {
                    int2 read = __ldg((const int2*)(chosen + n));
                    four[0] = read.x, four[1] = read.y;
                }
#pragma unroll
                for (u32 q = 0; q < STEP; ++q) item.mask |= (u32)(four[q] == j) << (n + q);
            }
        }
        if (item.mask) item.sent = load<AGAIN, V, N>((const V*)args.grad + at);
    }

    static __device__ __forceinline__ real value(const Item& item, u32 n) {
        return item.mask >> n & 1 ? widen(item.sent.at[n]) : (real)0;
    }
};

// The sum of a row's list, by a group of lanes.
template <typename From, typename V, u32 N>
__device__ __forceinline__ void add_list(const SentArgs& args, const Group& group, u64 row, u32 begin, u32 end) {
    for (u32 channel = group.lane * N; channel < args.channels; channel += group.lanes * N) {
        real sums[N] = {};
        for (u32 first = begin; first < end; first += AHEAD<N>) {
            typename From::Item items[AHEAD<N>];
#pragma unroll
            for (u32 a = 0; a < AHEAD<N>; ++a) {
                if (a < end - first) From::look(args, __ldg(args.places + first + a), channel, items[a]);
            }
#pragma unroll
            for (u32 a = 0; a < AHEAD<N>; ++a) {
                if (a < end - first) {
#pragma unroll
                    for (u32 n = 0; n < N; ++n) sums[n] = sums[n] + From::value(items[a], n);
                }
            }
        }
        store<V, N>((V*)args.output + row * args.channels + channel, sums);
    }
}

// Longer lists are added up by whole blocks, one number at a time: the groups of a block look at EACH places each
// and leave them in shared memory, from where a thread a channel adds them. Past the end there are zeros,
// which change no bit. Each block has a slice of channels (y), so that more of them share a row.
constexpr u32 LONG = 1024;
constexpr u32 EACH = 16;

template <typename From, typename V, u32 N>
__device__ __forceinline__ void look_at_long(const SentArgs& args, const u32 (&flats)[EACH], u32 channel,
                                             typename From::Item (&items)[EACH]) {
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) {
        items[e] = typename From::Item{};
        if (flats[e] != NONE && channel < args.channels) From::look(args, flats[e], channel, items[e]);
    }
}

__device__ __forceinline__ void places_of_long(const SentArgs& args, u32 first, u32 end, u32 (&flats)[EACH]) {
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) flats[e] = first < end && e < end - first ? __ldg(args.places + first + e) : NONE;
}

template <typename From, typename V, u32 N>
__device__ __forceinline__ void add_long_list(const SentArgs& args, u64 row, u32 begin, u32 end) {
    __shared__ real numbers[THREADS * EACH * N];
    Group group(args.lanes);
    u32 width = group.lanes * N, chunk = (THREADS >> args.lanes) * EACH, own = (threadIdx.x >> args.lanes) * EACH;
    for (u32 slice = blockIdx.y * width; slice < args.channels; slice += gridDim.y * width) {
        u32 channel = slice + group.lane * N;
        typename From::Item items[EACH];
        u32 flats[EACH];
        real sum = 0;
        places_of_long(args, begin + own, end, flats);
        look_at_long<From, V, N>(args, flats, channel, items);
        places_of_long(args, begin + chunk + own, end, flats);
        // Lists are below 2^32 - 2^20, so that no step leads beyond 32 bits.
        for (u32 first = begin; first < end; first += chunk) {
            __syncthreads();
#pragma unroll
            for (u32 e = 0; e < EACH; ++e) {
#pragma unroll
                for (u32 n = 0; n < N; ++n) {
                    numbers[(own + e) * width + group.lane * N + n] = From::value(items[e], n);
                }
            }
            __syncthreads();
            // On their way while the others are added.
            look_at_long<From, V, N>(args, flats, channel, items);
            places_of_long(args, first + 2 * chunk + own, end, flats);
            if (threadIdx.x < width) {
#pragma unroll 8
                for (u32 k = 0; k < chunk; ++k) sum = sum + numbers[k * width + threadIdx.x];
            }
        }
        u32 at = slice + threadIdx.x;
        if (threadIdx.x < width && at < args.channels) ((V*)args.output)[row * args.channels + at] = narrow<V>(sum);
    }
}

template <typename From, typename V, u32 N>
__device__ __forceinline__ void add_up(const SentArgs& args) {
    Group group(args.lanes);
    for (u64 row = group.first; row < args.rows; row += group.step) {
        u32 begin = args.begins[row], end = args.begins[row + 1];
        if (end - begin <= LONG) add_list<From, V, N>(args, group, row, begin, end);
    }
}

// The rows whose lists are long: each block looks through as many rows as it has threads.
template <typename From, typename V, u32 N>
__device__ __forceinline__ void add_up_long(const SentArgs& args) {
    __shared__ u32 rows[THREADS];
    __shared__ u32 count;
    for (u64 first = (u64)blockIdx.x * THREADS; first < args.rows; first += (u64)gridDim.x * THREADS) {
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        u64 row = first + threadIdx.x;
        // In any order: each row is a sum of its own.
        if (row < args.rows && args.begins[row + 1] - args.begins[row] > LONG) rows[atomicAdd(&count, 1)] = (u32)row;
        __syncthreads();
        for (u32 k = 0; k < count; ++k) {
            add_long_list<From, V, N>(args, rows[k], args.begins[rows[k]], args.begins[rows[k] + 1]);
        }
        __syncthreads();
    }
}

#define SENT(name, From, V) \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(name)(const __grid_constant__ SentArgs args) { \
        add_up<From<V, PER_UNIT<V>>, V, PER_UNIT<V>>(args); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(name##_1)(const __grid_constant__ SentArgs args) { \
        add_up<From<V, 1>, V, 1>(args); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(name##_long)(const __grid_constant__ SentArgs args) { \
        add_up_long<From<V, 1>, V, 1>(args); \
    }

SENT(sent_gathered, Gathered, real)
SENT(sent_weighted, Weighted, real)
SENT(sent_chosen, Chosen, real)
#ifndef FARPOINT_F64
SENT(sent_gathered_half, Gathered, Half)
SENT(sent_gathered_bfloat, Gathered, Bfloat)
SENT(sent_weighted_half, Weighted, Half)
SENT(sent_weighted_bfloat, Weighted, Bfloat)
SENT(sent_chosen_half, Chosen, Half)
SENT(sent_chosen_bfloat, Chosen, Bfloat)
#endif
