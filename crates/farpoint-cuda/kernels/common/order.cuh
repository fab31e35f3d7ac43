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

union OrderShared {
    SortShared sort;
    Box bounds[MOST_WARPS];
};

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
    bool wide = cloud.length > WIDE;
    u32 passes = cloud.length > 1u << 16 ? 4 : 3;
    Curve curve = curve_over(bounds, passes * 8 + (wide ? LOW : 0));
    // The passes by low bits, if any, are even in number.
    bool odd = passes & 1;
    Pairs<u32> from = odd ? ordering.pairs[1] : ordering.pairs[0], to = odd ? ordering.pairs[0] : ordering.pairs[1];
    Steps rows = team.thread_steps(cloud.length);
    for (u32 low = wide; true; low = 0) {
        for (u32 i = rows.first; i < rows.end; i += rows.step) {
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
