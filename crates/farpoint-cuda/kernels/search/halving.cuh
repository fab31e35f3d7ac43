// Halving the rows of a block along the longest axis of their box, again and again.
//
// A row is a word: its place at the beginning in the lowest bits, above them a coordinate in steps. Words are
// sorted by a bitonic network, in which first the places of a pair are mirrored: the less is always kept at the
// lower place, so that a step is a shuffle and a minimum.
#pragma once
#include "common/warp.cuh"
#include "search/index.cuh"
#include "search/search.cuh"

constexpr u32 CHUNK_BITS = 10;

// A row's coordinates; bad ones are 0, so that all of them can be compared.
struct Spot {
    real at[3];
};

__device__ __forceinline__ Spot spot_of(const Cloud& cloud, u32 row) {
    Spot spot;
#pragma unroll
    for (u32 a = 0; a < 3; ++a) {
        real value = cloud.at(row, a);
        spot.at[a] = is_bad(value) ? (real)0 : value;
    }
    return spot;
}

// A coordinate as one of `most` + 1 steps from `low`; those outside go to the ends.
__device__ __forceinline__ u32 step_of(real at, real low, real scale, u32 most) {
    real steps = (at - low) * scale;
#ifdef FARPOINT_F64
    return min(__double2uint_rz(steps), most);
#else
    return min(__float2uint_rz(steps), most);
#endif
}

// Steps per unit so that `longest` has `most`; 0 if it is nothing or too much.
__device__ __forceinline__ real steps_per_unit(real longest, u32 most) {
    return longest > 0 && longest < infinity() ? (real)most / longest : (real)0;
}

constexpr u32 STEPS = (1u << (32 - CHUNK_BITS)) - 2;  // one less than there are: the rest stays last

// How coordinates become numbers of steps: over a box, the same for all axes.
struct Scale {
    real low[3];
    real scale;

    __device__ __forceinline__ void of(const Spot& spot, u32 (&steps)[3]) const {
#pragma unroll
        for (u32 a = 0; a < 3; ++a) steps[a] = step_of(spot.at[a], low[a], scale, STEPS);
    }
};

// Rows of a block in order, four a thread: those of thread t are at places 4 t to 4 t + 3.
constexpr u32 BUILDERS = 256;  // threads of a block
constexpr u32 OWN = CHUNK / BUILDERS;
static_assert(OWN == 4 && BUILDERS == 256 && 1u << CHUNK_BITS == CHUNK, "sorting is written for these");

__device__ __forceinline__ void exchange(u32& low, u32& high) {
    u32 less = min(low, high);
    high = max(low, high);
    low = less;
}

// Puts the less of this thread's numbers and those of another one here, or the greater.
template <bool REVERSED>
__device__ __forceinline__ void exchange(u32 (&mine)[OWN], const u32 (&others)[OWN], bool less) {
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) {
        u32 other = others[REVERSED ? OWN - 1 - e : e];
        mine[e] = less ? min(mine[e], other) : max(mine[e], other);
    }
}

// The same with the thread whose number differs by the bits of a mask, in the same warp.
template <u32 MASK, bool REVERSED>
__device__ __forceinline__ void exchange_lanes(u32 (&mine)[OWN], u32 bit) {
    u32 others[OWN];
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) others[e] = __shfl_xor_sync(FULL, mine[e], MASK);
    exchange<REVERSED>(mine, others, (threadIdx.x & bit) == 0);
}

// The same across warps. Two buffers in turn: who writes one has seen all read it.
template <u32 MASK, bool REVERSED>
__device__ __forceinline__ void exchange_warps(u32 (&mine)[OWN], u32 bit, uint4 (&buffers)[2][BUILDERS], u32& turn) {
    uint4* buffer = buffers[turn ^= 1];
    buffer[threadIdx.x] = {mine[0], mine[1], mine[2], mine[3]};
    __syncthreads();
    uint4 other = buffer[threadIdx.x ^ MASK];
    u32 others[OWN] = {other.x, other.y, other.z, other.w};
    exchange<REVERSED>(mine, others, (threadIdx.x & bit) == 0);
}

// Merges two sorted runs of LENGTH / 2 numbers into one: those of a pair of places that are mirrored, then of
// pairs at halved distances.
template <u32 LENGTH>
__device__ __forceinline__ void merge_runs(u32 (&mine)[OWN], uint4 (&buffers)[2][BUILDERS], u32& turn) {
    constexpr u32 threads = LENGTH / OWN;
    if (threads > 32) exchange_warps<threads - 1, true>(mine, threads / 2, buffers, turn);
    else exchange_lanes<(threads - 1) & 31, true>(mine, threads / 2);
    if (threads > 128) exchange_warps<64, false>(mine, 64, buffers, turn);
    if (threads > 64) exchange_warps<32, false>(mine, 32, buffers, turn);
    if (threads > 32) exchange_lanes<16, false>(mine, 16);
    if (threads > 16) exchange_lanes<8, false>(mine, 8);
    if (threads > 8) exchange_lanes<4, false>(mine, 4);
    if (threads > 4) exchange_lanes<2, false>(mine, 2);
    if (threads > 2) exchange_lanes<1, false>(mine, 1);
    exchange(mine[0], mine[2]), exchange(mine[1], mine[3]);
    exchange(mine[0], mine[1]), exchange(mine[2], mine[3]);
}

// Sorts the numbers of each `size` places, a power of two from 8 on; all threads of the block take part.
__device__ __forceinline__ void sort_runs(u32 (&mine)[OWN], u32 size, uint4 (&buffers)[2][BUILDERS], u32& turn) {
    exchange(mine[0], mine[1]), exchange(mine[2], mine[3]);
    exchange(mine[0], mine[3]), exchange(mine[1], mine[2]);
    exchange(mine[0], mine[1]), exchange(mine[2], mine[3]);
    merge_runs<8>(mine, buffers, turn);
    if (size > 8) merge_runs<16>(mine, buffers, turn);
    if (size > 16) merge_runs<32>(mine, buffers, turn);
    if (size > 32) merge_runs<64>(mine, buffers, turn);
    if (size > 64) merge_runs<128>(mine, buffers, turn);
    if (size > 128) merge_runs<256>(mine, buffers, turn);
    if (size > 256) merge_runs<512>(mine, buffers, turn);
    if (size > 512) merge_runs<1024>(mine, buffers, turn);
}

// Rows that a block halves.
struct HalvingShared {
    u32 steps[3][CHUNK];  // of the row at each place at the beginning
    uint4 buffers[2][BUILDERS];
    union {
        u32 ends[6][BUILDERS / 32];  // of each warp's box, in steps
        Box boxes[BUILDERS / 32];
    };
};

// The place at the beginning of a thread's e-th row, which neighbors of a warp load together.
__device__ __forceinline__ u32 loaded(u32 e) { return threadIdx.x + e * BUILDERS; }

// Takes the coordinates of the rows at the places that are this thread's to load.
__device__ __forceinline__ Scale begin_halving(const Spot (&spots)[OWN], HalvingShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    Box box;
#pragma unroll
    for (u32 a = 0; a < 3; ++a) {
        box.low[a] = smaller(smaller(spots[0].at[a], spots[1].at[a]), smaller(spots[2].at[a], spots[3].at[a]));
        box.high[a] = larger(larger(spots[0].at[a], spots[1].at[a]), larger(spots[2].at[a], spots[3].at[a]));
    }
    box = warp_box(box);
    if (lane == 0) shared.boxes[warp] = box;
    __syncthreads();
    box = warp_box(shared.boxes[lane % (BUILDERS / 32)]);
    Scale scale;
    real longest = 0;
#pragma unroll
    for (u32 a = 0; a < 3; ++a) {
        scale.low[a] = box.low[a];
        longest = larger(longest, box.high[a] - box.low[a]);
    }
    scale.scale = steps_per_unit(longest, STEPS);
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) {
        u32 steps[3];
        scale.of(spots[e], steps);
#pragma unroll
        for (u32 a = 0; a < 3; ++a) shared.steps[a][loaded(e)] = steps[a];
    }
    __syncthreads();
    return scale;
}

// The least of the values of `lanes` lanes in a row, a power of two.
__device__ __forceinline__ u32 least_of_lanes(u32 value, u32 lanes) {
    if (lanes == 32) return warp_least(value);
#pragma unroll
    for (u32 step = 8; step > 0; step >>= 1) {
        if (step < lanes) value = min(value, __shfl_xor_sync(FULL, value, step));
    }
    return value;
}

// The longest axis of the box around each `size` places' rows, of which this thread has four; `ends` are its
// own least steps, and its own greatest subtracted from all bits.
__device__ __forceinline__ u32 longest_axis(u32 (&ends)[6], u32 size, HalvingShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, extent[3];
    u32 lanes = min(size / OWN, 32u), warps = size / OWN / 32;
#pragma unroll
    for (u32 i = 0; i < 6; ++i) ends[i] = least_of_lanes(ends[i], lanes);
    if (warps > 1) {
        if (lane == 0) {
#pragma unroll
            for (u32 i = 0; i < 6; ++i) shared.ends[i][warp] = ends[i];
        }
        __syncthreads();
        u32 from = (warp & ~(warps - 1)) + (lane & (warps - 1));
#pragma unroll
        for (u32 i = 0; i < 6; ++i) ends[i] = warp_least(shared.ends[i][from]);
    }
#pragma unroll
    for (u32 a = 0; a < 3; ++a) extent[a] = ~ends[a + 3] > ends[a] ? ~ends[a + 3] - ends[a] : 0;
    return extent[0] >= extent[1] && extent[0] >= extent[2] ? 0 : extent[1] >= extent[2] ? 1 : 2;
}

__device__ __forceinline__ u32 along(const u32 (&steps)[3], u32 axis) { return axis == 0 ? steps[0] : axis == 1 ? steps[1] : steps[2]; }

// Halves each `size` places' rows along the longest axis of their box. `mine` are places at the beginning; those
// from `count` on stay behind. Afterwards `mine` are steps along that axis and, in the lowest bits, the places
// at the beginning of the rows that belong here now.
__device__ __forceinline__ u32 halve(u32 (&mine)[OWN], u32 size, u32 count, HalvingShared& shared, u32& turn) {
    u32 steps[OWN][3], ends[6] = {STEPS, STEPS, STEPS, ~0u, ~0u, ~0u};
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) {
        bool here = mine[e] < count;
#pragma unroll
        for (u32 a = 0; a < 3; ++a) {
            steps[e][a] = shared.steps[a][mine[e]];
            ends[a] = min(ends[a], here ? steps[e][a] : STEPS);
            ends[a + 3] = min(ends[a + 3], here ? ~steps[e][a] : ~0u);
        }
    }
    u32 axis = longest_axis(ends, size, shared);
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) {
        mine[e] |= (mine[e] < count ? along(steps[e], axis) : STEPS + 1) << CHUNK_BITS;
    }
    sort_runs(mine, size, shared.buffers, turn);
    return axis;
}

__device__ __forceinline__ void begin_order(u32 (&mine)[OWN]) {
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) mine[e] = threadIdx.x * OWN + e;
}

__device__ __forceinline__ void keep_places(u32 (&mine)[OWN]) {
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) mine[e] &= CHUNK - 1;
}
