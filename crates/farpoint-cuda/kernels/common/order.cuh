// Neighbor order: points sorted along a Morton curve of cubic cells, so that 32 points in a
// row lie close together. Any order gives the same samples; a good one prunes more.
#pragma once
#include "common/batch.cuh"
#include "common/box.cuh"
#include "common/sort.cuh"

// How coordinates become a key of `bits` bits: cells of one size, each axis with as many bits
// as its extent needs.
struct Curve {
    double low[3];
    double scale;
    u32 bits[3];
    u32 most;
};

template <typename Rows>
__device__ inline Box bounds_of_part(const Rows& cloud, const Steps& rows) {
    Box b;
    for (u32 a = 0; a < 3; ++a) {
        b.low[a] = infinity();
        b.high[a] = -infinity();
    }
    for (u32 i = rows.first; i < rows.end; i += rows.step) {
        for (u32 a = 0; a < 3; ++a) {
            real x = cloud.at(i, a);
            b.low[a] = smaller(b.low[a], x);
            b.high[a] = larger(b.high[a], x);
        }
    }
    return b;
}

// The bounds of the whole cloud, in every thread. `parts` has room for one a block.
template <typename Rows>
__device__ inline Box team_bounds(Team& team, const Rows& cloud, Box* parts, Box* shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    Box mine = warp_box(bounds_of_part(cloud, team.thread_steps(cloud.length)));
    if (lane == 0) shared[warp] = mine;
    __syncthreads();
    if (warp == 0) {
        mine = warp_box(shared[lane < warps ? lane : 0]);
        if (lane == 0) parts[team.rank] = mine;
    }
    team.sync();
    mine = parts[lane < team.size ? lane : 0];
    for (u32 b = lane + 32; b < team.size; b += 32) {
        for (u32 a = 0; a < 3; ++a) {
            mine.low[a] = smaller(mine.low[a], parts[b].low[a]);
            mine.high[a] = larger(mine.high[a], parts[b].high[a]);
        }
    }
    return warp_box(mine);
}

// The finest cells for which a key of `bits` bits is enough.
__device__ inline Curve curve_over(const Box& bounds, u32 bits) {
    Curve curve;
    double extent[3], longest = 0;
    for (u32 a = 0; a < 3; ++a) {
        curve.low[a] = (double)bounds.low[a];
        extent[a] = (double)bounds.high[a] - (double)bounds.low[a];
        longest = extent[a] > longest ? extent[a] : longest;
    }
    // Without extent, or with an infinite one, all points share a cell.
    bool usable = longest > 0 && longest < 1e300;
    curve.scale = 0;
    curve.most = 0;
    for (u32 a = 0; a < 3; ++a) curve.bits[a] = 0;
    for (u32 most = usable ? min(bits, 31u) : 0; most > 0; --most) {
        double scale = (double)((1u << most) - 1) / longest;
        u32 sum = 0;
        for (u32 a = 0; a < 3; ++a) {
            curve.bits[a] = 32 - __clz((u32)(extent[a] * scale));
            sum += curve.bits[a];
        }
        if (sum <= bits) {
            curve.scale = scale;
            curve.most = most;
            break;
        }
    }
    return curve;
}

// `Key` must have room for the curve's bits.
template <typename Key>
__device__ __forceinline__ Key curve_key(const Curve& curve, real x, real y, real z) {
    u32 cell[3];
    real point[3] = {x, y, z};
    for (u32 a = 0; a < 3; ++a) {
        u32 last = (1u << curve.bits[a]) - 1u;
        cell[a] = min((u32)(((double)point[a] - curve.low[a]) * curve.scale), last);
    }
    Key key = 0;
    for (int level = (int)curve.most - 1; level >= 0; --level) {
        for (u32 a = 0; a < 3; ++a) {
            if ((u32)level < curve.bits[a]) key = key << 1 | (cell[a] >> level & 1u);
        }
    }
    return key;
}

// Where a team orders a cloud: two arrays of keys and rows to sort between, the counts of the sort
// (`sort_words` of the blocks) and room for a box a block.
struct Ordering {
    Pairs<u32> pairs[2];
    u32* digits;
    Box* parts;
};

// Rows of which the coordinates are sorted where a cloud is crowded.
constexpr u32 SAMPLE_BITS = 9, SAMPLE = 1 << SAMPLE_BITS;

union OrderShared {
    SortShared sort;
    Box bounds[MOST_WARPS];
    real sample[3][SAMPLE];
};

// A cloud of more rows is crowded if so many of 32 rows that differ are in one of 127 cells along the longest side of
// the box: some points lie far from all others, and cells of one size would leave most in a few. (An odd number: what
// lies around the middle is in one.)
constexpr u32 SMALL = 1024, CROWD = 8;

template <typename Rows>
__device__ __noinline__ bool is_crowded(const Rows& cloud, const Box& box) {
    if (cloud.length <= SMALL) return false;
    u32 row = (u32)((u64)(threadIdx.x & 31) * cloud.length / 32), cell = 0;
    real at[3];
    double side = 0;  // half of the longest: no difference of halves overflows
    for (u32 a = 0; a < 3; ++a) {
        at[a] = cloud.at(row, a);
        double half = 0.5 * box.high[a] - 0.5 * box.low[a];
        side = half > side ? half : side;
    }
    for (u32 a = 0; a < 3; ++a) cell = cell << 7 | min((u32)((0.5 * at[a] - 0.5 * box.low[a]) * (63.5 / side)), 126u);
    u32 same = __match_any_sync(FULL, cell), first = __ffs(same) - 1;
    bool differs = false;
    for (u32 a = 0; a < 3; ++a) differs |= at[a] != __shfl_sync(FULL, at[a], first);
    return __any_sync(FULL, __popc(same & __ballot_sync(FULL, differs)) >= CROWD);
}

// Sorts the coordinates of SAMPLE rows along each axis, by a block of at least as many threads.
template <typename Rows>
__device__ inline void sort_sample(const Rows& cloud, real (*sample)[SAMPLE]) {
    u32 t = threadIdx.x, row = (u32)((u64)min(t, SAMPLE - 1) * cloud.length / SAMPLE);
    for (u32 a = 0; a < 3; ++a) {
        real mine = cloud.at(row, a);
        if (t < SAMPLE) sample[a][t] = mine;
        __syncthreads();
        u32 rank = 0;
        for (u32 k = 0; k < SAMPLE; ++k) {
            real other = sample[a][k];
            rank += other < mine || (other == mine && k < t);
        }
        __syncthreads();
        if (t < SAMPLE) sample[a][rank] = mine;
    }
    __syncthreads();
}

// Along an axis, cells between sorted values: some in a row, of which a point is in number `rank`.
struct Slab {
    u32 rank, low, cells;
    real side;  // half of how long they are; below 0 for a single one
};

__device__ __forceinline__ void measure(Slab& slab, const real* sorted) {
    real half = 0.5, low = sorted[max(slab.low, 1u) - 1], high = sorted[slab.low + slab.cells - 1];
    slab.side = slab.cells > 1 ? half * high - half * low : (real)-1;
}

// Keys of some rows of a crowded cloud. As in a k-d tree, a box of cells is halved along its longest side again and
// again, whatever its place; here at quantiles of the whole cloud. A call, as it is seldom needed.
template <typename Rows, typename Value>
__device__ __noinline__ void make_crowded_keys(const Rows& cloud, u32 bits, u32* keys, Value* values, Steps rows, real (*sample)[SAMPLE]) {
    sort_sample(cloud, sample);
    for (u32 i = rows.first; i < rows.end; i += rows.step) {
        Slab slabs[3];
        for (u32 a = 0; a < 3; ++a) {
            real x = cloud.at(i, a);
            u32 rank = 0;
            for (u32 step = SAMPLE / 2; step > 0; step >>= 1) rank += sample[a][rank + step - 1] <= x ? step : 0;
            slabs[a] = {rank, 0, SAMPLE, 0};
            measure(slabs[a], sample[a]);
        }
        u32 key = 0;
        for (u32 bit = 0; bit < min(bits, 3 * SAMPLE_BITS); ++bit) {
            real x = slabs[0].side, y = slabs[1].side, z = slabs[2].side;
            u32 axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
            key <<= 1;
#pragma unroll
            for (u32 a = 0; a < 3; ++a) {
                Slab& slab = slabs[a];
                if (a != axis || slab.cells == 1) continue;
                slab.cells /= 2;
                if (slab.rank >= slab.low + slab.cells) slab.low += slab.cells, key |= 1;
                measure(slab, sample[a]);
            }
        }
        keys[i] = key;
        values[i] = (Value)i;
    }
}

// Rows above which a key of 32 bits leaves too many points to a cell, and has LOW more: 48 bits are cells
// enough for 2^32 points on a surface. No wider arrays are needed: keys are made and sorted by in two
// parts, the low bits first.
constexpr u32 WIDE = 1u << 27, LOW = 16;

// Sorts by eight bits of the keys, pass after pass; the pairs that hold the result come back.
__device__ inline void sort_keys(Team& team, Pairs<u32>& from, Pairs<u32>& to, u32 n, u32 passes, u32* digits, SortShared& shared) {
    for (u32 pass = 0; pass < passes; ++pass) {
        sort_pass(team, from, to, n, pass * 8, false, digits, shared);
        Pairs<u32> swap = from;
        from = to;
        to = swap;
    }
}

// Sorts the rows of a cloud into neighbor order; they end up in the values of pairs[0]. `cloud` is a Cloud, or
// has `at` and `length` as one.
template <typename Rows>
__device__ inline void order_cloud(Team& team, const Rows& cloud, const Ordering& ordering, OrderShared& shared) {
    Box bounds = team_bounds(team, cloud, ordering.parts, shared.bounds);
    bool crowded = is_crowded(cloud, bounds), wide = cloud.length > WIDE && !crowded;
    u32 passes = cloud.length > 1u << 16 ? 4 : 3;
    Curve curve = curve_over(bounds, passes * 8 + (wide ? LOW : 0));
    // The passes by low bits, if any, are even in number.
    bool odd = passes & 1;
    Pairs<u32> from = odd ? ordering.pairs[1] : ordering.pairs[0], to = odd ? ordering.pairs[0] : ordering.pairs[1];
    Steps rows = team.thread_steps(cloud.length);
    if (crowded) make_crowded_keys(cloud, passes * 8, from.keys, from.values, rows, shared.sample);
    for (u32 low = wide; true; low = 0) {
        for (u32 i = crowded ? rows.end : rows.first; i < rows.end; i += rows.step) {
            u32 row = wide && !low ? from.values[i] : i;
            real x = cloud.at(row, 0), y = cloud.at(row, 1), z = cloud.at(row, 2);
            from.keys[i] = !wide ? curve_key<u32>(curve, x, y, z) : (u32)(curve_key<u64>(curve, x, y, z) >> (low ? 0 : LOW));
            from.values[i] = row;
        }
        team.sync();
        sort_keys(team, from, to, cloud.length, low ? LOW / 8 : passes, ordering.digits, shared.sort);
        if (!low) return;
    }
}
