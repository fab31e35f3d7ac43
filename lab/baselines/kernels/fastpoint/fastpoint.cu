// FastPoint's levels (docs/samplers.md, docs/cuda.md). The launches of a batch, in this order:
//
//   first starts    the first start of each cloud, where there are several       (here)
//   a tenth         exact samples, by any algorithm
//   index           groups of neighbors and a tree, unless the caller has it    (search/search_index.cu)
//   radii           from the distances of the first samples                       (here, curve.cuh)
//   levels          one cooperative launch, a team of blocks per cloud              (here, decide.cuh)
//   fill            exact samples from the distances that are known by then          (peak/peak.cu)
#include "fastpoint/decide.cuh"

constexpr u32 THREADS = 512;
#ifdef FARPOINT_F64
constexpr u32 OCCUPANCY = 1;
#else
constexpr u32 OCCUPANCY = 2;
#endif
constexpr u32 WARPS = THREADS / 32;

struct FastPointArgs {
    Guard guard;
    Batch batch;
    Indexes indexes;
    const float* network;  // the estimator's numbers; null for the fit
    const real* first;     // distances of the first samples, `first_slots` per cloud
    i64* first_starts;     // one per cloud
    Result* results;       // one per cloud
    u32* found;            // one per cloud
    real* known;           // `rows` per cloud
    u8* headers;           // per team
    u8* memory;            // arrays, `stride` bytes per cloud
    u64 header_stride;
    u64 stride;
    u32 first_slots;
    u32 team;              // blocks per cloud
    u32 rows;              // rows of the largest cloud
};

// Samples of the first stage, at least as many as there are inputs; with fewer there is no curve.
__device__ __forceinline__ u32 first_of(const Cloud& cloud) { return (cloud.wanted + 9) / 10; }

extern "C" __global__ void KERNEL(fastpoint_starts)(const __grid_constant__ FastPointArgs args) {
    u32 b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < args.batch.clouds) args.first_starts[b] = args.batch.starts[(i64)b * args.batch.start_count];
}

// A block per cloud.
extern "C" __global__ void __launch_bounds__(HIDDEN) KERNEL(fastpoint_radii)(const __grid_constant__ FastPointArgs args) {
    __shared__ CurveShared shared;
    Cloud cloud = cloud_of(args.batch, blockIdx.x);
    Result& result = args.results[blockIdx.x];
    u32 first = first_of(cloud);
    bool found = first >= INPUTS;
    if (found) {
        Selected selected = {args.first + (u64)args.first_slots * blockIdx.x + 1, first};
        found = find_radii(selected, cloud.wanted, cloud.length, args.network, result.radii, shared);
    }
    if (threadIdx.x == 0) result.levels = found ? LEVELS : 0;
}

struct Shared {
    u32 stacks[WARPS][STACK];
    u32 sums[WARPS];
    u32 before;
    u32 total;
};

// Nothing is known of any point, and no point is taken.
__device__ void clear(const State& state, Team& team) {
    const Indexed& index = state.index;
    // Bad rows may be in no group.
    for (u32 row = team.thread(); row < state.cloud.length; row += team.threads()) state.place[row] = 0;
    team.sync();
    for (u32 at = team.thread(); at < index.groups * 32; at += team.threads()) {
        // Groups that hold nothing have never been written: their boxes are empty.
        const Children& c = index.tree.levels[0].blocks[at >> 10];
        bool empty = c.low[0][at >> 5 & 31] > c.high[0][at >> 5 & 31];
        u32 row = empty ? NONE : index.order[at];
        state.distance[at] = infinity();
        state.fate[at] = EXCLUDED;
        if (row != NONE) state.place[row] = at;
    }
}

// Brings the distances of points within a radius of samples `from..to` of the answer up to date.
template <bool HIGH>
__device__ void apply(const State& state, const Team& team, u32 from, u32 to, real squared, Shared& shared) {
    u32 lane = threadIdx.x & 31;
    for (u32 k = from + team.warp(); k < to; k += team.warps()) {
        Site sample = site_at(state.index, state.place[(u32)state.cloud.indices[k]]);
        auto near = [&](const Children& c, u32 child) { return box_distance(c, child, sample.x, sample.y, sample.z) < squared; };
        walk(state.index.tree, shared.stacks[threadIdx.x >> 5], near, [&](u32 group) {
            Site other = site_at(state.index, group * 32 + lane);
            real* word = &in_global(state.distance)[other.at];
            // Samples have a sign: nothing is below them.
            if (other.row != NONE) {
                real d = site_distance<HIGH>(state.cloud, other, sample);
                if (d < *word) lower_shared_word(word, d);
            }
            return true;
        });
        __syncwarp();
    }
}

// Makes samples of the points to start from.
__device__ void begin(const State& state, const Team& team) {
    for (u32 k = team.thread(); k < state.cloud.start_count; k += team.threads()) {
        u32 row = state.cloud.start(k);
        write_sample(state.cloud, k, row, infinity());
        state.distance[state.place[row]] = -(real)1;
    }
}

// Which points a pass has to decide, and a list of their groups.
__device__ void open_pass(const State& state, const Team& team, real squared) {
    const Indexed& index = state.index;
    u32 lane = threadIdx.x & 31;
    for (u32 word = team.thread(); word < (state.cloud.length + 31) / 32; word += team.threads()) state.taken[word] = 0;
    for (u32 group = team.warp(); group < index.groups; group += team.warps()) {
        const Children& c = index.tree.levels[0].blocks[group >> 5];
        if (c.low[0][group & 31] > c.high[0][group & 31]) continue;
        u32 at = group * 32 + lane;
        bool open = index.order[at] != NONE && !(state.distance[at] < squared);
        state.fate[at] = open ? UNDECIDED : EXCLUDED;
        state.witness[at] = NONE;
        if (__any_sync(FULL, open) && lane == 0) state.list[atomicAdd(&state.header->pending, 1u)] = group;
    }
}

// The words of the bitmap that this block has.
struct Words {
    u32 begin, end;

    __device__ __forceinline__ Words(const State& state, const Team& team) {
        u32 words = (state.cloud.length + 31) / 32, each = (words + team.size - 1) / team.size;
        begin = min(team.rank * each, words);
        end = min(begin + each, words);
    }
};

// The sum of the numbers of this block's threads before this one, and of all of them in `total`.
__device__ __forceinline__ u32 sum_before(u32 mine, Shared& shared, u32* total) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u32 sum = warp_sum_to(mine);
    __syncthreads();
    if (lane == 31) shared.sums[warp] = sum;
    __syncthreads();
    u32 others = warp_sum_to(lane < WARPS ? shared.sums[lane] : 0);
    *total = __shfl_sync(FULL, others, WARPS - 1);
    u32 before = __shfl_sync(FULL, others, (warp + 31) & 31);
    return sum - mine + (warp == 0 ? 0 : before);
}

// Counts the points that a pass has taken, block by block.
__device__ void count_taken(const State& state, const Team& team, Shared& shared) {
    Words words(state, team);
    u32 sum = 0, total;
    for (u32 word = words.begin + threadIdx.x; word < words.end; word += THREADS) sum += __popc(__ldcg(&state.taken[word]));
    sum_before(sum, shared, &total);
    if (threadIdx.x == 0) state.counts[team.rank] = total;
}

// Points taken in the parts of the blocks before this one, and in all.
__device__ void sum_counts(const State& state, const Team& team, Shared& shared) {
    u32 before = 0, all = 0, total;
    for (u32 block = threadIdx.x; block < team.size; block += THREADS) {
        u32 count = __ldcg(&state.counts[block]);
        all += count;
        before += block < team.rank ? count : 0;
    }
    sum_before(before, shared, &total);
    before = total;
    sum_before(all, shared, &total);
    if (threadIdx.x == 0) shared.before = before, shared.total = total;
    __syncthreads();
}

// Goes through the points taken in this block's part, in order of their rows; `k` counts those of all blocks.
template <typename Each>
__device__ __forceinline__ void for_taken(const State& state, const Team& team, Shared& shared, Each each) {
    Words words(state, team);
    u32 base = shared.before;
    for (u32 first = words.begin; first < words.end; first += THREADS) {
        u32 word = first + threadIdx.x, total;
        u32 set = word < words.end ? __ldcg(&state.taken[word]) : 0;
        u32 k = base + sum_before(__popc(set), shared, &total);
        for (; set; set &= set - 1) each(k++, word * 32 + __ffs(set) - 1);
        base += total;
    }
}

// A pass that took too many: a radius that may be large enough. `seen` points were looked at until then.
__device__ __forceinline__ real larger_radius(real radius, u32 points, u32 seen) {
    double factor = sqrt((double)points / (double)max(seen, 1u));
    factor = factor < 1.01 ? 1.01 : factor > 2.0 ? 2.0 : factor;
    real next = (real)((double)radius * factor);
    return next < infinity() ? from_bits(to_bits(next) + 1) : next;
}

// Takes points no nearer than `*radius` to the `*found` samples, up to `until` samples in all; a larger radius where
// that would be more. False if numbers do not suffice for it.
template <bool HIGH>
__device__ bool take_level(const State& state, Team& team, u32 until, bool starts, real* radius, u32* found, Shared& shared) {
    while (true) {
        real squared = *radius * *radius;
        if (!(squared < infinity())) return false;
        if (starts) {
            apply<HIGH>(state, team, 0, *found, squared, shared);
            team.sync();
        }
        open_pass(state, team, squared);
        team.sync();
        if (is_absent(*state.guard, AT_BAND, team.rank)) asm volatile("exit;");
        bool lost = decide<HIGH>(state, team, squared, shared.stacks[threadIdx.x >> 5]);
        team.sync(lost);
        count_taken(state, team, shared);
        if (team.thread() == 0) state.header->pending = 0;
        team.sync();
        sum_counts(state, team, shared);
        u32 taken = shared.total, room = until > *found ? until - *found : 0, from = *found;
        if (taken <= room) {
            for_taken(state, team, shared, [&](u32 k, u32 row) {
                write_sample(state.cloud, from + k, row, infinity());
                state.distance[state.place[row]] = -(real)1;
            });
            team.sync();
            apply<HIGH>(state, team, from, from + taken, squared, shared);
            *found += taken;
            team.sync();
            return true;
        }
        for_taken(state, team, shared, [&](u32 k, u32 row) {
            if (k == room) state.header->seen = row;
        });
        team.sync();
        *radius = larger_radius(*radius, state.cloud.length, __ldcg(&state.header->seen));
    }
}

// All levels; false if numbers do not suffice for their radii.
template <bool HIGH>
__device__ bool take_levels(const State& state, Team& team, Shared& shared) {
    u64 count = state.cloud.wanted, given = state.cloud.start_count - 1;
    // A single start at row 0 is what the first pass comes by first.
    bool starts = given > 0 || state.cloud.start(0) != 0;
    u32 found = starts ? state.cloud.start_count : 0;
    double factor = 1.0;
    real last = infinity(), used[LEVELS];
    if (starts) begin(state, team);
    team.sync();
    for (u32 level = 0; level < LEVELS; ++level) {
        real predicted = state.result->radii[level], radius = (real)((double)predicted * factor);
        u32 until = (u32)(given + (level + 1) * (count - given) / LEVELS);
        if (!take_level<HIGH>(state, team, until, starts && level == 0, &radius, &found, shared)) return false;
        // No point was left as far as the last radius: above it nothing is taken.
        last = used[level] = radius < last ? radius : last;
        factor = (double)last / (double)predicted;
        factor = factor > 1.0 ? factor : 1.0;
    }
    if (team.thread() == 0) {
        for (u32 level = 0; level < LEVELS; ++level) state.result->radii[level] = used[level];
        *state.found = found;
    }
    return true;
}

// The points to start from are the sample, and nothing else is: distances to them, by all pairs.
template <bool HIGH>
__device__ void begin_exact(const State& state, Team& team) {
    const Cloud& cloud = state.cloud;
    team.sync();
    for (u32 row = team.thread(); row < cloud.length; row += team.threads()) {
        Site mine = {cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2), 0, row};
        real nearest = infinity();
        for (u32 k = 0; k < cloud.start_count; ++k) {
            u32 start = cloud.start(k);
            real d = site_distance<HIGH>(cloud, mine, {cloud.at(start, 0), cloud.at(start, 1), cloud.at(start, 2), 0, start});
            nearest = start == row ? -infinity() : d < nearest ? d : nearest;
        }
        state.known[row] = nearest;
    }
    for (u32 k = team.thread(); k < cloud.start_count; k += team.threads()) write_sample(cloud, k, cloud.start(k), infinity());
    if (team.thread() != 0) return;
    *state.found = cloud.start_count;
    state.result->levels = 0;
}

template <bool HIGH>
__device__ void sample_cloud(const State& state, Team& team, Shared& shared) {
    if (state.cloud.wanted == 0) {
        if (team.thread() == 0) *state.found = 0;
        return;
    }
    bool levels = state.result->levels > 0;
    if (levels) {
        clear(state, team);
        team.sync();
        levels = take_levels<HIGH>(state, team, shared);
    }
    if (!levels) return begin_exact<HIGH>(state, team);
    for (u32 row = team.thread(); row < state.cloud.length; row += team.threads()) {
        real distance = __ldcg(&state.distance[state.place[row]]);
        state.known[row] = distance < 0 ? -infinity() : distance;
    }
}

template <bool HIGH>
__device__ void sample_levels(const FastPointArgs& args) {
    __shared__ State state;
    __shared__ Shared shared;
    u32 teams = gridDim.x / args.team, which = blockIdx.x / args.team;
    Header* header = (Header*)(args.headers + which * args.header_stride);
    Team team(blockIdx.x % args.team, args.team, &header->arrivals, args.guard, &header->raised);
    if (is_absent(args.guard, AT_BEGIN, team.rank)) return;
    for (u32 b = which; b < args.batch.clouds; b += teams) {
        if (threadIdx.x == 0) {
            state.cloud = cloud_of(args.batch, b);
            state.index = index_of(args.indexes, b, state.cloud.length);
            state.header = header;
            state.counts = (u32*)(header + 1);
            state.result = args.results + b;
            state.found = args.found + b;
            state.guard = &args.guard;
            state.known = args.known + (u64)args.rows * b;
            place_arrays(state, args.memory + args.stride * b, args.rows);
        }
        __syncthreads();
        sample_cloud<HIGH>(state, team, shared);
        team.sync();
    }
}

__device__ __noinline__ void spoil(const Guard& guard) {
    const FastPointArgs& args = (const FastPointArgs&)guard;
    u32 teams = gridDim.x / args.team;
    spoil_clouds(args.batch, blockIdx.x / args.team, teams);
    for (u32 b = blockIdx.x / args.team; b < args.batch.clouds; b += teams) {
        if (threadIdx.x == 0) args.found[b] = NONE;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(fastpoint)(const __grid_constant__ FastPointArgs args) { sample_levels<false>(args); }
extern "C" __global__ void __launch_bounds__(THREADS, OCCUPANCY) KERNEL(fastpoint_high)(const __grid_constant__ FastPointArgs args) { sample_levels<true>(args); }
