// All pairs, by registers: for batches of small clouds, up to three axes.
//
// Launch: THREADS threads; see `stretch_of_block` for the grid, a stretch being ROWS rows. No
// scratch.
//
// The distance of the rule takes eight operations that must not be fused. So pairs are first
// scored by three fused ones (`Filter`), which are not exact. Points are taken by tiles of 32; for
// each row the three best tiles' scores are kept, and only the best tile is looked through by the
// rule, or the two best where scores are so close that their error could hide the nearest point;
// where even the third is, the row is compared with all points (docs/chamfer.md has the bound).
// Norm 1 is cheap enough to be its own score.
#include "neighbors/matching.cuh"
#include "common/warp.cuh"

struct BruteArgs {
    Matching matching;
    u32 chunks[2];
};

constexpr u32 WARPS = 4;
constexpr u32 THREADS = WARPS * 32;
constexpr u32 LANE_ROWS = 4;               // rows of a lane
constexpr u32 ROWS = LANE_ROWS * 32;       // rows of a block; every warp has them all
constexpr u32 TILE = 32;                   // points that are one to the filter

// Scores of norm 2: half the squared distance, less half the square of the row itself, by fused
// operations in f32 around a common center.
struct Filter {
    typedef float Value;
    static constexpr u32 STAGE = 2048;  // points in shared memory at a time
    struct alignas(16) Point {
        float x, y, z;
        float half;  // half its square
    };
    struct Row {
        float x, y, z;  // negated
    };
    real center[3];

    // Somewhere in the middle of the points: the mean of 32 of them.
    __device__ __forceinline__ explicit Filter(const Cloud& targets) {
        for (u32 a = 0; a < 3; ++a) {
            u32 sample = (u32)((u64)targets.length * (threadIdx.x & 31) / 32);
            real sum = targets.length > 0 ? targets.at(sample, a) * (real)0.03125 : (real)0;
            for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(FULL, sum, step);
            center[a] = sum;
        }
    }
    __device__ __forceinline__ Point point(real x, real y, real z) const {
        float px = (float)(x - center[0]), py = (float)(y - center[1]), pz = (float)(z - center[2]);
        return {px, py, pz, 0.5f * (px * px + py * py + pz * pz)};
    }
    __device__ __forceinline__ Row row(real x, real y, real z) const {
        return {(float)(center[0] - x), (float)(center[1] - y), (float)(center[2] - z)};
    }
    static __device__ __forceinline__ float size(const Point& point) { return point.half; }
    static __device__ __forceinline__ float score(const Row& row, const Point& point) {
        return __fmaf_rn(row.x, point.x, __fmaf_rn(row.y, point.y, __fmaf_rn(row.z, point.z, point.half)));
    }
    // How much larger than the smallest score that of the nearest point may be; `half` is the
    // largest of the points'. The second term is for squares that underflow.
    static __device__ __forceinline__ float slack(const Row& row, float half) {
        float square = row.x * row.x + row.y * row.y + row.z * row.z;
        return 1.9073486328125e-6f * (square + 2 * half) + 1e-37f;
    }
};

// Scores of norm 1: the distance itself.
struct Exact {
    typedef real Value;
    static constexpr u32 STAGE = 1024;
    struct Point {
        real x, y, z;
    };
    typedef Point Row;
    __device__ __forceinline__ explicit Exact(const Cloud&) {}
    static __device__ __forceinline__ Point point(real x, real y, real z) { return {x, y, z}; }
    static __device__ __forceinline__ Row row(real x, real y, real z) { return {x, y, z}; }
    static __device__ __forceinline__ float size(const Point&) { return 0; }
    static __device__ __forceinline__ real score(const Row& row, const Point& point) {
        return distance3<Absolute>(row.x, row.y, row.z, point.x, point.y, point.z);
    }
    static __device__ __forceinline__ float slack(const Row&, float) { return -1; }  // the score is the distance
};

// f32 also where `real` is f64.
__device__ __forceinline__ float lesser(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ float greater(float a, float b) { return fmaxf(a, b); }
#ifdef FARPOINT_F64
__device__ __forceinline__ double lesser(double a, double b) { return smaller(a, b); }
__device__ __forceinline__ double greater(double a, double b) { return larger(a, b); }
#endif

// The two best tiles of a row, and how good any other may be.
template <typename Value>
struct Best {
    Value first, second, third;
    u32 tile, runner_up;

    __device__ __forceinline__ void take(Value score, u32 at) {
        bool wins = score < first, places = score < second;
        third = lesser(third, greater(second, score));
        second = lesser(second, greater(first, score));
        runner_up = wins ? tile : places ? at : runner_up;
        tile = wins ? at : tile;
        first = lesser(first, score);
    }
    // Among equals the tile that comes first.
    __device__ __forceinline__ void join(const Best& other) {
        bool wins = other.first < first || (other.first == first && other.tile < tile);
        Best top = wins ? other : *this, low = wins ? *this : other;
        bool places = low.first < top.second;
        first = top.first;
        tile = top.tile;
        second = lesser(top.second, low.first);
        runner_up = places ? low.tile : top.runner_up;
        third = places ? lesser(top.second, low.second) : lesser(top.third, low.first);
    }
};

// The points themselves, once those of the filter are done with, if they fit.
struct Raw {
    static constexpr u32 MOST = 8192 / sizeof(real);
    real x[MOST], y[MOST], z[MOST];
};

template <typename Score>
union Shared {
    typename Score::Point points[Score::STAGE];
    Best<typename Score::Value> best[WARPS][ROWS];
    Raw raw;
};

// Puts the points from `begin` on into shared memory, whole tiles of them. Returns the largest
// size of this thread's points so far.
template <typename Score>
__device__ __forceinline__ float stage(const Score& score, const Cloud& targets, u32 begin, u32 tiles,
                                       typename Score::Point* points, float largest) {
#pragma unroll 4
    for (u32 k = threadIdx.x; k < tiles * TILE; k += THREADS) {
        u32 row = min(begin + k, targets.length - 1);
        typename Score::Point point = score.point(targets.at(row, 0), targets.at(row, 1), targets.at(row, 2));
        // The last point again and again changes nothing that is found.
        points[k] = point;
        largest = fmaxf(largest, Score::size(point));
    }
    return largest;
}

// Scores this warp's rows against one tile.
template <typename Score>
__device__ __forceinline__ void score_tile(const typename Score::Row rows[LANE_ROWS], const typename Score::Point* tile,
                                           u32 at, Best<typename Score::Value> best[LANE_ROWS]) {
    typename Score::Value least[LANE_ROWS];
    typename Score::Point point = tile[0];
#pragma unroll
    for (u32 r = 0; r < LANE_ROWS; ++r) least[r] = Score::score(rows[r], point);
#pragma unroll
    for (u32 k = 1; k < TILE; ++k) {
        point = tile[k];
#pragma unroll
        for (u32 r = 0; r < LANE_ROWS; ++r) least[r] = lesser(least[r], Score::score(rows[r], point));
    }
#pragma unroll
    for (u32 r = 0; r < LANE_ROWS; ++r) best[r].take(least[r], at);
}

// A row whose nearest point is looked for by the whole warp.
struct Query {
    real x, y, z;

    template <typename Metric>
    __device__ __forceinline__ real distance(const Cloud& targets, u32 row) const {
        return distance3<Metric>(x, y, z, targets.at(row, 0), targets.at(row, 1), targets.at(row, 2));
    }
};

__device__ __forceinline__ Query broadcast(const Query& mine, u32 from) {
    return {__shfl_sync(FULL, mine.x, from), __shfl_sync(FULL, mine.y, from), __shfl_sync(FULL, mine.z, from)};
}

// The nearest of all lanes' points; `at` is NONE in lanes that have none.
__device__ __forceinline__ void warp_nearest(real mine, u32 at, real* distance, u32* nearest) {
    *distance = warp_smallest(mine);
    *nearest = warp_least(mine == *distance ? at : NONE);
}

// The nearest point in one tile.
template <typename Metric>
__device__ __forceinline__ void look_in_tile(const Cloud& targets, const Query& query, u32 tile, real* distance, u32* nearest) {
    u32 row = tile * TILE + (threadIdx.x & 31);
    bool here = row < targets.length;
    real d = here ? query.distance<Metric>(targets, row) : infinity();
    warp_nearest(d, here ? row : NONE, distance, nearest);
}

// The nearest of all points.
template <typename Metric>
__device__ __noinline__ void look_everywhere(const Cloud& targets, const Query& query, real* distance, u32* nearest) {
    real best = infinity();
    u32 at = NONE;
#pragma unroll 4
    for (u32 row = threadIdx.x & 31; row < targets.length; row += 32) {
        real d = query.distance<Metric>(targets, row);
        if (d < best || at == NONE) best = d, at = row;
    }
    warp_nearest(best, at, distance, nearest);
}

// The nearest point in a tile, for each lane a tile of its own: in shared memory, where the lanes
// begin at different banks.
template <typename Metric>
__device__ __forceinline__ void look_in_own_tile(const Raw& raw, u32 points, const Query& query, u32 tile, real* distance, u32* nearest) {
    u32 lane = threadIdx.x & 31;
#pragma unroll 8
    for (u32 k = 0; k < TILE; ++k) {
        u32 row = tile * TILE + ((lane + k) & (TILE - 1));
        if (row >= points) continue;
        real d = distance3<Metric>(query.x, query.y, query.z, raw.x[row], raw.y[row], raw.z[row]);
        if (d < *distance || (d == *distance && row < *nearest)) *distance = d, *nearest = row;
    }
}

// Which tiles of a row must be looked through.
enum Doubt { BEST, BOTH, EVERY };

// By scores that may be wrong by `slack` against each other, or are not numbers.
template <typename Value>
__device__ __forceinline__ Doubt doubt_of(const Best<Value>& best, float slack) {
    if (slack < 0 || best.second > best.first + slack) return BEST;
    return best.third > best.first + slack ? BOTH : EVERY;
}

// Looks up what the best tiles of 32 rows hold, a lane's each.
template <typename Metric>
__device__ __forceinline__ void look_in_tiles(const Cloud& targets, const Query& query, u32 tile, u32 rows, real* distance,
                                              u32* nearest) {
#pragma unroll 4
    for (u32 k = 0; k < 32; ++k) {
        if (!(rows >> k & 1)) continue;
        real d;
        u32 at;
        look_in_tile<Metric>(targets, broadcast(query, k), __shfl_sync(FULL, tile, k), &d, &at);
        bool mine = k == (threadIdx.x & 31) && (d < *distance || (d == *distance && at < *nearest));
        if (mine) *distance = d, *nearest = at;
    }
}

// Finds the nearest points of 32 rows, a lane's each, and writes them. `raw` holds all points, if
// they fit.
template <typename Metric>
__device__ __forceinline__ void finish(const Cloud& queries, const Cloud& targets, const Raw* raw, u32 row, u32 tile, u32 runner_up,
                                       Doubt doubt) {
    bool active = row < queries.length;
    if (!active) doubt = BEST;
    Query query = {0, 0, 0};
    if (active) query = {queries.at(row, 0), queries.at(row, 1), queries.at(row, 2)};
    real distance = infinity();
    u32 nearest = NONE;
    if (raw) {
        look_in_own_tile<Metric>(*raw, targets.length, query, tile, &distance, &nearest);
        if (doubt == BOTH) look_in_own_tile<Metric>(*raw, targets.length, query, runner_up, &distance, &nearest);
    } else {
        look_in_tiles<Metric>(targets, query, tile, FULL, &distance, &nearest);
        look_in_tiles<Metric>(targets, query, runner_up, __ballot_sync(FULL, doubt == BOTH), &distance, &nearest);
    }
    for (u32 left = __ballot_sync(FULL, doubt == EVERY); left; left &= left - 1) {
        u32 k = __ffs(left) - 1;
        real d;
        u32 at;
        look_everywhere<Metric>(targets, broadcast(query, k), &d, &at);
        if (k == (threadIdx.x & 31)) distance = d, nearest = at;
    }
    if (row < queries.slots) write_nearest(queries, row, active ? distance : (real)0, active ? nearest : NONE);
}

// Scores the block's rows, the same in every warp, against all points; each warp against some of
// them. Returns the size of the largest point of these.
template <typename Score>
__device__ __forceinline__ float filter(const Score& score, const Cloud& targets, const typename Score::Row rows[LANE_ROWS],
                                        typename Score::Point* points, Best<typename Score::Value> best[LANE_ROWS]) {
    u32 warp = threadIdx.x >> 5;
    float largest = 0;
    for (u32 begin = 0; begin < targets.length; begin += Score::STAGE) {
        u32 tiles = (min(Score::STAGE, targets.length - begin) + TILE - 1) / TILE, each = (tiles + WARPS - 1) / WARPS;
        __syncthreads();  // all are done with the points before
        largest = stage(score, targets, begin, tiles, points, largest);
        __syncthreads();
        for (u32 tile = warp * each; tile < min((warp + 1) * each, tiles); ++tile) {
            score_tile<Score>(rows, points + tile * TILE, begin / TILE + tile, best);
        }
    }
    for (int step = 16; step > 0; step >>= 1) largest = fmaxf(largest, __shfl_xor_sync(FULL, largest, step));
    __syncthreads();
    return largest;
}

// What all warps found for the rows of which this warp writes the answer.
template <typename Score>
__device__ __forceinline__ void join_warps(const Best<typename Score::Value> best[LANE_ROWS], Shared<Score>& shared,
                                           Best<typename Score::Value> joint[LANE_ROWS / WARPS]) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (u32 r = 0; r < LANE_ROWS; ++r) shared.best[warp][r * 32 + lane] = best[r];
    __syncthreads();
#pragma unroll
    for (u32 r = 0; r < LANE_ROWS / WARPS; ++r) {
        u32 at = (r * WARPS + warp) * 32 + lane;
        joint[r] = shared.best[0][at];
        for (u32 w = 1; w < WARPS; ++w) joint[r].join(shared.best[w][at]);
    }
    __syncthreads();
}

template <typename Score, typename Metric>
__device__ __forceinline__ void brute(const BruteArgs& args) {
    __shared__ Shared<Score> shared;
    __shared__ float sizes[WARPS];
    Stretch stretch = stretch_of_block(args.chunks);
    const Cloud queries = cloud_of(args.matching, stretch.side, stretch.pair);
    const Cloud targets = cloud_of(args.matching, stretch.side ^ 1, stretch.pair);
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = stretch.which * ROWS;
    if (first >= queries.slots) return;  // the whole block

    const Score score(targets);
    auto row_of = [&](u32 row) {
        row = min(row, queries.length - 1);
        bool any = queries.length > 0;
        return score.row(any ? queries.at(row, 0) : 0, any ? queries.at(row, 1) : 0, any ? queries.at(row, 2) : 0);
    };
    typename Score::Row rows[LANE_ROWS];
    Best<typename Score::Value> best[LANE_ROWS], joint[LANE_ROWS / WARPS];
    const typename Score::Value far = (typename Score::Value)infinity();
#pragma unroll
    for (u32 r = 0; r < LANE_ROWS; ++r) rows[r] = row_of(first + r * 32 + lane), best[r] = {far, far, far, 0, 0};
    float largest = filter<Score>(score, targets, rows, shared.points, best);
    if (lane == 0) sizes[warp] = largest;
    join_warps<Score>(best, shared, joint);
    for (u32 w = 0; w < WARPS; ++w) largest = fmaxf(largest, sizes[w]);
    bool fits = targets.length <= Raw::MOST;
    if (fits) {
#pragma unroll 4
        for (u32 k = threadIdx.x; k < targets.length; k += THREADS) {
            shared.raw.x[k] = targets.at(k, 0), shared.raw.y[k] = targets.at(k, 1), shared.raw.z[k] = targets.at(k, 2);
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 r = 0; r < LANE_ROWS / WARPS; ++r) {
        u32 row = first + (r * WARPS + warp) * 32 + lane;
        Doubt doubt = doubt_of(joint[r], Score::slack(row_of(row), largest));
        finish<Metric>(queries, targets, fits ? &shared.raw : nullptr, row, joint[r].tile, joint[r].runner_up, doubt);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) KERNEL(brute)(const BruteArgs args) { brute<Filter, Squared>(args); }
extern "C" __global__ void __launch_bounds__(THREADS, 4) KERNEL(brute_absolute)(const BruteArgs args) {
    brute<Exact, Absolute>(args);
}
