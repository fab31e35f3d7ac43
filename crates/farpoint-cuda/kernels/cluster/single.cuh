// The start points, and the first samples one by one: a round would find too few.
#pragma once
#include "cluster/room.cuh"

// Finds the first candidate of a group, of which this lane's point has the distance `t`.
__device__ __forceinline__ void find_first(const Room& r, Desk& desk, u32 group, real t) {
    bits value = t > (real)0 ? to_bits(t) : 0;
    u32 who = warp_first(value, r.rows[group * 32 + lane_id()]).lane;
    // All lanes have read what one of them writes.
    __syncwarp();
    if (lane_id() != who) return;
    desk.largest[group] = value;
    desk.firsts[group] = (u16)(group * 32 + lane_id());
}

// Chooses the start points.
__device__ __forceinline__ void take_starts(const Room& r, Desk& desk) {
    const Cloud& cloud = desk.cloud;
    for (u32 g = warp_id(); g < r.groups; g += warp_count()) {
        u32 at = g * 32 + lane_id(), row = r.rows[at];
        Group& points = r.points[g];
        real t = points.t[lane_id()];
        for (u32 k = 0; k < cloud.start_count; ++k) {
            u32 start = cloud.start(k);
            real d = squared(r.x(at), r.y(at), r.z(at), cloud.at(start, 0), cloud.at(start, 1), cloud.at(start, 2));
            t = start == row ? (real)-1 : smaller(t, d);
        }
        points.t[lane_id()] = t;
        find_first(r, desk, g, t);
    }
    if (r.rank == 0) {
        for (u32 k = threadIdx.x; k < cloud.start_count; k += blockDim.x) write_sample(cloud, k, cloud.start(k), infinity());
    }
    __syncthreads();
}

// The first candidate of the cloud, in every thread.
__device__ __forceinline__ Pick find_next(const Room& r, Desk& desk, u32 turn) {
    Pick mine = {0, NONE, 0, 0, 0};
    for (u32 g = threadIdx.x; g < r.groups; g += blockDim.x) {
        u32 at = desk.firsts[g], row = r.rows[at];
        bits value = desk.largest[g];
        if (value > mine.value || (value == mine.value && row < mine.row)) mine = {value, row, r.x(at), r.y(at), r.z(at)};
    }
    if (lane_id() == warp_first(mine.value, mine.row).lane) desk.picks[warp_id()] = mine;
    __syncthreads();
    const Pick* picks = desk.picks;
    u32 count = warp_count();
    if (r.blocks > 1) {
        if (warp_id() == 0) {
            mine = lane_id() < count ? picks[lane_id()] : Pick{0, NONE, 0, 0, 0};
            u32 who = warp_first(mine.value, mine.row).lane;
            if (lane_id() < r.blocks) *in_block(&desk.mail[turn][r.rank], lane_id()) = picks[who];
        }
        meet(r);
        picks = desk.mail[turn];
        count = r.blocks;
    }
    mine = lane_id() < count ? picks[lane_id()] : Pick{0, NONE, 0, 0, 0};
    return picks[warp_first(mine.value, mine.row).lane];
}

// Applies a sample to the groups that it reaches.
__device__ __forceinline__ void apply_sample(const Room& r, Desk& desk, const Pick& sample) {
    for (u32 first = warp_id(); first < r.groups; first += warp_count() * 32) {
        u32 mine = first + lane_id() * warp_count();
        bool reaches = mine < r.groups &&
                       gap_to(desk.groups[min(mine, r.groups - 1)], sample.x, sample.y, sample.z) <
                           from_bits(desk.largest[min(mine, r.groups - 1)]);
        for (u32 rest = __ballot_sync(FULL, reaches); rest; rest &= rest - 1) {
            u32 group = first + (__ffs(rest) - 1) * warp_count(), at = group * 32 + lane_id();
            real* place = &r.points[group].t[lane_id()];
            real t = smaller(*place, squared(r.x(at), r.y(at), r.z(at), sample.x, sample.y, sample.z));
            if (r.rows[at] == sample.row && t >= (real)0) t = -1;
            *place = t;
            find_first(r, desk, group, t);
        }
    }
    __syncthreads();
}

// Takes samples `from..to` one by one; the number reached comes back.
__device__ __forceinline__ u32 take_singles(const Room& r, Desk& desk, u32 from, u32 to, real* last) {
    for (; from < to; ++from) {
        Pick next = find_next(r, desk, from & 1);
        real value = from_bits(next.value);
        if (!(value > (real)0) || value <= desk.cloud.stop) break;
        if (r.rank == 0 && threadIdx.x == 0) write_sample(desk.cloud, from, next.row, value);
        apply_sample(r, desk, next);
        *last = value;
    }
    return from;
}
