// The cloud in neighbor order: rows sorted by their keys along a Morton curve (common/order.cuh). Groups of 32 points are
// dealt out to the blocks by turns, so that each has as much to do as the others wherever the next samples lie.
#pragma once
#include "cluster/radix.cuh"
#include "common/order.cuh"

constexpr u32 PASSES = 2;  // of the sort: 16 bits are cells enough for so few points

__device__ __forceinline__ Box cloud_bounds(const Room& r, Desk& desk, Steps rows) {
    Box mine = warp_box(bounds_of_part(desk.cloud, rows));
    if (lane_id() == 0) desk.warps[warp_id()] = mine;
    __syncthreads();
    if (warp_id() == 0) {
        mine = warp_box(desk.warps[lane_id() < warp_count() ? lane_id() : 0]);
        if (lane_id() < r.blocks) *in_block(&desk.bounds[r.rank], lane_id()) = mine;
    }
    meet(r);
    return warp_box(desk.bounds[lane_id() < r.blocks ? lane_id() : 0]);
}

// Reads the points of this block, in neighbor order, and boxes its groups.
__device__ __forceinline__ void gather_points(const Room& r, Desk& desk) {
    const Cloud& cloud = desk.cloud;
    Part part = part_of(r, desk);
    Box all = {{infinity(), infinity(), infinity()}, {-infinity(), -infinity(), -infinity()}};
    for (u32 g = part.first; g < part.end; ++g) {
        u32 place = r.number(g) * 32 + lane_id(), last = cloud.length - 1;
        // The last group is filled up with its last point, as if that were chosen.
        u32 row = r.rows[g * 32 + (place > last ? last & 31 : lane_id())];
        real at[3] = {cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2)};
        Group& points = r.points[g];
        points.x[lane_id()] = at[0], points.y[lane_id()] = at[1], points.z[lane_id()] = at[2];
        points.t[lane_id()] = place > last ? (real)-1 : infinity();
        Box box = warp_box({{at[0], at[1], at[2]}, {at[0], at[1], at[2]}});
        if (lane_id() == 0) desk.groups.put(g, box);
        for (u32 a = 0; a < 3; ++a) all.low[a] = smaller(all.low[a], box.low[a]), all.high[a] = larger(all.high[a], box.high[a]);
    }
    if (lane_id() == 0) desk.parts.put(warp_id(), all);
    __syncthreads();
}

// A call, so that it has registers of its own.
__device__ __noinline__ void order_points(const Room r, Desk& desk, u32 share) {
    const Cloud& cloud = desk.cloud;
    Sorting w(r, share);
    for (u32 g = threadIdx.x; g < r.all; g += blockDim.x) desk.masks[g] = 0;
    u32 first = min(r.rank * r.slice, cloud.length), end = min(first + r.slice, cloud.length);
    Steps rows = {first + threadIdx.x, end, blockDim.x};
    Box bounds = cloud_bounds(r, desk, rows);
    // By the row that a block begins with.
    u32* keys = w.keys - first;
    u16* values = w.values - first;
    if (is_crowded(cloud, bounds)) {
        make_crowded_keys(cloud, PASSES * 8, keys, values, rows, (real(*)[SAMPLE])w.counts);
    } else {
        Curve curve = curve_over(bounds, PASSES * 8);
        for (u32 row = rows.first; row < end; row += rows.step) {
            keys[row] = curve_key<u32>(curve, cloud.at(row, 0), cloud.at(row, 1), cloud.at(row, 2));
            values[row] = (u16)row;
        }
    }
    __syncthreads();
    for (u32 pass = 0; pass < PASSES; ++pass) sort_pass(r, desk, w, end - first, r.slice, pass * 8, pass & 1, pass + 1 == PASSES);
    gather_points(r, desk);
}
