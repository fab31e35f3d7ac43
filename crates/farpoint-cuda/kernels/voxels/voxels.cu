// Occupied voxels of clouds: which voxel each row is in, and one point for each.
//
// A hash table of rows finds the voxels. A slot holds a row of the voxel that it belongs to, whose cell is computed
// anew from the row's coordinates when another row comes to it; a slot never changes its voxel, only its row, to
// lower ones, so that in the end it holds the first. An old value is therefore as good as a new one to compare with,
// and nothing waits: a quarter of the slots stays empty, so that each row meets its voxel or an empty slot.
//
// The first rows are then marked, in a bitmap, and counted, which numbers the voxels in the order of their first
// rows. What one voxel's rows are, ascending, is said by an inverted list (values/invert.cuh).
//
// Launch: THREADS threads. `insert`, `tally`, `number`, `near`, `choose` and `box` have a thread for each row, `draw`,
// `finish`, `keys` and `renumber` one for each voxel.
#include "voxels/voxels.cuh"
#include "common/guard.cuh"
#include "common/warp.cuh"

__device__ __forceinline__ u64 thread_number() { return (u64)blockIdx.x * THREADS + threadIdx.x; }

// ------------------------------------------------------------------------------------ voxels of rows

// A number that sorts as the coordinate does; all bits are that of no coordinate.
__device__ __forceinline__ bits ordered(real value) {
    constexpr bits SIGN = (bits)1 << (8 * sizeof(bits) - 1);
    bits plain = to_bits(value);
    return plain & SIGN ? ~plain : plain | SIGN;
}

__device__ __forceinline__ real unordered(bits value) {
    constexpr bits SIGN = (bits)1 << (8 * sizeof(bits) - 1);
    return from_bits(value & SIGN ? value & ~SIGN : ~value);
}

// Empties table and tally, and begins the summary and the search for origins.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_clear)(const __grid_constant__ Grid grid) {
    u64 step = (u64)gridDim.x * THREADS, begin = thread_number();
    for (u64 at = begin; at < ((u64)grid.mask + 1) / 4; at += step) {
        ((uint4*)grid.table)[at] = make_uint4(NONE, NONE, NONE, NONE);
    }
    if (grid.tally) {
        for (u64 at = begin; at < grid.count; at += step) grid.tally[at] = 0;
    }
    for (u64 at = begin; at < OUTSIDE + 3 * (u64)grid.dims; at += step) {
        grid.summary[at] = at < FIRST_BAD ? 0 : at < OUTSIDE + grid.dims ? -1 : NO_CELL;
    }
    if (grid.origins) {
        for (u64 at = begin; at < (u64)grid.clouds * grid.dims; at += step) ((bits*)grid.origins)[at] = ~(bits)0;
    }
}

__device__ __forceinline__ bool is_bad_row(const Grid& grid, u32 row) {
    bool bad = false;
#pragma unroll 1
    for (u32 axis = 0; axis < grid.dims; ++axis) bad |= is_bad(coordinate(grid, row, axis));
    return bad;
}

// The smallest coordinates of each cloud, as ordered numbers.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_least)(const __grid_constant__ Grid grid) {
    u64 row = thread_number();
    Home home = {NONE, 0, 0};
    bool here = row < grid.count;
    if (here) {
        home = home_of(grid, (u32)row);
        here = is_valid(grid, home, (u32)row) && !is_bad_row(grid, (u32)row);
    }
    // Most warps have rows of one cloud, and one of them speaks for all.
    bool one = __match_any_sync(FULL, here ? home.cloud : NONE) == FULL;
    for (u32 axis = 0; axis < grid.dims; ++axis) {
        bits least = here ? ordered(coordinate(grid, (u32)row, axis)) : ~(bits)0;
        if (one) {
            for (int step = 16; step > 0; step >>= 1) {
                bits other = __shfl_xor_sync(FULL, least, step);
                least = other < least ? other : least;
            }
        }
        bits* to = (bits*)grid.origins + (u64)home.cloud * grid.dims + axis;
        if (here && (!one || (threadIdx.x & 31) == 0) && least < *(volatile bits*)to) atomicMin(to, least);
    }
}

// Ordered numbers become origins; a cloud without rows has 0.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_origin)(const __grid_constant__ Grid grid) {
    u64 at = thread_number();
    if (at >= (u64)grid.clouds * grid.dims) return;
    bits least = ((bits*)grid.origins)[at];
    // Adding 0 makes -0 to 0, as it is of no matter which of them came first.
    grid.origins[at] = least == ~(bits)0 ? (real)0 : unordered(least) + (real)0;
}

__device__ __forceinline__ u64 mixed(u64 hash) {
    hash *= 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

// Where the search for a cell's slot begins.
__device__ __forceinline__ u32 hash_of(const Grid& grid, u32 cloud, u32 row, const Cell& cell) {
    u64 hash = mixed((u64)(u32)cell.at[0] << 32 | (u32)cell.at[1]);
    hash = mixed(hash ^ ((u64)cloud << 32 | (u32)cell.at[2]));
#pragma unroll 1
    for (u32 axis = 3; axis < grid.dims; ++axis) hash = mixed(hash ^ (u32)cell_on(grid, cloud, row, axis));
    return (u32)mixed(hash);
}

// Whether another row of the table is in the same voxel.
__device__ __forceinline__ bool is_same_voxel(const Grid& grid, const Home& home, u32 row, const Cell& cell, u32 other) {
    if ((i64)other < home.begin || (i64)other >= home.end) return false;
    Cell found;
    cell_of(grid, home.cloud, other, found);
    bool same = found.at[0] == cell.at[0] && found.at[1] == cell.at[1] && found.at[2] == cell.at[2];
#pragma unroll 1
    for (u32 axis = 3; axis < grid.dims && same; ++axis) {
        same = cell_on(grid, home.cloud, row, axis) == cell_on(grid, home.cloud, other, axis);
    }
    return same;
}

// The slot of a row's voxel. There are more slots than rows, so an empty one is met at the latest.
__device__ __forceinline__ u32 insert(const Grid& grid, const Home& home, u32 row, const Cell& cell) {
    u32 slot = hash_of(grid, home.cloud, row, cell) & grid.mask;
    for (;; slot = (slot + 1) & grid.mask) {
        // An old value is NONE, which the exchange corrects, or a row of the same voxel as the new one.
        u32 found = load_relaxed(grid.table + slot);
        if (found == NONE) {
            found = atomicCAS(grid.table + slot, NONE, row);
            if (found == NONE) return slot;
        }
        if (is_same_voxel(grid, home, row, cell, found)) {
            if (row < found) atomicMin(grid.table + slot, row);
            return slot;
        }
    }
}

// Reports a finite row whose cell does not fit.
__device__ __noinline__ void report_outside(const Grid& grid, u32 cloud, u32 row) {
    for (u32 axis = 0; axis < grid.dims; ++axis) {
        u64* first = (u64*)grid.summary + OUTSIDE + axis;
        if (!fits(floor(quotient(grid, cloud, row, axis))) && row < *(volatile u64*)first) atomicMin(first, (u64)row);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_insert)(const __grid_constant__ Grid grid) {
    u64 row = thread_number();
    bool bad = false;
    if (row < grid.count) {
        Home home = home_of(grid, (u32)row);
        u32 slot = NONE;
        if (is_valid(grid, home, (u32)row)) {
            Cell cell;
            if (cell_of(grid, home.cloud, (u32)row, cell)) slot = insert(grid, home, (u32)row, cell);
            else if (is_bad_row(grid, (u32)row)) bad = true;
            else report_outside(grid, home.cloud, (u32)row);
        }
        grid.firsts[row] = slot;
    }
    u32 all = __ballot_sync(FULL, bad);
    if (all && (threadIdx.x & 31) == 0) {
        atomicAdd((u64*)grid.summary + BAD, (u64)__popc(all));
        atomicMin((u64*)grid.summary + FIRST_BAD, row + __ffs(all) - 1);
    }
}

// Adds each row to its voxel's number, once for all lanes of the same.
template <typename Number>
__device__ __forceinline__ void add_rows(Number* counts, u32 voxel) {
    u32 same = __match_any_sync(FULL, voxel);
    if (voxel != NONE && (threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(counts + voxel, (Number)__popc(same));
}

#ifndef FARPOINT_F64

// The first row of each row's voxel, and how many rows each voxel has.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_tally)(const __grid_constant__ Grid grid) {
    u64 row = thread_number();
    u32 first = row < grid.count ? grid.firsts[row] : NONE;
    if (first != NONE) {
        first = grid.table[first];
        grid.firsts[row] = first;
    }
    add_rows(grid.tally, first);
}

// The sum of the values of the threads before this one, and of all.
__device__ __forceinline__ u32 sum_before(u32 value, u32* all) {
    __shared__ u32 sums[WARPS];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, inclusive = warp_sum_to(value), before = 0, total = 0;
    __syncthreads();
    if (lane == 31) sums[warp] = inclusive;
    __syncthreads();
    for (u32 w = 0; w < WARPS; ++w) {
        if (w < warp) before += sums[w];
        total += sums[w];
    }
    *all = total;
    return before + inclusive - value;
}

// Words of `marks`: so many that there is a bit for the end, too.
__device__ __forceinline__ u32 words_of(const Grid& grid) { return grid.count / 32 + 1; }

// Marks first rows, and counts them; without a tally the first row of each row's voxel is looked up here. A block goes
// through `share` rows, which is a multiple of TILE.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_mark)(const __grid_constant__ Grid grid) {
    u32 begin = blockIdx.x * grid.share, end = min(begin + grid.share, words_of(grid) * 32), found = 0, all;
    for (u32 tile = begin; tile < end; tile += TILE) {
        u32 firsts[ITEMS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            u32 row = tile + k * THREADS + threadIdx.x;
            firsts[k] = row < grid.count ? grid.firsts[row] : NONE;
        }
        if (!grid.tally) {
#pragma unroll
            for (u32 k = 0; k < ITEMS; ++k) {
                if (firsts[k] != NONE) firsts[k] = grid.table[firsts[k]];
            }
        }
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            u32 row = tile + k * THREADS + threadIdx.x;
            if (!grid.tally && row < grid.count) grid.firsts[row] = firsts[k];
            // No row is NONE.
            bool first = firsts[k] == row && (!grid.tally || grid.tally[row] >= grid.least);
            u32 mark = __ballot_sync(FULL, first);
            if ((threadIdx.x & 31) == 0 && row < end) {
                grid.marks[row >> 5] = mark;
                found += __popc(mark);
            }
        }
    }
    sum_before(found, &all);
    if (threadIdx.x == 0) grid.parts[blockIdx.x] = all;
}

// Numbers the marks: those of the blocks before, then of the words before. Launched with the blocks of `mark`.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_rank)(const __grid_constant__ Grid grid) {
    u32 earlier = 0, before;
    for (u32 part = threadIdx.x; part < blockIdx.x; part += THREADS) earlier += grid.parts[part];
    sum_before(earlier, &before);
    u32 first = blockIdx.x * grid.share / 32, end = min(first + grid.share / 32, words_of(grid));
    for (u32 step = first; step < end; step += THREADS) {
        u32 word = step + threadIdx.x, all;
        u32 here = word < end ? __popc(grid.marks[word]) : 0;
        u32 sum = sum_before(here, &all);
        if (word < end) grid.before[word] = before + sum;
        before += all;
    }
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) grid.summary[VOXELS] = before;
}

// -------------------------------------------------------------------------------------------- answers

// The first voxel of a cloud, by its first row; offsets are not checked, and held within the rows.
__device__ __forceinline__ u32 start_of(const Grid& grid, i64 begin) {
    return number_at(grid, (u32)min(max(begin, (i64)0), (i64)grid.count));
}

// Numbers of rows and clouds, counts, and the first rows as the chosen ones; counts are 0 at launch.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_number)(const __grid_constant__ Answers answers) {
    const Grid& grid = answers.grid;
    u64 at = thread_number();
    u32 voxel = NONE, first = at < grid.count ? grid.firsts[at] : NONE;
    if (first != NONE && is_marked(grid, first)) {
        voxel = number_at(grid, first);
        if (voxel >= answers.room) voxel = NONE;
        else if (answers.renumbered) voxel = answers.renumbered[voxel];
    }
    if (at < grid.count) {
        answers.numbers[at] = voxel;
        if (answers.inverse) {
            bool whole = answers.whole || grid.clouds == 1 || voxel == NONE;
            u32 start = whole ? 0 : start_of(grid, home_of(grid, (u32)at).begin);
            write(answers, answers.inverse, at, voxel == NONE ? -1 : (i64)(voxel - start));
        }
        if (voxel != NONE && first == (u32)at) {
            answers.chosen[voxel] = first;
            if (answers.counts && grid.tally) write(answers, answers.counts, voxel, grid.tally[first]);
        }
    }
    if (answers.counts && !grid.tally) {
        if (answers.narrow) add_rows((u32*)answers.counts, voxel);
        else add_rows((u64*)answers.counts, voxel);
    }
    if (answers.starts && at <= grid.clouds) {
        i64 begin = grid.offsets ? grid.offsets[at] : (i64)at * grid.rows;
        answers.starts[at] = min(start_of(grid, begin), answers.room);
    }
}

#endif

// The distance of a row from the center of its voxel, squared and in voxels.
__device__ __forceinline__ real distance_to_center(const Grid& grid, u32 row) {
    u32 cloud = home_of(grid, row).cloud;
    real sum = 0;
#pragma unroll 1
    for (u32 axis = 0; axis < grid.dims; ++axis) {
        real at = quotient(grid, cloud, row, axis);
        real off = (at - floor(at)) - (real)0.5;
        sum = sum + off * off;
    }
    return sum;
}

// The smallest distance of each voxel; all bits at launch.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_near)(const __grid_constant__ Answers answers) {
    u64 row = thread_number();
    u32 voxel = row < answers.grid.count ? answers.numbers[row] : NONE;
    if (voxel == NONE) return;
    bits distance = to_bits(distance_to_center(answers.grid, (u32)row));
    // An old value is larger, and leads to an exchange that changes nothing.
    bits* nearest = answers.nearest + voxel;
    if (distance < *(volatile bits*)nearest) atomicMin(nearest, distance);
}

// The first row at this distance; NONE at launch.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_choose)(const __grid_constant__ Answers answers) {
    u64 row = thread_number();
    u32 voxel = row < answers.grid.count ? answers.numbers[row] : NONE;
    if (voxel == NONE) return;
    u32* chosen = answers.chosen + voxel;
    if (to_bits(distance_to_center(answers.grid, (u32)row)) != answers.nearest[voxel]) return;
    if ((u32)row < load_relaxed(chosen)) atomicMin(chosen, (u32)row);
}

// SplitMix64, as `farpoint::random` has it.
__device__ __forceinline__ u64 next_random(u64& state) {
    state += 0x9e3779b97f4a7c15ull;
    u64 z = state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

// A number below `end`, all equally likely (Lemire's multiply-shift). A rejection is as unlikely as `end` in 2^64.
__device__ __forceinline__ u32 random_below(u64 state, u64 end) {
    for (;;) {
        u64 number = next_random(state), low = number * end;
        if (low >= end || low >= (0 - end) % end) return (u32)__umul64hi(number, end);
    }
}

// The random row of each voxel, by the seed and its cell.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_draw)(const __grid_constant__ Answers answers) {
    u64 voxel = thread_number();
    if (voxel >= voxels_of(answers)) return;
    u32 begin = answers.begins[voxel], count = answers.begins[voxel + 1] - begin, row = answers.places[begin];
    u32 cloud = home_of(answers.grid, row).cloud;
    u64 hash = answers.seed;
#pragma unroll 1
    for (u32 axis = 0; axis < answers.grid.dims; ++axis) {
        hash ^= (u32)cell_on(answers.grid, cloud, row, axis);
        hash = next_random(hash);
    }
    answers.chosen[voxel] = answers.places[begin + random_below(hash, count)];
}

// Row, count and cells of a voxel on the axes first, first + step, .., and the point if it is the row itself; -1 and
// zeros if there is no such voxel.
__device__ __forceinline__ void write_voxel(const Answers& answers, u64 voxel, bool exists, u32 row, u32 first, u32 step) {
    const Grid& grid = answers.grid;
    Home home = {};
    if (exists) home = home_of(grid, row);
    if (first == 0) {
        if (answers.picked) {
            i64 from = answers.whole ? 0 : home.begin;
            write(answers, answers.picked, voxel, exists ? (i64)row - from : -1);
        }
        if (answers.counts && answers.begins) {
            write(answers, answers.counts, voxel, answers.begins[voxel + 1] - answers.begins[voxel]);
        }
    }
#pragma unroll 1
    for (u32 axis = first; axis < grid.dims; axis += step) {
        u64 at = voxel * grid.dims + axis;
        if (answers.cells) answers.cells[at] = exists ? cell_on(grid, home.cloud, row, axis) : 0;
        if (answers.coordinates && !answers.means) {
            answers.coordinates[at] = exists ? coordinate(grid, row, axis) : (real)0;
        }
    }
}

// The voxels by their chosen rows.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_finish)(const __grid_constant__ Answers answers) {
    u64 voxel = thread_number();
    if (voxel >= answers.room) return;
    bool exists = voxel < voxels_of(answers);
    write_voxel(answers, voxel, exists, exists ? answers.chosen[voxel] : 0, 0, 1);
}

// ---------------------------------------------------------------------------------------------- means

// Sums in double precision, by ascending row. A few lanes have a voxel, one an axis, and look at several rows ahead; a
// list of more than SHORT rows is added up by all lanes of the warp. Only the sums have an order.
constexpr u32 AHEAD = 8;
constexpr u32 SHORT = 32;
constexpr u32 WIDTH = 3;  // axes that a warp adds up together

__device__ __forceinline__ void write_mean(const Answers& answers, u64 voxel, u32 axis, double sum, u32 count) {
    answers.coordinates[voxel * answers.grid.dims + axis] = count ? (real)(sum / (double)count) : (real)0;
}

__device__ __forceinline__ void mean_of_short(const Answers& answers, u64 voxel, u32 begin, u32 end, u32 axis) {
    double sum = 0;
    for (u32 first = begin; first < end; first += AHEAD) {
        real items[AHEAD];
#pragma unroll
        for (u32 a = 0; a < AHEAD; ++a) {
            if (a < end - first) items[a] = coordinate(answers.grid, __ldg(answers.places + first + a), axis);
        }
#pragma unroll
        for (u32 a = 0; a < AHEAD; ++a) {
            if (a < end - first) sum = sum + (double)items[a];
        }
    }
    write_mean(answers, voxel, axis, sum, end - begin);
}

// The coordinates of the row of this lane on some axes; zeros, which change no sum, after the last.
__device__ __forceinline__ void look_at_row(const Answers& answers, u32 at, u32 end, u32 slice, real (&items)[WIDTH]) {
    u32 row = at < end ? __ldg(answers.places + at) : 0;
#pragma unroll
    for (u32 w = 0; w < WIDTH; ++w) {
        bool here = at < end && slice + w < answers.grid.dims;
        items[w] = here ? coordinate(answers.grid, row, slice + w) : (real)0;
    }
}

// By a warp.
__device__ __forceinline__ void mean_of_long(const Answers& answers, u64 voxel, u32 begin, u32 end) {
    u32 lane = threadIdx.x & 31;
    for (u32 slice = 0; slice < answers.grid.dims; slice += WIDTH) {
        double sums[WIDTH] = {};
        real items[WIDTH], next[WIDTH];
        look_at_row(answers, begin + lane, end, slice, items);
        // Rows are at most 2^30, so that no step leads beyond 32 bits.
        for (u32 first = begin; first < end; first += 32) {
            // On their way while the others are added.
            look_at_row(answers, first + 32 + lane, end, slice, next);
#pragma unroll 8
            for (u32 k = 0; k < 32; ++k) {
#pragma unroll
                for (u32 w = 0; w < WIDTH; ++w) sums[w] = sums[w] + (double)__shfl_sync(FULL, items[w], k);
            }
#pragma unroll
            for (u32 w = 0; w < WIDTH; ++w) items[w] = next[w];
        }
#pragma unroll
        for (u32 w = 0; w < WIDTH; ++w) {
            if (lane == w && slice + w < answers.grid.dims) write_mean(answers, voxel, slice + w, sums[w], end - begin);
        }
    }
}

// A block has voxels side by side, each of which goes to another warp than its neighbors: long lists often stand side by
// side, too.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_mean)(const __grid_constant__ Answers answers) {
    u32 lane = threadIdx.x & 31, lanes = 1u << answers.lanes, own = lane & (lanes - 1), each = THREADS >> answers.lanes;
    u64 step = (u64)gridDim.x * each;
    for (u64 first = (u64)blockIdx.x * each + (threadIdx.x >> 5); first < answers.room; first += step) {
        u64 voxel = first + (lane >> answers.lanes) * WARPS;
        u32 begin = 0, end = 0;
        if (voxel < answers.room) {
            begin = answers.begins[voxel], end = answers.begins[voxel + 1];
            write_voxel(answers, voxel, begin < end, begin < end ? answers.places[begin] : 0, own, lanes);
            if (end - begin <= SHORT) {
                for (u32 axis = own; axis < answers.grid.dims; axis += lanes) {
                    mean_of_short(answers, voxel, begin, end, axis);
                }
            }
        }
        u32 waiting = __ballot_sync(FULL, own == 0 && end - begin > SHORT);
        for (; waiting; waiting &= waiting - 1) {
            u32 from = __ffs(waiting) - 1;
            u32 its_begin = __shfl_sync(FULL, begin, from), its_end = __shfl_sync(FULL, end, from);
            mean_of_long(answers, first + (from >> answers.lanes) * WARPS, its_begin, its_end);
        }
    }
}

// ---------------------------------------------------------------------------------------- order of cells

// The ranges of the cells.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_box)(const __grid_constant__ Grid grid) {
    u64 row = thread_number();
    bool here = row < grid.count && is_marked(grid, (u32)row);
    u32 cloud = here ? home_of(grid, (u32)row).cloud : 0;
    for (u32 axis = 0; axis < grid.dims; ++axis) {
        i64 cell = here ? cell_on(grid, cloud, (u32)row, axis) : 0;
        i64 ends[2] = {here ? cell : NO_CELL, here ? -cell : NO_CELL};
        for (u32 e = 0; e < 2; ++e) {
            for (int step = 16; step > 0; step >>= 1) ends[e] = min(ends[e], __shfl_xor_sync(FULL, ends[e], step));
            i64* to = grid.summary + OUTSIDE + grid.dims + 2 * axis + e;
            if ((threadIdx.x & 31) == 0 && ends[e] < *(volatile i64*)to) atomicMin(to, ends[e]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_keys)(const __grid_constant__ Keys args) {
    const Grid& grid = args.answers.grid;
    u64 at = thread_number();
    if (at >= args.answers.room) return;
    u32 voxel = args.order ? args.order[at] : (u32)at, key = grid.clouds;
    if (voxel < voxels_of(args.answers)) {
        u32 row = args.answers.chosen[voxel], cloud = home_of(grid, row).cloud;
        key = args.axis == grid.dims ? cloud : (u32)cell_on(grid, cloud, row, args.axis) - (u32)args.low;
    } else if (args.axis < grid.dims) {
        key = 0;
    }
    args.keys[at] = key;
}

#ifndef FARPOINT_F64

// The sorted order becomes numbers.
extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(voxels_renumber)(const __grid_constant__ Keys args) {
    u64 at = thread_number();
    if (at < args.answers.room) ((u32*)args.answers.renumbered)[args.order[at]] = (u32)at;
}

#endif
