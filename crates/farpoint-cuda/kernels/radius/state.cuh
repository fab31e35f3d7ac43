// RadiusFPS-G (the paper's section 4): what its kernels keep in device memory.
//
// Places are positions in the order sorted by voxel; `origin` leads back to the rows of the
// cloud. Active voxels are ranked in that order and stored in chunks of 32, one chunk per warp:
// voxel `rank` lies in chunk `rank % chunks`. So the voxels around a sample, which are
// neighbors in rank, are visited by many warps and not by one.
#pragma once
#include "common/batch.cuh"
#include "common/warp.cuh"

constexpr u32 TILE_THREADS = 256;
constexpr u32 TILE_ITEMS = 16;
constexpr u32 TILE = TILE_THREADS * TILE_ITEMS;  // points that a block handles while preparing
constexpr u32 DIGITS = 256;                      // values of the eight bits sorted by in a pass
constexpr u32 LANES = 32;

// A sphere around the points of a voxel, over the first three axes.
struct alignas(16) Sphere {
    real x, y, z;
    real radius;
};

// Places first..end of a voxel.
struct alignas(8) Range {
    u32 first, end;
};

// The sample that the voxels are to be brought up to date with.
struct alignas(16) Pick {
    real x, y, z;
    u32 index;  // row in the cloud; NONE once sampling has ended
};

// One per cloud. `src/fps/radius.rs` knows its size.
struct alignas(256) RadiusState {
    Pick pick;
    u32 step;    // samples chosen; NONE once sampling has ended
    u32 voxels;  // active voxels
    u32 chunks;
    u32 slot;    // of the best voxel, between the two kernels of an unfused selection
    u32 paired;  // voxels begin at even places only, see voxels.cuh
    u32 cells[3];
    double low[3];
    double scale;  // voxels a unit of length
    u64 box[6];    // while the box is looked for: lowest and highest ordered bits, by axis
};
static_assert(sizeof(RadiusState) == 256, "src/fps/radius.rs relies on it");

// `struct Arguments` in src/fps/radius.rs mirrors this one field by field.
struct RadiusArguments {
    Batch batch;
    RadiusState* states;
    // By place, `rows` per cloud: coordinates (one axis of all clouds after another), squared
    // distance, row.
    real* axes;
    real* distance;  // squared, to the nearest sample; -1 for chosen points
    u32* origin;
    // By slot: 32 times the chunk and the place in it.
    Sphere* spheres;
    Range* ranges;
    Candidate* best;  // the voxel's largest distance and the lowest row that has it
    // By chunk.
    Candidate* leaders;  // the first of `best`
    u32* masks;          // voxels to visit, between the kernels of an unfused update
    u32* counts;         // by tile
    u32 first_cloud;     // of this launch; blockIdx.y counts from it
    u32 nvox;            // voxels along the longest side; 0: chosen here
    u32 points_a_voxel;  // then one voxel per this many points is wanted,
    u32 most_wanted;     // but not more than this
    u32 passes;          // of the sort
    u32 pass;
};

// The part of the arrays that belongs to one cloud.
struct Voxels {
    RadiusState* state;
    real* x;
    real* y;
    real* z;
    real* distance;
    u32* origin;
    Sphere* spheres;
    Range* ranges;
    Candidate* best;
    Candidate* leaders;
    u32* masks;
    u32* counts;
};

// There are at most half as many voxels as points (rounded up), so that a chunk for every 64
// points suffices.
__device__ __forceinline__ Voxels voxels_of(const RadiusArguments& args, u32 b) {
    i64 rows = args.batch.rows, base = b * rows, axis = args.batch.clouds * rows;
    i64 chunk = b * ((rows + 2 * LANES - 1) / (2 * LANES)), tile = b * ((rows + TILE - 1) / TILE);
    Voxels v;
    v.state = args.states + b;
    v.x = args.axes + base;
    v.y = v.x + axis;
    v.z = v.y + axis;
    v.distance = args.distance + base;
    v.origin = args.origin + base;
    v.spheres = args.spheres + chunk * LANES;
    v.ranges = args.ranges + chunk * LANES;
    v.best = args.best + chunk * LANES;
    v.leaders = args.leaders + chunk;
    v.masks = args.masks + chunk;
    v.counts = args.counts + tile * DIGITS;
    return v;
}

// Before there are coordinates by place, their memory serves the sort. It goes back and forth
// between two pairs of arrays and ends in the first, where `origin` is.
struct Keyed {
    u32* keys;
    u32* rows;
};

__device__ __forceinline__ Keyed keyed(const Voxels& v, u32 passes_left) {
    if (passes_left % 2 == 0) return {reinterpret_cast<u32*>(v.distance), v.origin};
    return {reinterpret_cast<u32*>(v.x), reinterpret_cast<u32*>(v.y)};
}

// One bit per voxel of a first grid, at most one word per point.
__device__ __forceinline__ u32* bitmap_of(const Voxels& v) { return reinterpret_cast<u32*>(v.z); }

// Where this block's tile ends.
__device__ __forceinline__ u32 tile_end(u32 length) {
    u32 begin = blockIdx.x * TILE;
    return begin + min(length - begin, TILE);
}

__device__ __forceinline__ u32 slot_of(u32 rank, u32 chunks) { return rank % chunks * LANES + rank / chunks; }

__device__ __forceinline__ Candidate nobody() { return {(real)-1, NONE}; }

// What one step writes and the next reads is read from the level 2 cache: with programmatic
// launches a multiprocessor may still hold old lines in its own. Volatile, so that the compiler
// moves no load to before the wait for the writer.
__device__ __forceinline__ u32 fresh(const u32* at) {
    u32 value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}

__device__ __forceinline__ real fresh(const real* at) {
    real value;
#ifdef FARPOINT_F64
    asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(value) : "l"(at));
#else
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(at));
#endif
    return value;
}

__device__ __forceinline__ Candidate fresh(const Candidate* at) {
#ifdef FARPOINT_F64
    return {fresh(&at->value), fresh(&at->index)};
#else
    Candidate all;
    asm volatile("ld.global.cg.v2.b32 {%0, %1}, [%2];" : "=f"(all.value), "=r"(all.index) : "l"(at));
    return all;
#endif
}

__device__ __forceinline__ Pick fresh(const Pick* at) {
#ifdef FARPOINT_F64
    return {fresh(&at->x), fresh(&at->y), fresh(&at->z), fresh(&at->index)};
#else
    Pick all;
    asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(all.x), "=f"(all.y), "=f"(all.z), "=r"(all.index)
                 : "l"(at));
    return all;
#endif
}

__device__ __forceinline__ void store(Candidate* at, Candidate value) {
#ifdef FARPOINT_F64
    *at = value;
#else
    // As one store: the structure alone is not known to be aligned.
    *reinterpret_cast<uint2*>(at) = make_uint2(__float_as_uint(value.value), value.index);
#endif
}

// The first of all lanes' candidates, in every lane. Values are -1 or not negative, so that
// their bits, as signed numbers, are in their order.
__device__ __forceinline__ Candidate warp_best(Candidate mine) {
#if !defined(FARPOINT_F64) && __CUDA_ARCH__ >= 800
    int bits = __float_as_int(mine.value);
    int top = __reduce_max_sync(FULL, bits);
    return {__int_as_float(top), __reduce_min_sync(FULL, bits == top ? mine.index : NONE)};
#else
    return warp_first(mine);
#endif
}

// The first of all threads' candidates, in every thread. `parts` has room for one a warp.
__device__ __forceinline__ Candidate block_best(Candidate mine, Candidate* parts) {
    u32 lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    mine = warp_best(mine);
    if (lane == 0) parts[threadIdx.x / LANES] = mine;
    __syncthreads();
    return warp_best(lane < warps ? parts[lane] : nobody());
}

// Exclusive sum over the threads of a block; `total` becomes the whole. `parts` has room for 33.
__device__ __forceinline__ u32 block_scan(u32 value, u32* parts, u32& total) {
    u32 lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    u32 sum = warp_sum_to(value);
    if (lane == LANES - 1) parts[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        u32 part = lane < warps ? parts[lane] : 0, all = warp_sum_to(part);
        parts[lane] = all - part;
        if (lane == LANES - 1) parts[LANES] = all;
    }
    __syncthreads();
    u32 before = parts[warp] + sum - value;
    total = parts[LANES];
    __syncthreads();
    return before;
}
