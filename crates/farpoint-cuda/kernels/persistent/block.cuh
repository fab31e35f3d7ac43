// A cloud that one block holds.
//
// Each warp offers its first points, as many as there are lanes for the offers of all warps: so ten or
// more samples come out of an exchange, where one offer of each would make three (counted: 1,024 points
// of a sphere, 8 warps, 1 to 4 offers each: 3.0, 6.4, 8.8, 10.9).
#pragma once
#include "persistent/offer.cuh"

extern __shared__ Word arena[];

// Offers of a warp, at most: with more than four an exchange takes longer than it saves.
constexpr u32 MOST_OFFERS = 4;

// The ranks of this warp's lanes by what they offer, from 0; NONE: not among the first `offers`.
struct Ranks {
    u32 mine;
    key rest;  // of all points that are not offered, the largest value, or one above it
    bool tie;  // some rank is not one lane's alone, or nothing is known of the order
};

__device__ __forceinline__ Ranks rank_lanes(const Offer& mine, u32 offers) {
    const key value = to_key(mine.best.value);
    key left = value, highest = warp_max(left), top = highest;
    u32 rank = NONE;
    for (u32 k = 0;;) {
        if (left == top) {
            rank = k;
            left = LOWEST;
        }
        if (++k == offers) break;
        top = warp_max(left);
    }
    key rest = warp_max(rank == NONE ? value : to_key(mine.bound.value));
    bool each = (u32)__popc(__ballot_sync(FULL, rank != NONE)) == offers;
    return {rank, rest, !each || top < 0 || rest == highest};
}

// This warp's offers go to its places. The place of this thread's, or NONE.
template <typename Points>
__device__ __forceinline__ u32 put_offers(Points& points, Packet* places, u32 offers) {
    Offer mine = thread_offer(points);
    Ranks ranks = rank_lanes(mine, offers);
    Candidate bound = {from_key(ranks.rest), 0u};
    if (ranks.tie) {
        // Only the first of all is offered.
        u32 lane;
        settle_tie(mine, lane, bound);
        if (lane_id() < offers) places[lane_id()] = pack(no_offer(), 0);
        __syncwarp();
        ranks.mine = lane_id() == lane ? 0u : NONE;
    }
    mine.bound = bound;
    if (ranks.mine != NONE) places[ranks.mine] = pack(mine, 0);
    return ranks.mine;
}

// As `choose`, from one offer a lane, all of different points. Coordinates of a choice are read from its
// place: that is one load, where lanes would have to send four words. `place`: of this thread's offer.
template <typename Points>
__device__ __forceinline__ void choose_from(const Cloud& cloud, const Packet* places, u32 offers, u32 place,
                                            Points& points, Progress& run) {
    Offer mine = no_offer();
    if (lane_id() < offers) mine = unpack(places[lane_id()]);
    Certainty sure = certainty(mine.bound, run);
    const Place own = {mine.best.index, mine.x, mine.y, mine.z};
    real left = mine.best.value;
    key top = warp_max(to_key(left));
    for (;;) {
        u32 equal = __ballot_sync(FULL, to_key(left) == top);
        u32 lane = highest_lane(equal);
        if (!(top > sure.limit && run.chosen < cloud.wanted && !several(equal))) {
            if (!is_next(cloud, run, sure, top, to_key(left) == top, own.index, mine.bound)) return;
            lane = lane_of_first(to_key(left), top, own.index);
        }
        sure.limit = sure.later;
        Place sample = unpack_place(places[lane]);
        if (Points::MORE) sample.index = unpack(places[lane]).best.index;
        real sample_value = from_key(top);
        real lower = lowered<Points::MORE>(cloud, left, own, sample);
        left = lane_id() == lane ? (real)-1 : lower;
        // What the next choice waits for comes first; the points are updated in its shadow.
        top = warp_max(to_key(left));
        points.update(cloud, sample);
        if (lane == place) {
            points.take(points.offered_k);
            write_sample(cloud, run.chosen, points.index(points.offered_k), sample_value);
        }
        ++run.chosen;
    }
}

// Shared memory: 2 * 32 packets, then the coordinates.
template <u32 K, bool MORE, bool EXTRA>
__device__ __forceinline__ void sample_by_block(const Batch& batch) {
    const Cloud cloud = cloud_of(batch, blockIdx.x);
    const u32 warp = threadIdx.x / 32u, warps = blockDim.x / 32u;
    const u32 each = 32u / warps < MOST_OFFERS ? 32u / warps : MOST_OFFERS;
    Packet* places = (Packet*)arena;
    Held<K, MORE, EXTRA> points;
    points.load(cloud, {warp, warps}, (real*)(places + 64));
    Progress run = begin(cloud, points);
    // One barrier an exchange: the places are used in turn, so that a fast warp does not write
    // where a slow one still reads.
    for (u32 turn = 0; !run.done; turn ^= 32u) {
        u32 rank = put_offers(points, places + turn + warp * each, each);
        __syncthreads();
        u32 place = rank == NONE ? NONE : warp * each + rank;
        choose_from(cloud, places + turn, warps * each, place, points, run);
    }
    finish_cloud(cloud_of(batch, blockIdx.x), run.chosen, run.covering, threadIdx.x, blockDim.x);
}
