// Builds the indexes of a batch of clouds: cells of neighbors, groups, boxes. Ordinary launches, no block waits
// for another.
//
// Sampled rows are halved along the longest axis of their box again and again (`find_planes`); rows are dealt to
// the cells that this makes (`count_cells`, `fill_cells`), and those of a cell are halved in the same way until
// every part is a group (`build_groups`). Rows of a cell come in no particular order: results of searches depend on it as
// little as on the rest of the index.
#include "common/lowest.cuh"
#include "search/halving.cuh"

constexpr u32 CELLS = 256;  // of a run at most
#ifdef FARPOINT_F64
constexpr u32 BUILD_OCCUPANCY = 1;
constexpr u32 GROUPS_OCCUPANCY = 2;
#else
constexpr u32 BUILD_OCCUPANCY = 2;
constexpr u32 GROUPS_OCCUPANCY = 4;
#endif

struct IndexArgs {
    Clouds side;
    Indexes indexes;
    u8* counters;        // per cloud: a Deal a run, then the number of blocks that have finished
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

static_assert(CELLS == BUILDERS, "a thread has a cell");

// Of a run: how its rows are dealt to cells.
struct alignas(32) Deal {
    u32 counts[CELLS];  // rows of each cell
    u32 planes[CELLS];  // between the halves of a node: steps and, in the two lowest bits, the axis
    Scale scale;
};
static_assert(sizeof(Deal) == 8 * CELLS + 32, "src/search/index.rs knows");

// A block's cloud, and what is in memory for it.
struct Task {
    const IndexArgs& args;
    u32 b, block;     // cloud, and block of it
    Cloud cloud;
    u32* sequence;    // of the index; rows until there are groups
    u32* spare;       // rows, too
    Deal* deals;      // of all runs
    u32* finished;
    Ticket* tickets;

    __device__ __forceinline__ Task(const IndexArgs& args) : args(args) {
        b = blockIdx.x / args.chunks;
        block = blockIdx.x % args.chunks;
        cloud = part_of(args.side, args.dims, b).cloud;
        sequence = index_of(args.indexes, b, cloud.length).sequence;
        deals = (Deal*)(args.counters + args.counters_stride * b);
        finished = (u32*)(deals + (args.rows - 1) / args.run + 1);
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
    Deal* deal;

    __device__ __forceinline__ Run(const Task& task, u32 which) {
        begin = which * task.args.run;
        length = min(task.args.run, task.cloud.length - begin);
        cells = min(cells_of(min(length, RUN)), CELLS);
        deal = task.deals + which;
    }
};

// Halves CHUNK sampled rows of each run into its cells, a block a run, and sets the counters to 0.
extern "C" __global__ void __launch_bounds__(BUILDERS) KERNEL(find_planes)(const __grid_constant__ IndexArgs args) {
    __shared__ HalvingShared shared;
    Task task(args);
    u32 t = threadIdx.x, mine[OWN], turn = 0;
    if (t == 0 && task.block == 0) *task.finished = 0;
    if ((u64)task.block * args.run >= task.cloud.length) return;
    Run run(task, task.block);
    run.deal->counts[t] = 0;
    if (run.cells == 1) return;
    Spot spots[OWN];
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) {
        // A row of each CHUNK'th part of the run, at a place that repeats no pattern of the input.
        u32 part = loaded(e);
        u64 place = (u64)run.length * ((u64)part << 22 | (part * 2654435761u) >> 10) >> 32;
        spots[e] = spot_of(task.cloud, task.row(run.begin + (u32)place));
    }
    Scale scale = begin_halving(spots, shared);
    if (t == 0) run.deal->scale = scale;
    begin_order(mine);
#pragma unroll 1
    for (u32 nodes = 1, size = CHUNK; nodes < run.cells; nodes *= 2, size /= 2) {
        u32 axis = halve(mine, size, CHUNK, shared, turn);
        if ((t * OWN & (size - 1)) == size / 2) run.deal->planes[nodes + t * OWN / size] = mine[0] >> CHUNK_BITS << 2 | axis;
        keep_places(mine);
    }
}

struct DealShared {
    u32 planes[CELLS];
    u32 held[CELLS];
};

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
    if (t < run.cells) shared.planes[t] = run.deal->planes[t], shared.held[t] = 0;
    Scale scale = run.deal->scale;
    __syncthreads();
    bool here = place < task.cloud.length;
    Ticket ticket = {};
    if (here) {
        ticket.cell = cell_of(spot_of(task.cloud, task.row(place)), run, scale, shared);
        ticket.place = atomicAdd(&shared.held[ticket.cell], 1u);
    }
    __syncthreads();
    // This block's rows follow one another in a cell.
    if (t < run.cells && shared.held[t] > 0) shared.held[t] = atomicAdd(&run.deal->counts[t], shared.held[t]);
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
    sum_up(t < CELLS ? run.deal->counts[t] : 0, shared);
    if (place >= task.cloud.length) return;
    Ticket ticket = task.tickets[place];
    u32* to = args.from == FROM_SEQUENCE ? task.spare : task.sequence;
    to[run.begin + shared.before[ticket.cell] + ticket.place] = task.row(place);
}

struct GroupShared {
    HalvingShared halving;
    u32 row[CHUNK];
    Box boxes[32];      // of groups
    u32 lowest[32];     // rows of groups
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
    u32 count = t < CELLS ? run.deal->counts[t] : 0;
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
__device__ __forceinline__ void load_chunk(const Task& task, const Chunk& chunk, GroupShared& shared) {
    Spot spots[OWN];
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) {
        u32 place = loaded(e), row = task.row(chunk.begin + min(place, chunk.count - 1));
        shared.row[place] = place < chunk.count ? row : NONE;
        u32 good = __ballot_sync(FULL, place < chunk.count && !is_bad_row(task.cloud, row));
        if ((place & 31) == 0) shared.good[place >> 5] = good;
        spots[e] = spot_of(task.cloud, row);
    }
    begin_halving(spots, shared.halving);
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
        for (u32 node = threadIdx.x >> 5; node < tree.levels[l].count; node += BUILDERS / 32) {
            const Children& children = tree.levels[l - 1].blocks[node];
            store_box(tree.levels[l], node, box_of_children(children));
            __syncwarp();
            store_lowest(tree.levels[l], node, warp_least((u32)__ldcg(&children.largest[0][threadIdx.x & 31])));
        }
        __syncthreads();
    }
}

struct alignas(OWN * sizeof(real)) Reals {
    real of[OWN];
};

// Stores this thread's rows of a group and, with the seven threads beside it, the group's box and lowest row; bad
// rows are not in it.
__device__ __forceinline__ void place_rows(const Task& task, const u32 (&mine)[OWN], u32 count, GroupShared& shared) {
    u32 group = threadIdx.x / 8, first = threadIdx.x % 8 * OWN;
    Reals at[3];
    u32 rows[OWN], lowest = NONE;
    Box box = {{infinity(), infinity(), infinity()}, {-infinity(), -infinity(), -infinity()}};
#pragma unroll
    for (u32 e = 0; e < OWN; ++e) {
        rows[e] = shared.row[mine[e]];
        bool good = shared.good[mine[e] >> 5] >> (mine[e] & 31) & 1;
        lowest = min(lowest, good ? rows[e] : NONE);
#pragma unroll
        for (u32 a = 0; a < 3; ++a) {
            at[a].of[e] = good ? task.cloud.at(rows[e], a) : a == 0 ? infinity() : (real)0;
            box.low[a] = smaller(box.low[a], good ? at[a].of[e] : infinity());
            box.high[a] = larger(box.high[a], good ? at[a].of[e] : -infinity());
        }
    }
#pragma unroll
    for (u32 a = 0; a < 3; ++a) {
#pragma unroll
        for (u32 step = 4; step > 0; step >>= 1) {
            box.low[a] = smaller(box.low[a], __shfl_xor_sync(FULL, box.low[a], step));
            box.high[a] = larger(box.high[a], __shfl_xor_sync(FULL, box.high[a], step));
        }
    }
#pragma unroll
    for (u32 step = 4; step > 0; step >>= 1) lowest = min(lowest, __shfl_xor_sync(FULL, lowest, step));
    if (first == 0) shared.boxes[group] = box, shared.lowest[group] = lowest;
    if (group * 32 >= count) return;
    u32 g = task.block * 32 + group;
    Group& sites = shared.index.sites[g];
    *(Reals*)&sites.x[first] = at[0];
    *(Reals*)&sites.y[first] = at[1];
    *(Reals*)&sites.z[first] = at[2];
    *(uint4*)&shared.index.order[g * 32 + first] = {rows[0], rows[1], rows[2], rows[3]};
}

// Writes the boxes and lowest rows of a chunk's groups, and those of all of them, by a warp.
__device__ __forceinline__ void place_boxes(u32 chunk, u32 count, GroupShared& shared) {
    u32 lane = threadIdx.x & 31;
    bool filler = lane * 32 >= count;
    Box box = shared.boxes[lane];
    Children& block = shared.index.tree.levels[0].blocks[chunk];
    for (u32 a = 0; a < 3; ++a) {
        box.low[a] = filler ? infinity() : box.low[a];
        box.high[a] = filler ? -infinity() : box.high[a];
        block.low[a][lane] = box.low[a];
        block.high[a][lane] = box.high[a];
    }
    u32 lowest = filler ? NONE : shared.lowest[lane];
    block.largest[0][lane] = lowest;
    if (shared.index.tree.height > 1) {
        const Level& level = shared.index.tree.levels[1];
        store_box(level, chunk, warp_box(box));
        __syncwarp();
        store_lowest(level, chunk, warp_least(lowest));
    }
}

// Makes groups of a chunk, and the nodes over them.
extern "C" __global__ void __launch_bounds__(BUILDERS, GROUPS_OCCUPANCY) KERNEL(build_groups)(const __grid_constant__ IndexArgs args) {
    __shared__ GroupShared shared;
    Task task(args);
    if (task.block >= chunks_of(task.cloud.length)) return;
    u32 mine[OWN], turn = 0;
    if (threadIdx.x == 0) shared.index = index_of(args.indexes, task.b, task.cloud.length);
    Chunk chunk = find_chunk(task, shared);
    __syncthreads();
    if (chunk.count > 0) {
        load_chunk(task, chunk, shared);
        begin_order(mine);
#pragma unroll 1
        for (u32 size = CHUNK; size > 32; size >>= 1) {
            if (size / 2 >= chunk.count) continue;  // all are in the first half
            halve(mine, size, chunk.count, shared.halving, turn);
            keep_places(mine);
        }
        place_rows(task, mine, chunk.count, shared);
        // Here all have read the rows that were there.
        for (u32 p = threadIdx.x; p < chunk.count; p += BUILDERS) shared.index.sequence[chunk.begin + p] = task.block * CHUNK + p;
    }
    __syncthreads();
    if (threadIdx.x < 32) place_boxes(task.block, chunk.count, shared);
    __syncthreads();
    if (shared.index.tree.height > 2) build_top(task, shared);
}
