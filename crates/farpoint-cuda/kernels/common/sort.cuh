// A stable radix sort of (key, value) pairs by a team, eight bits a pass.
#pragma once
#include "common/team.cuh"
#include "common/warp.cuh"

constexpr u32 DIGITS = 256;
constexpr u32 MOST_WARPS = 32;

// Shared memory of a pass.
struct SortShared {
    u32 base[DIGITS];                 // where this block's next element of a digit goes
    u32 count[MOST_WARPS][DIGITS];    // elements of a digit in a warp's part of the tile
    u32 partial[MOST_WARPS];
};

// Words of global memory a team needs for the digit counts of its blocks.
__host__ __device__ constexpr u32 sort_words(u32 blocks) { return DIGITS * blocks; }

template <typename Key>
struct Pairs {
    Key* keys;
    u32* values;
#ifdef FARPOINT_SPAN
    // Each `share` in a row lie in another part's memory: so many places are left out after them. All in a row if 0.
    u32 share, key_gap, value_gap;
    __device__ __forceinline__ u32 gaps(u32 i) const {
        u32 n = 0;
        if (share) for (u64 end = share; end <= i; end += share) ++n;
        return n;
    }
    __device__ __forceinline__ Key& key(u32 i) const { return keys[i + (u64)gaps(i) * key_gap]; }
    __device__ __forceinline__ u32& value(u32 i) const { return values[i + (u64)gaps(i) * value_gap]; }
#else
    __device__ __forceinline__ Key& key(u32 i) const { return keys[i]; }
    __device__ __forceinline__ u32& value(u32 i) const { return values[i]; }
#endif
};

template <typename Key>
__device__ __forceinline__ u32 digit_of(const Pairs<Key>& pairs, u32 i, u32 shift, bool by_value) {
    return by_value ? (pairs.value(i) >> shift) & 255u : (u32)(pairs.key(i) >> shift) & 255u;
}

// How often each digit occurs in this block's part, for all blocks to see.
template <typename Key>
__device__ void count_digits(const Team& team, const Pairs<Key>& from, u32 begin, u32 end, u32 shift,
                             bool by_value, u32* counts, SortShared& shared) {
    for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) shared.base[d] = 0;
    __syncthreads();
    for (u32 i = begin + threadIdx.x; i < end; i += blockDim.x) {
        atomicAdd(&shared.base[digit_of(from, i, shift, by_value)], 1u);
    }
    __syncthreads();
    for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) counts[d * team.size + team.rank] = shared.base[d];
}

__device__ __forceinline__ u32 warp_sum(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL, value);
#else
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(FULL, value, step);
    return value;
#endif
}

// Where each digit of this block begins in the sorted whole: all smaller digits of all blocks,
// then the same digit of the blocks before. The first `blocks` have elements.
__device__ inline void place_digits(const Team& team, u32 blocks, const u32* counts, SortShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const u32 ahead = 8;  // digits whose counts are loaded together
    for (u32 first = warp * ahead; first < DIGITS; first += warps * ahead) {
        u32 all[ahead], before[ahead];
        for (u32 k = 0; k < ahead; ++k) all[k] = before[k] = 0;
        for (u32 b = lane; b < blocks; b += 32) {
            for (u32 k = 0; k < ahead; ++k) {
                u32 n = counts[(first + k) * team.size + b];
                all[k] += n;
                before[k] += b < team.rank ? n : 0;
            }
        }
        for (u32 k = 0; k < ahead; ++k) {
            u32 sum = warp_sum(all[k]), earlier = warp_sum(before[k]);
            if (lane == 0) {
                shared.count[0][first + k] = sum;
                shared.base[first + k] = earlier;
            }
        }
    }
    __syncthreads();
    if (warp == 0) {
        u32 sum = 0;
        for (u32 d = lane * 8; d < lane * 8 + 8; ++d) sum += shared.count[0][d];
        u32 running = warp_sum_to(sum) - sum;
        for (u32 d = lane * 8; d < lane * 8 + 8; ++d) {
            shared.base[d] += running;
            running += shared.count[0][d];
        }
    }
    __syncthreads();
}

// Turns the warps' counts of a tile into places, and moves the base on.
__device__ __forceinline__ void place_warps(SortShared& shared) {
    const u32 ahead = 8;  // counts that are loaded together
    u32 warps = blockDim.x >> 5;
    for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) {
        u32 running = shared.base[d];
        for (u32 first = 0; first < warps; first += ahead) {
            u32 n[ahead];
            for (u32 k = 0; k < ahead; ++k) n[k] = shared.count[first + k][d];
            for (u32 k = 0; k < ahead; ++k) {
                shared.count[first + k][d] = running;
                running += n[k];
            }
        }
        shared.base[d] = running;
    }
}

// One pass: sorts by eight bits of the key (or the value), keeping the order of equals.
template <typename Key>
__device__ void sort_pass(Team& team, Pairs<Key> from, Pairs<Key> to, u32 n, u32 shift,
                          bool by_value, u32* counts, SortShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    // By tiles: a count of elements for each block, rounded up, may be more than 32 bits can hold.
    u32 tiles = (n + blockDim.x - 1) / blockDim.x, most = (tiles + team.size - 1) / team.size;
    u32 first_tile = min(team.rank * most, tiles), tiles_here = min(most, tiles - first_tile);
    u32 begin = min(first_tile * blockDim.x, n), end = begin + min(tiles_here * blockDim.x, n - begin);
    if (n == 0) return;
    count_digits(team, from, begin, end, shift, by_value, counts, shared);
    team.sync();
    if (begin < end) place_digits(team, (tiles + most - 1) / most, counts, shared);
    for (u32 tile = begin; tile < end; tile += blockDim.x) {
        for (u32 k = threadIdx.x; k < (blockDim.x >> 5) * DIGITS; k += blockDim.x) shared.count[k / DIGITS][k % DIGITS] = 0;
        __syncthreads();
        u32 i = tile + threadIdx.x;
        bool here = i < end;
        Key key = here ? from.key(i) : (Key)0;
        u32 value = here ? from.value(i) : 0;
        // Lanes past the end stand apart with a digit that no element has.
        u32 digit = !here ? DIGITS : by_value ? (value >> shift) & 255u : (u32)(key >> shift) & 255u;
        u32 same = __match_any_sync(FULL, digit);
        u32 rank = __popc(same & ((1u << lane) - 1u));
        if (here && rank == 0) shared.count[warp][digit] = __popc(same);
        __syncthreads();
        place_warps(shared);
        __syncthreads();
        if (here) {
            u32 place = shared.count[warp][digit] + rank;
            to.key(place) = key;
            to.value(place) = value;
        }
        __syncthreads();
    }
    team.sync();
}
