// Voxels: the box of a cloud, how many voxels it is cut into, and the voxel of every point
// (the paper's equations 6 to 8).
//
// In double for both precisions. Where a border lies does not matter for the result: spheres
// are made to cover the points that a voxel got.
#pragma once
#include "radius/state.cuh"

constexpr u32 MOST_NVOX = 1024;  // its cube fits a key of 32 bits
// The box is made this much larger, so that its far side lies inside the last voxel.
constexpr double EXPANSION = 1.0 + 1e-6;

// Bits that sort as the number does, whatever its sign.
__device__ __forceinline__ u64 ordered(real value) {
    bits raw = to_bits(value), sign = (bits)1 << (8 * sizeof(bits) - 1);
    return raw & sign ? (bits)~raw : raw | sign;
}

__device__ __forceinline__ real from_ordered(u64 key) {
    bits raw = (bits)key, sign = (bits)1 << (8 * sizeof(bits) - 1);
    return from_bits(raw & sign ? raw & ~sign : ~raw);
}

__device__ inline void begin_cloud(RadiusState* state) {
    state->step = 0;
    state->voxels = 0;
    state->chunks = 0;
    state->slot = NONE;
    for (u32 a = 0; a < 3; ++a) {
        state->box[a] = ~0ull;
        state->box[3 + a] = 0;
    }
}

// Widens the box by the points of this block's tile, and clears their words of the bitmap.
__device__ inline void widen_box(const Cloud& cloud, const Voxels& v) {
    real low[3], high[3];
    for (u32 a = 0; a < 3; ++a) {
        low[a] = infinity();
        high[a] = -infinity();
    }
    u32 end = tile_end(cloud.length);
    for (u32 i = blockIdx.x * TILE + threadIdx.x; i < end; i += TILE_THREADS) {
        bitmap_of(v)[i] = 0;
        for (u32 a = 0; a < 3; ++a) {
            real at = cloud.at(i, a);
            low[a] = smaller(low[a], at);
            high[a] = larger(high[a], at);
        }
    }
    for (u32 a = 0; a < 3; ++a) {
        for (int step = LANES / 2; step > 0; step /= 2) {
            low[a] = smaller(low[a], __shfl_xor_sync(FULL, low[a], step));
            high[a] = larger(high[a], __shfl_xor_sync(FULL, high[a], step));
        }
        if (threadIdx.x % LANES == 0) {
            atomicMin(&v.state->box[a], ordered(low[a]));
            atomicMax(&v.state->box[3 + a], ordered(high[a]));
        }
    }
}

// NaN (no extent, or an infinite one) becomes 0 and what is too large the last voxel.
__device__ __forceinline__ u32 cell_of(double offset, double scale, u32 cells) {
    double cell = offset * scale;
    return cell >= (double)cells ? cells - 1 : cell > 0 ? (u32)cell : 0;
}

struct Grid {
    double low[3];
    double scale;
    u32 cells[3];
};

// `nvox` voxels along the longest side, and as many along the others as their extents need.
__device__ inline Grid grid_over(const RadiusState& state, u32 nvox) {
    Grid grid;
    double extent[3], longest = 0;
    for (u32 a = 0; a < 3; ++a) {
        grid.low[a] = (double)from_ordered(state.box[a]);
        extent[a] = (double)from_ordered(state.box[3 + a]) - grid.low[a];
        longest = extent[a] > longest ? extent[a] : longest;
    }
    grid.scale = longest > 0 ? nvox / (longest * EXPANSION) : 0;
    for (u32 a = 0; a < 3; ++a) grid.cells[a] = cell_of(extent[a], grid.scale, nvox) + 1;
    return grid;
}

__device__ __forceinline__ u32 voxel_of(const Grid& grid, const Cloud& cloud, u32 row) {
    u32 cell[3];
    for (u32 a = 0; a < 3; ++a) {
        cell[a] = cell_of((double)cloud.at(row, a) - grid.low[a], grid.scale, grid.cells[a]);
    }
    return (cell[2] * grid.cells[1] + cell[1]) * grid.cells[0] + cell[0];
}

// About how many voxels there are unless the caller sets `nvox`.
__device__ __forceinline__ u32 wanted_voxels(const RadiusArguments& args, u32 points) {
    return max(1u, min(points / args.points_a_voxel, args.most_wanted));
}

// A first guess at nvox: right for a surface that fills about three voxels for every one of
// `nvox * nvox`, as rooms and objects do. Its voxels are at most 32 per point, so that the bitmap has room.
__device__ __forceinline__ u32 first_nvox(u32 wanted, u32 points) {
    u32 guess = max(1u, (u32)(sqrt(wanted / 3.0) + 0.5));
    while (guess > 1 && (u64)guess * guess * guess / 32 >= points) --guess;
    return min(guess, MOST_NVOX);
}

// Marks the voxels of the first guess that this block's tile makes active.
__device__ inline void mark_voxels(const Cloud& cloud, const Voxels& v, u32 wanted) {
    Grid grid = grid_over(*v.state, first_nvox(wanted, cloud.length));
    u32 end = tile_end(cloud.length);
    for (u32 i = blockIdx.x * TILE + threadIdx.x; i < end; i += TILE_THREADS) {
        u32 voxel = voxel_of(grid, cloud, i), bit = 1u << voxel % 32;
        u32* word = bitmap_of(v) + voxel / 32;
        if (!(*word & bit)) atomicOr(word, bit);
    }
}

// Settles the grid, by one block; `nvox` is 0 if it is to be chosen. How many voxels the first
// guess made active says how much finer or coarser a surface needs it (far more so for a LiDAR
// turn, whose box is mostly empty).
__device__ inline void settle_grid(const Cloud& cloud, const Voxels& v, u32 nvox, u32 wanted, u32* parts) {
    if (nvox == 0) {
        u32 guess = first_nvox(wanted, cloud.length), words = (guess * guess * guess + 31) / 32;
        u32 mine = 0, active;
        for (u32 i = threadIdx.x; i < min(words, cloud.length); i += blockDim.x) mine += __popc(bitmap_of(v)[i]);
        block_scan(mine, parts, active);
        double better = guess * sqrt((double)wanted / max(active, 1u)) + 0.5;
        nvox = better >= MOST_NVOX ? MOST_NVOX : max(1u, (u32)better);
    }
    if (threadIdx.x == 0) {
        Grid grid = grid_over(*v.state, nvox);
        for (u32 a = 0; a < 3; ++a) {
            v.state->low[a] = grid.low[a];
            v.state->cells[a] = grid.cells[a];
        }
        v.state->scale = grid.scale;
    }
}

// Algorithm 2, phase 1: the voxel and the row of every point.
__device__ inline void map_points(const Cloud& cloud, const Voxels& v, const Keyed& to) {
    Grid grid;
    for (u32 a = 0; a < 3; ++a) {
        grid.low[a] = v.state->low[a];
        grid.cells[a] = v.state->cells[a];
    }
    grid.scale = v.state->scale;
    u32 end = tile_end(cloud.length);
    for (u32 i = blockIdx.x * TILE + threadIdx.x; i < end; i += TILE_THREADS) {
        to.keys[i] = voxel_of(grid, cloud, i);
        to.rows[i] = i;
    }
}
