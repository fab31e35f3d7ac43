// The peak method: thousands of samples at a time, index for index the same as one by one.
//
// One cooperative launch does everything for a batch: each cloud gets a team of blocks, and a
// team takes one cloud after another. The stages, each in its own file:
//
//   order    bounds, Morton keys, radix sort                        (common/order.cuh, common/sort.cuh)
//   tree     32 points per group, 32 groups per node, ...                (common/boxtree.cuh)
//   early    the first samples, in rounds                            (early.cuh)
//   solve    all choices within a band of distances, no barrier      (solve.cuh)
//   update   the new maxima, after a band                            (update.cuh)
//   sort     the accepted points by distance and row                 (sorted.cuh)
#include "peak/early.cuh"
#include "peak/solve.cuh"
#include "peak/sorted.cuh"
#include "peak/update.cuh"
#include "peak/deal.cuh"
#include "common/refine.cuh"

// HIGH and LARGE of the kernel. The others are modules of their own, so that a call loads only the one it runs.
#ifndef VARIANT
#define VARIANT false, false
#endif

constexpr u32 FEW_STARTS = 4;    // start points that are looked for in all rows
constexpr u32 SPREAD_SHARE = 4;  // points of a band for each that it may accept, from which on these are applied at once
constexpr u32 KEPT_SHARE = 12;   // and up to which warps keep what is around their points
constexpr u32 MANY_ROWS = 1 << 18;

struct PeakArgs {
    Guard guard;
    Batch batch;
    u8* headers;         // a Header and mail per team, zero at launch
    u8* scratch;         // arrays, `stride` bytes per team
    u64* counters;       // COUNTERS words, or null
    u64 header_stride;
    u64 stride;
    u32 team;            // blocks per cloud
    u32 rows;            // rows of the largest cloud
    u32 early;           // samples taken in rounds before the first band
    u32 list;            // after a band of up to this many accepted points, the next looks at their list
    u32 spread;          // else, up to this many, they are applied at once (solve.cuh)
    u32 refined;         // whether groups are refined (common/refine.cuh)
    double gamma;        // a band is what lies above gamma times the largest distance
    const real* known;   // squared distances to the samples that the answer already has, `rows` per cloud, minus
    const u32* found;    // infinity for those; how many of them each cloud has. Null: it has none
};

union Work {
    OrderShared order;
    Refining<THREADS> refining;
    SortShared sort;
#ifdef FARPOINT_SPAN
    DealShared deal;
#endif
    Staged staged;
    EarlyShared early;
    Tiles<THREADS> tiles;
    u32 stacks[THREADS / 32][STACK];
};

// Gathers the points in their order, and boxes each group.
__device__ void gather_groups(State& state, Team& team, Work& work, bool refined, const real* known) {
    Points& points = state.points;
    // The first thread of the block and all others go together.
    Steps all = team.thread_steps(points.length, share_of_points(state));
    for (u32 begin = all.first - threadIdx.x; begin < all.end; begin += all.step) {
        u32 at = begin + threadIdx.x;
        u32 row = refined ? refined_row(state.cloud, points, begin, work.refining) : points.order[min(at, points.length - 1)];
        if (at >> 5 >= points.groups) continue;
        // The last group is filled up with its last point, marked as chosen.
        points.order[at] = row;
        points.distance[at] = at >= points.length ? -(real)0 : known ? known[row] : infinity();
        place_in_group(state.cloud, points, state.tree, at >> 5, row);
    }
}

// The points in neighbor order, and the tree over them.
__device__ void build(State& state, Team& team, Work& work, bool refined, const real* known) {
    Cloud& cloud = state.cloud;
#ifdef FARPOINT_SPAN
    team = order_parts(state, team, work.order, work.deal);
#else
    order_cloud(team, cloud, {{state.order[0], state.order[1]}, state.digits, state.parts}, work.order);
#endif
    gather_groups(state, team, work, refined, known);
    for (u32 l = 1; l < state.tree.height; ++l) {
        team.sync();
        build_level(team, state.tree.levels[l - 1], state.tree.levels[l]);
    }
    // Where the start points went, by row; the space is the witnesses' later. A few are compared with
    // every row, rather than that all rows are written down in no order.
    u32 few = cloud.start_count <= FEW_STARTS ? cloud.start_count : 0;
    Steps all = team.thread_steps(cloud.length, share_of_points(state));
    for (u32 at = all.first; at < all.end; at += all.step) {
        u32 row = state.points.order[at];
        bool start = few == 0;
        for (u32 k = 0; k < few; ++k) start |= row == cloud.start(k);
        if (start) state.witness[row] = at;
        state.accepted.at[at] = NONE;
        if (!SPANS && at < state.packed_size) state.packed[at] = {0, 0, 0, -1};
    }
    team.sync();
}

// The threshold of the next band: below the maximum, and not below the stop distance.
__device__ __forceinline__ real next_beta(const State& state, real maximum, real gamma) {
    real beta = gamma * maximum;  // maximum is above 0
    if (!(beta < maximum)) beta = from_bits(to_bits(maximum) - 1);
    return larger(beta, state.cloud.stop);
}

// Bands are as wide as set (1 - gamma), or up to twice as wide while they hold less than `few` or `some`
// points for every warp: a band takes some time however few its points are. In large clouds, where each
// point of a band has more others around it, less is few.
__device__ __forceinline__ real next_gamma(const State& state, const Team& team, real narrow, real gamma, u32 points) {
    real few = state.cloud.length <= MANY_ROWS ? 1 : (real)0.5, some = 2 * few;
    real fill = (real)points / (real)team.warps(), width = 1 - gamma;
    width = width * (fill < few ? (real)1.5 : fill < some ? (real)1.15 : (real)0.8);
    return 1 - smaller(larger(width, 1 - narrow), 2 * (1 - narrow));
}

// The threshold that leaves some samples more than `wanted` above it, as far as the last band tells: with it the number of
// samples grew from `before` to `total`, and the threshold fell from `above` to `beta`; ln(a / b) is about
// 2 (a - b) / (a + b). 0: none, or far below.
__device__ __forceinline__ real expected_end(real above, real beta, u32 before, u32 total, u32 wanted) {
    if (total == before || total >= wanted) return 0;
    real first = (real)before, last = (real)total, end = (real)wanted + (real)(wanted / 32);
    real fall = (above - beta) * (last + first) * (end - last), over = (above + beta) * (last - first) * (end + last);
    return fall < over ? beta * (over - fall) / (over + fall) : (real)0;
}

// Whether points accepted in a band are applied to it at once, by the number accepted in the last one: where
// these are few, or the band has many points for each.
__device__ __forceinline__ bool spreads(const PeakArgs& args, u32 accepted, u32 points) {
    return accepted <= (args.spread > 0 ? max(args.spread, points / SPREAD_SHARE) : 0);
}

// After a band with more accepted points than this, each looks for the groups it reaches; of fewer, each
// group looks for those that reach it.
__device__ __forceinline__ u32 most_gathered(const Team& team) { return team.size > 32 ? 1000 : team.size > 4 ? 200 : 5000; }

// Chooses band after band until there are enough, the first above `beta`; of `total` samples, `before` were not chosen in
// rounds. Returns the number of samples, possibly more than wanted, and the largest distance left.
template <bool HIGH, bool LARGE>
__device__ u32 take_bands(State& state, Team& team, Work& work, const PeakArgs& args, u32 before, u32 total, const Early& early, real beta, real* maximum) {
    Cloud& cloud = state.cloud;
    Stack stack = {work.stacks[threadIdx.x >> 5], 0};
    real gamma = (real)args.gamma, above = infinity();
    // What the list has from `sorted` on is sorted together with points to come.
    u32 last = total, sorted = before, turn = 0;
    while (true) {
        *maximum = largest_of_all(state.tree, turn);
        bool done = total == cloud.length || *maximum <= cloud.stop;
        if (done || (total >= cloud.wanted && *maximum < early.low)) {
            end_run<THREADS>(state, total - sorted);
            return total;
        }
        if (*maximum == (real)0) {
            accept_duplicates(state, team);
            team.sync();
            u32 all = before + count_accepted(state);
            end_run<THREADS>(state, all - sorted);
            return all;
        }
        // Lists of other GPUs' points would take longer to look through.
        bool listed = !SPANS && total - last <= args.list;
        u32 points = count_members(state, turn), from = total - before;
        clear_turn(state, team, turn ^ 1);
        u32 fresh = 0;
        bool scattered = false;
        if (points > 0) {
            if (is_absent(args.guard, AT_BAND, team.rank)) asm volatile("exit;");
            // Where many points of a band are left for each that will be accepted, lists would be too long.
            bool kept = !listed && points <= KEPT_SHARE * (total - last);
            Band band = {beta, turn, points, *maximum, listed ? from : NONE, !listed && spreads(args, total - last, points), kept};
            bool lost = solve_band<HIGH, LARGE>(state, team, stack, band);
            team.sync(lost);
            lap(state, team, SOLVE_NS);
            u32 now = before + count_accepted(state);
            fresh = now - total;
            if (beta < early.low || now == cloud.length) {
                end_run<THREADS>(state, now - sorted);
                if (now > cloud.wanted || now == cloud.length) return now;
                sorted = now;
            }
            scattered = fresh > most_gathered(team);
            if (scattered) {
                scatter<HIGH>(state, team, stack, accepted_from(state, from), fresh, turn);
                team.sync();
            }
            last = total;
            total = now;
            gamma = next_gamma(state, team, (real)args.gamma, gamma, points);
            // Nothing lies above the band that is done.
            real end = above < infinity() ? expected_end(above, beta, last, total, cloud.wanted) : (real)0;
            above = beta;
            beta = next_beta(state, beta, gamma);
            // The last band is as wide as it must be, or a little wider, rather than that a narrow one follows.
            if (end > (real)0.85 * beta && end < above) beta = larger(end, state.cloud.stop);
        } else {
            beta = next_beta(state, *maximum, gamma);
        }
        if (points == 0) team.sync();
        turn ^= 1;
        refresh<HIGH>(state, team, accepted_from(state, from), scattered ? 0 : fresh, turn, beta, work.staged, from);
        team.sync();
        lap(state, team, UPDATE_NS);
        if (team.rank == 0 && threadIdx.x < 32) count(state, BANDS, 1), count(state, BAND_POINTS, points);
    }
}

// The bits that any thread of the team has, in every thread.
__device__ bits bits_of_team(const State& state, Team& team, bits mine) {
    for (int step = 16; step > 0; step >>= 1) mine |= __shfl_xor_sync(FULL, mine, step);
    bits* parts = (bits*)state.parts;
    if (threadIdx.x == 0) parts[team.rank] = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 0 && mine) atomicOr(&parts[team.rank], mine);
    team.sync();
    mine = 0;
    for (u32 b = threadIdx.x & 31; b < team.size; b += 32) mine |= *(volatile bits*)&parts[b];
    for (int step = 16; step > 0; step >>= 1) mine |= __shfl_xor_sync(FULL, mine, step);
    return mine;
}

// Sorts pairs by key, then by value, which is below `length`. `differ`: which bits of the keys differ at all; the
// others need no pass. The pairs that hold the result come back.
__device__ Pairs<bits> sort_pairs(Team& team, Pairs<bits> from, Pairs<bits> to, u32 n, u32 length, bits differ, u32* digits, SortShared& shared) {
    const u32 by_value = sizeof(u32), passes = by_value + sizeof(bits);
#pragma unroll 1
    for (u32 pass = 0; pass < passes; ++pass) {
        u32 shift = (pass < by_value ? pass : pass - by_value) * 8;
        if (pass < by_value ? (length - 1) >> shift == 0 : (differ >> shift & 255) == 0) continue;
        sort_pass(team, from, to, n, shift, pass < by_value, digits, shared);
        Pairs<bits> swap = from;
        from = to;
        to = swap;
    }
    return from;
}

#ifdef FARPOINT_SPAN
// Sorts the accepted points into the order of choice, each part its own; a call, as `order_parts`.
__device__ __noinline__ Pairs<bits> sort_parts(State& state, Team& team, Work& work, u32 n) {
    const Span& span = state.span;
    u32 begin = span.part * span.share;
    Pairs<bits> from = {state.accepted.key + begin, state.accepted.at + begin}, dealt = spaced_pairs(state, n);
    Steps mine = {team.part_thread(), span.taken[span.part], team.part_threads()};
    number_accepted(state);
    bits differ = 0, some = state.accepted.key[span.fresh.place(0)];
    for (u32 k = mine.first; k < mine.end; k += mine.step) {
        from.values[k] = state.points.order[from.values[k]];
        differ |= from.keys[k] ^ some;
    }
    differ = bits_of_team(state, team, differ);
    u32 each = dealt.share;
    deal(state, team, from, mine, dealt, n, each, TO_SORT, work.deal);
    Team own = team_of_part(state, team, TO_SORT);
    u32 first = (u32)min((u64)span.part * each, (u64)n), count = min(each, n - first);
    Pairs<bits> to = {&dealt.key(first), &dealt.value(first)};
    bool here = sort_pairs(own, to, from, count, state.cloud.length, differ, digits_of(state), work.sort).keys == to.keys;
    team.sync();
    return here ? dealt : Pairs<bits>{state.accepted.key, state.accepted.at, each, span.share - each, span.share - each};
}

__device__ __forceinline__ Pairs<bits> sort_accepted(State& state, Team& team, Work& work, u32 n) {
    Team sorting = team;
    Pairs<bits> sorted = sort_parts(state, sorting, work, n);
    team = sorting;
    return sorted;
}
#else
// Sorts the accepted points into the order of choice.
__device__ Pairs<bits> sort_accepted(State& state, Team& team, Work& work, u32 n) {
    Pairs<bits> from = state.sorted[0];
    bits differ = 0;
    for (u32 k = team.thread(); k < n; k += team.threads()) {
        from.values[k] = state.points.order[from.values[k]];
        differ |= from.keys[k] ^ from.keys[0];
    }
    differ = bits_of_team(state, team, differ);
    return sort_pairs(team, from, state.sorted[1], n, state.cloud.length, differ, state.digits, work.sort);
}
#endif

template <bool HIGH, bool LARGE>
__device__ void sample_cloud(State& state, Team& team, Work& work, const PeakArgs& args, const real* known, u32* epoch) {
    Cloud& cloud = state.cloud;
    if (cloud.wanted == 0) {
        finish_cloud(cloud, 0, cloud.length > 0 ? infinity() : (real)0, team.thread(), team.threads());
        return;
    }
    build(state, team, work, args.refined, known);
    u32 before = cloud.start_count, starts = known ? 0 : before;
    for (u32 k = team.thread(); k < starts; k += team.threads()) write_sample(cloud, k, cloud.start(k), infinity());
    clear_turn(state, team, 0);
    lap(state, team, BUILD_NS);
    Early early = take_early<HIGH>(state, team, work.early, starts, cloud.wanted > before ? min(args.early, cloud.wanted - before) : 0, epoch);
    real beta = next_beta(state, early.bound, (real)args.gamma);
    team.sync();
    // Before any block goes on to accept more.
    u32 total = before + count_accepted(state);
    refresh<HIGH>(state, team, nullptr, 0, 0, beta, work.staged);
    team.sync();
    lap(state, team, SINGLE_NS);
    real covering;
    total = take_bands<HIGH, LARGE>(state, team, work, args, before, total, early, beta, &covering);
    __syncthreads();
    bool told = !SPANS && state.runs <= MOST_RUNS && total > before;
    if (told) write_accepted<THREADS>(state, team, work.tiles, before);
    if (told && total == cloud.length) covering = (real)0;
    __syncthreads();
    if (told && total > cloud.wanted) state.cloud.covering = nullptr;
    __syncthreads();
    if (!told && total > before) {
        Pairs<bits> sorted = sort_accepted(state, team, work, total - before);
        Steps all = team.thread_steps(min(total, cloud.wanted) - before);
        for (u32 k = all.first; k < all.end; k += all.step) {
            write_sample(cloud, before + k, sorted.value(k), from_bits(~sorted.key(k)));
        }
        if (total > cloud.wanted) covering = from_bits(~sorted.key(cloud.wanted - before));
        else if (total == cloud.length) covering = (real)0;
    }
    finish_cloud(cloud, min(total, cloud.wanted), covering, team.thread(), team.threads());
    lap(state, team, SORT_NS);
}

// Goes on from so many samples. NONE: who was to find them has given up, and so there is no answer.
__device__ __forceinline__ void resume(Cloud& cloud, u32 found) {
    cloud.start_count = found;
    if (found == NONE) cloud.wanted = 0;
}

#ifdef FARPOINT_SPAN
// One cloud on several GPUs: each gets this with its own `part`.
struct SpanArgs {
    PeakArgs peak;       // one cloud, one team, of the blocks of all GPUs; `headers` is the first part's
    u64 own_stride;      // from a part's header to the next's, each followed by a copy of the upper levels
    u32 part;
    u32 parts;
};

template <bool HIGH, bool LARGE>
__device__ void peak(const SpanArgs& span) {
    __shared__ State state;
    __shared__ Work work;
    const PeakArgs& args = span.peak;
    Header* header = (Header*)args.headers;
    Team team(span.part * gridDim.x + blockIdx.x, args.team, &header->arrivals, args.guard, &header->raised);
    team.part = span.part;
    team.parts = span.parts;
    if (is_absent(args.guard, AT_BEGIN, team.rank)) return;
    if (threadIdx.x == 0) {
        state.mail = (Mail*)(header + 1);
        state.values = (bits*)(state.mail + 2 * team.warps());
        place_arrays(state, args.scratch, args.rows, args.team);
        state.header = header;
        state.span = {span.own_stride, span.part, span.parts};
        place_own(state, (u8*)header_of(state, span.part), args.team, args.rows);
        state.guard = &args.guard;
        state.counters = args.counters;
        state.clock = nanoseconds();
        state.polled = state.polled_at = 0;
        state.cloud = cloud_of(args.batch, 0);
        shape_tree(state);
        cut_cloud(state, team);
        state.accepted.count = &header_of(state, span.part)->accepted;
    }
    u32 epoch = 2;
    __syncthreads();
    sample_cloud<HIGH, LARGE>(state, team, work, args, nullptr, &epoch);
}

__device__ __noinline__ void spoil(const Guard& guard) { spoil_clouds(((const PeakArgs&)guard).batch, 0, 1); }

extern "C" __global__ void __launch_bounds__(THREADS, 1) KERNEL(peak)(const __grid_constant__ SpanArgs args) { peak<VARIANT>(args); }
#else
template <bool HIGH, bool LARGE>
__device__ void peak(const PeakArgs& args) {
    __shared__ State state;
    __shared__ Work work;
    u32 teams = gridDim.x / args.team, which = blockIdx.x / args.team;
    // Blocks beyond the last whole team have nothing to do.
    if (which >= teams) return;
    Header* header = (Header*)(args.headers + which * args.header_stride);
    Team team(blockIdx.x % args.team, args.team, &header->arrivals, args.guard, &header->raised);
    if (is_absent(args.guard, AT_BEGIN, team.rank)) return;
    if (threadIdx.x == 0) {
        state.mail = (Mail*)(header + 1);
        state.values = (bits*)(state.mail + 2 * team.warps());
        place_arrays(state, args.scratch + which * args.stride, args.rows, args.team);
        state.header = header;
        state.guard = &args.guard;
        state.accepted.count = &header->accepted;
        state.counters = args.counters;
        state.clock = nanoseconds();
    }
    u32 epoch = 2;
    for (u32 b = which; b < args.batch.clouds; b += teams) {
        if (threadIdx.x == 0) {
            state.cloud = cloud_of(args.batch, b);
            if (args.found) resume(state.cloud, args.found[b]);
            shape_tree(state);
            if (team.rank == 0) header->accepted = 0;
            state.polled = state.polled_at = 0;
            state.runs = 0;
        }
        __syncthreads();
        const real* known = args.known ? args.known + (u64)b * args.rows : nullptr;
        sample_cloud<HIGH, LARGE>(state, team, work, args, known, &epoch);
        team.sync();
    }
}

__device__ __noinline__ void spoil(const Guard& guard) {
    const PeakArgs& args = (const PeakArgs&)guard;
    spoil_clouds(args.batch, blockIdx.x / args.team, gridDim.x / args.team);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) KERNEL(peak)(const __grid_constant__ PeakArgs args) { peak<VARIANT>(args); }
#endif
