// Builds the indexes of a batch of clouds: cells of neighbors, groups, boxes. Ordinary launches, no block waits
// for another.
//
// Sampled rows are halved along the longest axis of their box again and again; rows are dealt to the cells that
// this makes (`count_cells`, `fill_cells`), and those of a cell are halved in the same way until every part is
// a group (`build_groups`). Rows of a cell come in no particular order: results of searches depend on it as
// little as on the rest of the index.
#include "common/warp.cuh"
#include "search/index.cuh"
#include "search/search.cuh"

constexpr u32 CHUNK_BITS = 10;
constexpr u32 CELLS = 256;  // of a run at most
#ifdef FARPOINT_F64
constexpr u32 BUILD_OCCUPANCY = 1;
#else
constexpr u32 BUILD_OCCUPANCY = 2;
#endif

struct IndexArgs {
    Clouds side;
    Indexes indexes;
    u8* counters;        // per cloud: CELLS counts a run, then the blocks that have finished; zero at launch
    u64 counters_stride;
    u8* scratch;         // per cloud: a Ticket a row, then rows between two passes
    u64 stride;
    u32 rows;            // of the largest cloud
    u32 run;             // rows that are dealt together
    u32 chunks;          // blocks per cloud
    u32 dims;
    u32 from;            // where the rows are: FROM_CLOUD, FROM_SEQUENCE or FROM_SCRATCH
};

enum From { FROM_CLOUD = 0, FROM_SEQUENCE = 1, FROM_SCRATCH = 2 };

// Where a row goes: the cell, and its place there.
struct Ticket {
    u32 cell;
    u32 place;
};

// A block's cloud, and what is in memory for it.
struct Task {
    const IndexArgs& args;
    u32 b, block;     // cloud, and block of it
    Cloud cloud;
    u32* sequence;    // of the index; rows until there are groups
    u32* spare;       // rows, too
    u32* counts;      // of all runs
    u32* finished;
    Ticket* tickets;

    __device__ __forceinline__ Task(const IndexArgs& args) : args(args) {
        b = blockIdx.x / args.chunks;
        block = blockIdx.x % args.chunks;
        cloud = part_of(args.side, args.dims, b).cloud;
        sequence = index_of(args.indexes, b, cloud.length).sequence;
        counts = (u32*)(args.counters + args.counters_stride * b);
        finished = counts + (u64)((args.rows - 1) / args.run + 1) * CELLS;
        u8* scratch = args.scratch + args.stride * b;
        tickets = (Ticket*)cut(&scratch, sizeof(Ticket) * (u64)args.rows);
        spare = (u32*)scratch;
    }

    // The row at a place before the pass.
    __device__ __forceinline__ u32 row(u32 place) const {
        return args.from == FROM_CLOUD ? place : (args.from == FROM_SEQUENCE ? sequence : spare)[place];
    }
};

// A stretch of a cloud's rows that are dealt together.
struct Run {
    u32 begin, length, cells;
    u32* counts;

    __device__ __forceinline__ Run(const Task& task, u32 which) {
        begin = which * task.args.run;
        length = min(task.args.run, task.cloud.length - begin);
        cells = min(cells_of(min(length, RUN)), CELLS);
        counts = task.counts + (u64)which * CELLS;
    }
};

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

// Sorts the numbers of each `size` threads in a row, a power of two; all threads of the block take
// part. Bitonic.
__device__ __forceinline__ u32 sort_runs(u32 mine, u32 size, u32 (&buffers)[2][CHUNK], u32& turn) {
    u32 t = threadIdx.x;
#pragma unroll 1
    for (u32 run = 2; run <= size; run <<= 1) {
        bool ascending = (t & run) == 0 || run == size;
#pragma unroll 1
        for (u32 step = run >> 1; step >= 32; step >>= 1) {
            // Two buffers in turn: who writes one has seen all read it.
            u32* buffer = buffers[turn ^= 1];
            buffer[t] = mine;
            __syncthreads();
            u32 other = buffer[t ^ step];
            mine = ((t & step) == 0) == ascending ? min(mine, other) : max(mine, other);
        }
#pragma unroll
        for (u32 step = 16; step > 0; step >>= 1) {
            if (step >= run) continue;
            u32 other = __shfl_xor_sync(FULL, mine, step);
            mine = ((t & step) == 0) == ascending ? min(mine, other) : max(mine, other);
        }
    }
    return mine;
}

// The largest of a warp's values.
__device__ __forceinline__ u32 warp_most(u32 value) { return ~warp_least(~value); }

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

// Rows that a block halves, a thread each.
struct HalvingShared {
    real at[3][CHUNK];
    u32 buffers[2][CHUNK];
    union {
        u32 ends[6][32];  // of each warp's box, in steps
        Box boxes[32];
    };
};

// Takes the coordinates of this thread's row, which all threads have one of.
__device__ __forceinline__ Scale begin_halving(const Spot& spot, HalvingShared& shared) {
    u32 t = threadIdx.x, lane = t & 31, warp = t >> 5;
    Box box;
    for (u32 a = 0; a < 3; ++a) shared.at[a][t] = box.low[a] = box.high[a] = spot.at[a];
    box = warp_box(box);
    if (lane == 0) shared.boxes[warp] = box;
    __syncthreads();
    box = warp_box(shared.boxes[lane]);
    Scale scale;
    real longest = 0;
    for (u32 a = 0; a < 3; ++a) {
        scale.low[a] = box.low[a];
        longest = larger(longest, box.high[a] - box.low[a]);
    }
    scale.scale = steps_per_unit(longest, STEPS);
    __syncthreads();
    return scale;
}

// The longest axis of the box around each `size` threads' rows.
__device__ __forceinline__ u32 longest_axis(const u32 (&steps)[3], bool here, u32 size, HalvingShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, low[3], high[3], extent[3];
#pragma unroll
    for (u32 a = 0; a < 3; ++a) {
        low[a] = here ? steps[a] : STEPS;
        high[a] = here ? steps[a] : 0;
#pragma unroll 1
        for (u32 step = min(size, 32u) >> 1; step > 0; step >>= 1) {
            low[a] = min(low[a], __shfl_xor_sync(FULL, low[a], step));
            high[a] = max(high[a], __shfl_xor_sync(FULL, high[a], step));
        }
        if (size > 32 && lane == 0) shared.ends[a][warp] = low[a], shared.ends[a + 3][warp] = high[a];
    }
    if (size > 32) {
        __syncthreads();
        u32 warps = size >> 5, from = (warp & ~(warps - 1)) + (lane & (warps - 1));
#pragma unroll
        for (u32 a = 0; a < 3; ++a) low[a] = warp_least(shared.ends[a][from]), high[a] = warp_most(shared.ends[a + 3][from]);
    }
#pragma unroll
    for (u32 a = 0; a < 3; ++a) extent[a] = high[a] > low[a] ? high[a] - low[a] : 0;
    return extent[0] >= extent[1] && extent[0] >= extent[2] ? 0 : extent[1] >= extent[2] ? 1 : 2;
}

__device__ __forceinline__ u32 along(const u32 (&steps)[3], u32 axis) { return axis == 0 ? steps[0] : axis == 1 ? steps[1] : steps[2]; }

// Halves each `size` threads' rows along the longest axis of their box. `mine` is a row's place at the beginning;
// those from `count` on stay behind. The steps along that axis, and the place at the beginning of the row that
// belongs here now.
__device__ __forceinline__ u32 halve(u32 mine, u32 size, u32 count, const Scale& scale, u32& axis, HalvingShared& shared, u32& turn) {
    bool here = mine < count;
    u32 steps[3];
    scale.of({shared.at[0][mine], shared.at[1][mine], shared.at[2][mine]}, steps);
    axis = longest_axis(steps, here, size, shared);
    u32 key = (here ? along(steps, axis) : STEPS + 1) << CHUNK_BITS | mine;
    return sort_runs(key, size, shared.buffers, turn);
}

struct DealShared {
    HalvingShared halving;
    u32 planes[CELLS];  // between the halves of a node: steps and, in the two lowest bits, the axis
    u32 held[CELLS];
};

// Halves CHUNK sampled rows of a run into its cells: all blocks of the run do the same.
__device__ __forceinline__ Scale find_planes(const Task& task, const Run& run, DealShared& shared) {
    u32 t = threadIdx.x, mine = t, turn = 0, axis;
    // A row of each CHUNK'th part of the run, at a place that repeats no pattern of the input.
    u64 place = (u64)run.length * ((u64)t << 22 | (t * 2654435761u) >> 10) >> 32;
    Scale scale = begin_halving(spot_of(task.cloud, task.row(run.begin + (u32)place)), shared.halving);
#pragma unroll 1
    for (u32 nodes = 1, size = CHUNK; nodes < run.cells; nodes *= 2, size /= 2) {
        u32 key = halve(mine, size, CHUNK, scale, axis, shared.halving, turn);
        mine = key & (CHUNK - 1);
        if ((t & (size - 1)) == size / 2) shared.planes[nodes + t / size] = key >> CHUNK_BITS << 2 | axis;
    }
    return scale;
}

// The cell that a row belongs to.
__device__ __forceinline__ u32 cell_of(const Spot& spot, const Run& run, const Scale& scale, const DealShared& shared) {
    u32 steps[3], node = 1;
    scale.of(spot, steps);
#pragma unroll 1
    while (node < run.cells) {
        u32 plane = shared.planes[node];
        node = 2 * node + (along(steps, plane & 3) >= plane >> 2);
    }
    return node - run.cells;
}

// Gives every row its ticket, and counts the rows of each cell.
extern "C" __global__ void __launch_bounds__(CHUNK, BUILD_OCCUPANCY) KERNEL(count_cells)(const __grid_constant__ IndexArgs args) {
    __shared__ DealShared shared;
    Task task(args);
    u32 t = threadIdx.x, place = task.block * CHUNK + t;
    if (task.block * CHUNK >= task.cloud.length) return;
    Run run(task, task.block * CHUNK / args.run);
    if (t < CELLS) shared.held[t] = 0;
    Scale scale = find_planes(task, run, shared);
    __syncthreads();
    bool here = place < task.cloud.length;
    Ticket ticket = {};
    if (here) {
        ticket.cell = cell_of(spot_of(task.cloud, task.row(place)), run, scale, shared);
        ticket.place = atomicAdd(&shared.held[ticket.cell], 1u);
    }
    __syncthreads();
    // This block's rows follow one another in a cell.
    if (t < CELLS && shared.held[t] > 0) shared.held[t] = atomicAdd(&run.counts[t], shared.held[t]);
    __syncthreads();
    if (!here) return;
    ticket.place += shared.held[ticket.cell];
    task.tickets[place] = ticket;
}

struct Sums {
    u32 warps[CELLS / 32];
    u32 before[CELLS + 1];
};

// The sums of the numbers of the threads before each of the first CELLS; all threads of the block take part.
__device__ __forceinline__ void sum_up(u32 mine, Sums& shared) {
    u32 t = threadIdx.x, lane = t & 31, warp = t >> 5;
    u32 sum = warp_sum_to(mine);
    if (t < CELLS && lane == 31) shared.warps[warp] = sum;
    __syncthreads();
    if (t < CELLS) {
        for (u32 w = 0; w < warp; ++w) sum += shared.warps[w];
        shared.before[t + 1] = sum;
        if (t == 0) shared.before[0] = 0;
    }
    __syncthreads();
}

// Puts every row where its ticket says: into the sequence of the index, or, if that is where they come from,
// into the spare array.
extern "C" __global__ void __launch_bounds__(CHUNK, BUILD_OCCUPANCY) KERNEL(fill_cells)(const __grid_constant__ IndexArgs args) {
    __shared__ Sums shared;
    Task task(args);
    u32 t = threadIdx.x, place = task.block * CHUNK + t;
    if (task.block * CHUNK >= task.cloud.length) return;
    Run run(task, task.block * CHUNK / args.run);
    sum_up(t < CELLS ? run.counts[t] : 0, shared);
    if (place >= task.cloud.length) return;
    Ticket ticket = task.tickets[place];
    u32* to = args.from == FROM_SEQUENCE ? task.spare : task.sequence;
    to[run.begin + shared.before[ticket.cell] + ticket.place] = task.row(place);
}

struct GroupShared {
    HalvingShared halving;
    u32 row[CHUNK];
    Sums rows, chunks;  // of each cell of the run
    u32 good[32];       // rows that have no bad coordinate, a bit each
    u32 cell;
    u32 last;
    Indexed index;
};

// The rows of a chunk: `count` from place `begin` on; none if there is no such chunk.
struct Chunk {
    u32 begin, count;
};

// The chunks of a run's cells follow one another.
__device__ __forceinline__ Chunk find_chunk(const Task& task, GroupShared& shared) {
    u32 t = threadIdx.x, each = chunks_of_run(RUN), which = task.block / each, chunk = task.block % each;
    Run run(task, which);
    if (run.length <= CHUNK) return {run.begin, run.length};
    u32 count = t < CELLS ? run.counts[t] : 0;
    if (t == 0) shared.cell = NONE;
    sum_up(count, shared.rows);
    sum_up((count + CHUNK - 1) / CHUNK, shared.chunks);
    if (t < CELLS && shared.chunks.before[t] <= chunk && chunk < shared.chunks.before[t + 1]) shared.cell = t;
    __syncthreads();
    u32 cell = shared.cell;
    if (cell == NONE) return {run.begin, 0};
    u32 before = (chunk - shared.chunks.before[cell]) * CHUNK, begin = shared.rows.before[cell] + before;
    return {run.begin + begin, min(CHUNK, shared.rows.before[cell + 1] - begin)};
}

// The chunk's rows, in the order of the pass before.
__device__ __forceinline__ Scale load_chunk(const Task& task, const Chunk& chunk, GroupShared& shared) {
    u32 t = threadIdx.x;
    u32 row = task.row(chunk.begin + min(t, chunk.count - 1));
    shared.row[t] = t < chunk.count ? row : NONE;
    u32 good = __ballot_sync(FULL, t < chunk.count && !is_bad_row(task.cloud, row));
    if ((t & 31) == 0) shared.good[t >> 5] = good;
    return begin_halving(spot_of(task.cloud, row), shared.halving);
}

// Boxes a node over its children, which other blocks may have written.
__device__ __forceinline__ Box box_of_children(const Children& children) {
    u32 lane = threadIdx.x & 31;
    Box box;
    for (u32 a = 0; a < 3; ++a) {
        box.low[a] = __ldcg(&children.low[a][lane]);
        box.high[a] = __ldcg(&children.high[a][lane]);
    }
    return warp_box(box);
}

// The upper levels, by the block that is the last of its cloud to finish.
__device__ __forceinline__ void build_top(const Task& task, GroupShared& shared) {
    if (threadIdx.x == 0) {
        fence();
        shared.last = atomicAdd(task.finished, 1u) + 1 == chunks_of(task.cloud.length);
        fence();
    }
    __syncthreads();
    if (!shared.last) return;
    const Tree& tree = shared.index.tree;
#pragma unroll 1
    for (u32 l = 2; l < tree.height; ++l) {
        for (u32 node = threadIdx.x >> 5; node < tree.levels[l].count; node += 32) {
            store_box(tree.levels[l], node, box_of_children(tree.levels[l - 1].blocks[node]));
        }
        __syncthreads();
    }
}

// Stores this thread's row of a group and the group's box; bad rows are not in it.
__device__ __forceinline__ void place_row(const Chunk& chunk, u32 mine, u32 g, GroupShared& shared) {
    u32 lane = threadIdx.x & 31, row = shared.row[mine];
    bool good = shared.good[mine >> 5] >> (mine & 31) & 1;
    Box box;
    real at[3] = {infinity(), 0, 0};
    for (u32 a = 0; a < 3; ++a) {
        if (good) at[a] = shared.halving.at[a][mine];
        box.low[a] = good ? at[a] : infinity();
        box.high[a] = good ? at[a] : -infinity();
    }
    shared.index.sites[g].x[lane] = at[0];
    shared.index.sites[g].y[lane] = at[1];
    shared.index.sites[g].z[lane] = at[2];
    shared.index.order[g * 32 + lane] = row;
    if (threadIdx.x < chunk.count) shared.index.sequence[chunk.begin + threadIdx.x] = g * 32 + lane;
    box = warp_box(box);
    if (lane == 0) shared.halving.boxes[threadIdx.x >> 5] = box;
}

// Writes the boxes of a chunk's groups, and that around them, by a warp.
__device__ __forceinline__ void place_boxes(u32 chunk, u32 count, GroupShared& shared) {
    u32 lane = threadIdx.x & 31;
    bool filler = lane * 32 >= count;
    Box box = shared.halving.boxes[lane];
    Children& block = shared.index.tree.levels[0].blocks[chunk];
    for (u32 a = 0; a < 3; ++a) {
        box.low[a] = filler ? infinity() : box.low[a];
        box.high[a] = filler ? -infinity() : box.high[a];
        block.low[a][lane] = box.low[a];
        block.high[a][lane] = box.high[a];
    }
    if (shared.index.tree.height > 1) store_box(shared.index.tree.levels[1], chunk, warp_box(box));
}

// Makes groups of a chunk, and the nodes over them.
extern "C" __global__ void __launch_bounds__(CHUNK, BUILD_OCCUPANCY) KERNEL(build_groups)(const __grid_constant__ IndexArgs args) {
    __shared__ GroupShared shared;
    Task task(args);
    if (task.block >= chunks_of(task.cloud.length)) return;
    u32 warp = threadIdx.x >> 5, mine = threadIdx.x, turn = 0, axis;
    if (threadIdx.x == 0) shared.index = index_of(args.indexes, task.b, task.cloud.length);
    Chunk chunk = find_chunk(task, shared);
    if (chunk.count > 0) {
        Scale scale = load_chunk(task, chunk, shared);
#pragma unroll 1
        for (u32 size = CHUNK; size > 32; size >>= 1) mine = halve(mine, size, chunk.count, scale, axis, shared.halving, turn) & (CHUNK - 1);
        __syncthreads();
        if (warp * 32 < chunk.count) place_row(chunk, mine, task.block * 32 + warp, shared);
    }
    __syncthreads();
    if (warp == 0) place_boxes(task.block, chunk.count, shared);
    __syncthreads();
    if (shared.index.tree.height > 2) build_top(task, shared);
}
