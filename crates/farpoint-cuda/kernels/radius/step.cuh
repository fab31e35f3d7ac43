// A step of sampling: the next sample is chosen (algorithm 3), and the voxels that it may change
// are brought up to date (algorithm 4).
//
// Every voxel keeps its largest distance together with the lowest row that has it, every chunk
// of 32 voxels the first of those. So the best voxel and its point are found at once, in the
// order of choice: the larger distance, among equals the lower row.
#pragma once
#include "radius/voxels.cuh"

constexpr u32 IN_FLIGHT = 4;  // points a lane loads before it looks at the first

// With a programmatic launch a kernel starts while the one before it still runs. This waits
// until that is done and what it wrote can be seen. Every block must come here: only then is the
// end of a kernel also the end of all before it.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel start, which then waits as above.
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Chooses `best`, a start point, or nothing more; by all threads of a block, which hold the
// same `best` and `step`. The voxels and their distances are those after `step` samples.
__device__ inline void choose(const Cloud& cloud, RadiusState* state, u32 step, Candidate best) {
    bool start = step < cloud.start_count;
    if (step >= cloud.wanted || (!start && (best.value <= cloud.stop || best.index == NONE))) {
        // With every point chosen nothing is uncovered. Before the first sample all distances
        // are infinite, and leaders are not known.
        real covering = best.index == NONE ? 0 : best.value;
        if (step == 0) covering = cloud.length > 0 ? infinity() : 0;
        finish_cloud(cloud, step, covering, threadIdx.x, blockDim.x);
        if (threadIdx.x == 0) {
            state->pick.index = NONE;
            state->step = NONE;
        }
        return;
    }
    if (start) best = {infinity(), cloud.start(step)};
    if (threadIdx.x != 0) return;
    Pick pick = {cloud.at(best.index, 0), cloud.at(best.index, 1), cloud.at(best.index, 2), best.index};
    state->pick = pick;
    state->step = step + 1;
    write_sample(cloud, step, best.index, best.value);
}

// The first of all chunks' leaders that this thread looks at, and its chunk.
__device__ __forceinline__ Candidate best_leader(const Voxels& v, u32 chunks, u32& chunk) {
    Candidate best = nobody();
#pragma unroll 4
    for (u32 i = threadIdx.x; i < chunks; i += blockDim.x) {
        Candidate other = fresh(&v.leaders[i]);
        if (comes_before(other.value, other.index, best.value, best.index)) {
            best = other;
            chunk = i;
        }
    }
    return best;
}

// The slot of the best voxel, for a selection in two kernels.
__device__ inline void find_voxel(const Voxels& v, Candidate* parts) {
    __shared__ u32 found;
    u32 chunk = NONE;
    Candidate mine = best_leader(v, v.state->chunks, chunk);
    Candidate best = block_best(mine, parts);
    // No two threads have the same row, so at most one answers.
    if (threadIdx.x == 0) found = NONE;
    __syncthreads();
    if (best.index != NONE && mine.index == best.index) found = chunk;
    __syncthreads();
    if (threadIdx.x >= LANES) return;
    u32 slot = found * LANES + threadIdx.x, rank = threadIdx.x * v.state->chunks + found;
    if (threadIdx.x == 0) v.state->slot = NONE;
    __syncwarp();
    if (found != NONE && rank < v.state->voxels && fresh(&v.best[slot]).index == best.index) v.state->slot = slot;
}

// The best point of that voxel.
__device__ inline Candidate find_point(const Voxels& v, Candidate* parts) {
    u32 slot = fresh(&v.state->slot);
    Candidate mine = nobody();
    if (slot != NONE) {
        Range range = v.ranges[slot];
        for (u32 i = range.first + threadIdx.x; i < range.end; i += blockDim.x) {
            mine = first(mine, {fresh(&v.distance[i]), v.origin[i]});
        }
    }
    // A chosen point is no candidate, whatever its row.
    if (mine.value < 0) mine.index = NONE;
    return block_best(mine, parts);
}

// A lane's voxel.
struct Voxel {
    Sphere sphere;
    Range range;
    Candidate best;  // `nobody` if the chunk has no voxel or all points are chosen
};

__device__ __forceinline__ Voxel load_voxel(const Voxels& v, u32 chunk, u32 chunks, u32 voxels, u32 lane) {
    Voxel voxel;
    voxel.sphere = {0, 0, 0, 0};
    voxel.range = {0, 0};
    voxel.best = nobody();
    if (lane * chunks + chunk < voxels) {
        u32 slot = chunk * LANES + lane;
        voxel.sphere = v.spheres[slot];
        voxel.range = v.ranges[slot];
        voxel.best = fresh(&v.best[slot]);
    }
    return voxel;
}

// Whether the sample may change something in the voxel (equation 25). NaN and infinity never
// leave a voxel out.
__device__ __forceinline__ bool reaches(const Voxel& voxel, real limit, const Pick& pick) {
    const Sphere& c = voxel.sphere;
    return voxel.best.value >= 0 && !(squared(c.x, c.y, c.z, pick.x, pick.y, pick.z) > limit);
}

// The distance of a point, lowered to the sample's (equation 29). The point skip (equation 28)
// is asked of the sum of three axes, a sharper bound of what further axes make of it: with three
// axes there is nothing to save.
__device__ __forceinline__ real lowered(
    const Cloud& cloud, const Pick& pick, real x, real y, real z, u32 row, real old
) {
    if (row == pick.index) return (real)-1;
    real now = squared(x, y, z, pick.x, pick.y, pick.z);
    for (u32 a = 3; a < cloud.dims && now < old; ++a) {
        real d = cloud.at(row, a) - cloud.at(pick.index, a);
        now = now + d * d;
    }
    return now < old ? now : old;
}

// Visits the points of a voxel, by one warp: lowers their distances (LOWER), finds the first of
// them (FIND), or both.
template <bool LOWER, bool FIND>
__device__ __forceinline__ Candidate visit(const Cloud& cloud, const Voxels& v, const Pick& pick, Range range) {
    Candidate best = nobody();
    for (u32 base = range.first + threadIdx.x % LANES; base < range.end; base += LANES * IN_FLIGHT) {
        real x[IN_FLIGHT], y[IN_FLIGHT], z[IN_FLIGHT], distance[IN_FLIGHT];
        u32 row[IN_FLIGHT];
#pragma unroll
        for (u32 k = 0; k < IN_FLIGHT; ++k) {
            u32 i = base + k * LANES;
            if (i >= range.end) continue;
            distance[k] = fresh(&v.distance[i]);
            row[k] = v.origin[i];
            if (LOWER) {
                x[k] = v.x[i];
                y[k] = v.y[i];
                z[k] = v.z[i];
            }
        }
#pragma unroll
        for (u32 k = 0; k < IN_FLIGHT; ++k) {
            u32 i = base + k * LANES;
            if (i >= range.end) continue;
            real now = distance[k];
            if (LOWER) now = lowered(cloud, pick, x[k], y[k], z[k], row[k], distance[k]);
            if (LOWER && now != distance[k]) v.distance[i] = now;
            if (FIND && now >= 0) best = first(best, {now, row[k]});
        }
    }
    return FIND ? warp_best(best) : best;
}

// Brings the voxels of `mask` up to date, by one warp; `mine` is the lane's own.
template <bool LOWER, bool FIND>
__device__ __forceinline__ void visit_voxels(
    const Cloud& cloud, const Voxels& v, const Pick& pick, u32 chunk, u32 mask, Voxel& mine
) {
    u32 lane = threadIdx.x % LANES;
    for (; mask; mask &= mask - 1) {
        u32 owner = __ffs(mask) - 1;
        Range range = {__shfl_sync(FULL, mine.range.first, owner), __shfl_sync(FULL, mine.range.end, owner)};
        Candidate best = visit<LOWER, FIND>(cloud, v, pick, range);
        if (!FIND || lane != owner) continue;
        mine.best = best;
        store(&v.best[chunk * LANES + lane], best);
    }
    if (!FIND) return;
    Candidate leader = warp_best(mine.best);
    if (lane == 0) store(&v.leaders[chunk], leader);
}
