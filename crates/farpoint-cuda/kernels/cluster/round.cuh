// A round: the points that come before a threshold are candidates, in every block's memory. Those that are chosen are
// applied to all points; the same pass finds the next candidates.
#pragma once
#include "cluster/room.cuh"

// Points that come before it are candidates: those of a larger distance than `beta`, and of as large a one those whose
// row is below `limit`.
struct Threshold {
    real beta;
    u32 limit;

    __device__ __forceinline__ bool is_after(real t, u32 row) const { return comes_first(t, row, beta, limit); }
};

// What was chosen in the last round.
struct Fresh {
    u32 count, chunks;
};

constexpr u32 FEW = 256;  // of these, so many are tested one by one, without the boxes of chunks

// The distance of this lane's point of a group, which is `t`, after a sample. Of two candidates of a round, one may be
// chosen before the other though it comes later: then it does not count for the other (and if that is lowered by others
// meanwhile, it is the farther one).
__device__ __forceinline__ real lowered(real t, const Group& points, const Entry& sample) {
    real d = squared(points.x[lane_id()], points.y[lane_id()], points.z[lane_id()], sample.x, sample.y, sample.z);
    // Chosen points have a sign: nothing is below them.
    return sample.t >= t ? smaller(t, d) : t;
}

// Applies the listed points to a group.
__device__ __forceinline__ void apply_list(const Room& r, const Desk& desk, Part& part, u32 group) {
    Box box = desk.groups[group];
    real bound = from_bits(desk.largest[group]);
    Group& points = r.points[group];
    real t = points.t[lane_id()];
    bool some = false;
    for (u32 first = 0; first < part.count; first += 32) {
        Entry mine = r.entries()[part.near[min(first + lane_id(), part.count - 1)]];
        u32 hits = __ballot_sync(FULL, (first + lane_id() < part.count) & (gap_to(box, mine.x, mine.y, mine.z) < bound));
        some |= hits != 0;
        for (; hits; hits &= hits - 1) {
            t = lowered(t, points, r.entries()[part.near[first + __ffs(hits) - 1]]);
            hits &= hits - 1;
            // Two at a time, so that their loads wait together.
            if (hits) t = lowered(t, points, r.entries()[part.near[first + __ffs(hits) - 1]]);
        }
    }
    if (!some) return;
    points.t[lane_id()] = t;
    part.touched |= 1u << (group - part.first);
}

// Applies the listed points to all groups of a warp.
__device__ __forceinline__ void apply_to_part(const Room& r, const Desk& desk, Part& part) {
    __syncwarp();
    if (part.count > 0) {
        for (u32 g = part.first; g < part.end; ++g) apply_list(r, desk, part, g);
    }
    __syncwarp();
    part.count = 0;
}

// Lists the entries of the lanes with `near`.
__device__ __forceinline__ void list_near(const Room& r, const Desk& desk, Part& part, bool near, u32 entry) {
    u32 all = __ballot_sync(FULL, near);
    if (part.count + __popc(all) > MOST_NEAR) apply_to_part(r, desk, part);
    if (near) part.near[part.count + __popc(all & lanes_before())] = (u16)entry;
    part.count += __popc(all);
}

// Applies what was chosen in the last round to the groups of a warp.
__device__ __forceinline__ void apply_chosen(const Room& r, const Desk& desk, Part& part, const Fresh& fresh) {
    Box box = desk.parts[warp_id()];
    real bound = from_bits(warp_largest(desk.largest[min(part.first + lane_id(), part.end - 1)]));
    if (fresh.count <= FEW) {
        for (u32 first = 0; first < fresh.count; first += 32) {
            u32 k = r.fresh[min(first + lane_id(), fresh.count - 1)];
            Entry mine = r.entries()[k];
            list_near(r, desk, part, (first + lane_id() < fresh.count) & (gap_to(box, mine.x, mine.y, mine.z) < bound), k);
        }
    } else {
        for (u32 first = 0; first < fresh.chunks; first += 32) {
            u32 chunk = first + lane_id();
            u32 rest = __ballot_sync(FULL, (chunk < fresh.chunks) & (boxes_gap(desk.chunks[min(chunk, fresh.chunks - 1)], box) < bound));
            for (; rest; rest &= rest - 1) {
                u32 k = (first + __ffs(rest) - 1) * 32 + lane_id();
                Entry mine = r.entries()[k];
                list_near(r, desk, part, r.chosen[k] & (gap_to(box, mine.x, mine.y, mine.z) < bound), k);
            }
        }
    }
    apply_to_part(r, desk, part);
}

// Finds the largest distance of a group that has changed, and which of its points are candidates.
__device__ __forceinline__ bits refresh_group(const Room& r, Desk& desk, u32 group, bool changed, bool solved, const Threshold& threshold) {
    real* place = &r.points[group].t[lane_id()];
    real t = *place;
    u32 mask = desk.masks[r.number(group)];
    bits largest = desk.largest[group];
    bool chosen = solved && (mask >> lane_id() & 1) && r.chosen[desk.bases[r.number(group)] + __popc(mask & lanes_before())];
    if (chosen) *place = t = -1;
    changed |= __any_sync(FULL, chosen);
    // All lanes have read what one of them writes.
    __syncwarp();
    if (changed) {
        largest = warp_largest(t > (real)0 ? to_bits(t) : 0);
        if (lane_id() == 0) desk.largest[group] = largest;
    }
    bool in = threshold.is_after(t, r.rows[group * 32 + lane_id()]);
    u32 next = __ballot_sync(FULL, in);
    if ((next | mask) != 0 && lane_id() < r.blocks) *in_block(&desk.masks[r.number(group)], lane_id()) = next;
    return largest;
}

// Applies what was chosen in the last round, if there was one. Finds the largest distance of all points, which comes
// back, and which points of each group are candidates.
__device__ __forceinline__ real refresh(const Room& r, Desk& desk, const Fresh& fresh, const Threshold& threshold) {
    Part part = part_of(r, desk);
    bits highest = 0;
    if (fresh.count > 0 && part.first < part.end) apply_chosen(r, desk, part, fresh);
    for (u32 g = part.first; g < part.end; ++g) {
        bits largest = refresh_group(r, desk, g, part.touched >> (g - part.first) & 1, fresh.count > 0, threshold);
        highest = largest > highest ? largest : highest;
    }
    if (lane_id() == 0) desk.highest[warp_id()] = highest;
    __syncthreads();
    if (warp_id() == 0) {
        highest = warp_largest(lane_id() < warp_count() ? desk.highest[lane_id()] : 0);
        if (lane_id() < r.blocks) *in_block(&desk.tops[r.rank], lane_id()) = highest;
    }
    meet(r);
    return from_bits(warp_largest(lane_id() < r.blocks ? desk.tops[lane_id()] : 0));
}

// Numbers the candidates of all groups; how many there are comes back.
__device__ __forceinline__ u32 number_candidates(const Room& r, Desk& desk) {
    u32 each = (r.all + blockDim.x - 1) / blockDim.x, first = min(threadIdx.x * each, r.all), end = min(first + each, r.all);
    u32 count = 0, total;
    for (u32 g = first; g < end; ++g) count += __popc(desk.masks[g]);
    u32 base = sum_before(count, desk.sums, &total);
    if (total > r.room) return total;
    for (u32 g = first; g < end; ++g) {
        desk.bases[g] = (u16)base;
        base += __popc(desk.masks[g]);
    }
    __syncthreads();
    return total;
}

// Copies this block's candidates to all blocks, and boxes the chunks. The last chunk is filled up with what is not one.
__device__ __forceinline__ void share_candidates(const Room& r, Desk& desk, u32 n) {
    for (u32 g = warp_id(); g < r.groups; g += warp_count()) {
        u32 mask = desk.masks[r.number(g)];
        if ((mask >> lane_id() & 1) == 0) continue;
        u32 k = desk.bases[r.number(g)] + __popc(mask & lanes_before());
        const Group& points = r.points[g];
        Entry entry = {points.x[lane_id()], points.y[lane_id()], points.z[lane_id()], points.t[lane_id()]};
        u16 row = r.rows[g * 32 + lane_id()];
        for (u32 b = 0; b < r.blocks; ++b) {
            *in_block(&r.entries()[k], b) = entry;
            *in_block(&r.entry_rows[k], b) = row;
        }
    }
    meet(r);
    for (u32 c = warp_id(); c * 32 < n; c += warp_count()) {
        u32 k = c * 32 + lane_id();
        Entry mine = r.entries()[min(k, n - 1)];
        Box box = warp_box({{mine.x, mine.y, mine.z}, {mine.x, mine.y, mine.z}});
        if (lane_id() == 0) desk.chunks.put(c, box);
        if (k >= n) r.entries()[k].t = not_a_number(), r.chosen[k] = 0;
    }
    __syncthreads();
}
