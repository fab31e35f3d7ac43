// Offers, and what is chosen from them: several samples for one exchange.
//
// A group of points (those of a warp, of a block) offers its first point, and with it a bound: none
// of its other points comes before the bound. Let T be the first bound of all groups. The first of
// all offers is the next choice. Once distances are lowered to it, the first of the offers left
// is again the next choice, provided that it comes before T: all points that are not offered
// came after T when the bounds were made, and distances only fall. And so on, until an offer
// does not come before T; then the groups make new offers.
// So every thread that has read the offers knows the next choices, with their coordinates,
// without asking anyone.
//
// With G groups about 1.1 * sqrt(G) samples come out of an exchange, as many as can be drawn from G
// boxes before one is drawn twice. Counted: 1,024 points in 8 groups 3.1, 24,000 in 32 groups 6.4,
// 16,384 in 64 groups 8.9, a LiDAR scan of 124,668 in 132 groups 13.6; the first hundred samples
// of any cloud about 2.
#pragma once
#include "common/word.cuh"
#include "persistent/points.cuh"

struct Offer {
    Candidate best;   // value below 0: nothing to offer
    real x, y, z;
    Candidate bound;  // the index may be lower than that of any point: a bound too high is safe
};

__device__ __forceinline__ Offer no_offer() {
    const Candidate none = {(real)-1, NONE};
    return {none, (real)0, (real)0, (real)0, none};
}

// One offer for two groups.
__device__ __forceinline__ Offer merge(const Offer& a, const Offer& b) {
    bool a_first = !comes_before(b.best.value, b.best.index, a.best.value, a.best.index);
    Offer result = a_first ? a : b;
    // The other's best comes before its bound.
    result.bound = first(result.bound, a_first ? b.best : a.best);
    return result;
}

// The first of all lanes' offers: the lane that has it, and the bound of all the rest. True: it is a
// tie, and settle_tie has to say which lane and which bound.
__device__ __forceinline__ bool warp_offer(const Offer& mine, u32& lane, Candidate& bound) {
    key value = to_key(mine.best.value), top = warp_max(value);
    // Were two lanes to share the top, it would be the bound, too.
    key rest = warp_max(value == top ? to_key(mine.bound.value) : value);
    u32 equal = __ballot_sync(FULL, value == top);
    lane = highest_lane(equal);
    bound = {from_key(rest), 0u};
    return (several(equal) || rest == top) && top >= 0;
}

__device__ __forceinline__ void settle_tie(const Offer& mine, u32& lane, Candidate& bound) {
    key value = to_key(mine.best.value), top = warp_max(value);
    lane = lane_of_first(value, top, mine.best.index);
    Candidate left = lane == lane_id() ? mine.bound : mine.best;
    bound = {from_key(top), warp_min(to_key(left.value) == top ? left.index : NONE)};
}

// What a lane offers, in every lane; its bound is left out.
__device__ __forceinline__ Offer offer_of(const Offer& mine, u32 lane) {
    return {{__shfl_sync(FULL, mine.best.value, lane), __shfl_sync(FULL, mine.best.index, lane)},
            __shfl_sync(FULL, mine.x, lane),
            __shfl_sync(FULL, mine.y, lane),
            __shfl_sync(FULL, mine.z, lane),
            {(real)-1, NONE}};
}

// An offer as it travels: words, each with the number of the exchange.
#ifdef FARPOINT_F64
constexpr u32 WORDS = 4;
#else
constexpr u32 WORDS = 2;
#endif

struct Packet {
    Word word[WORDS];
};

// A bound in as many bits as its value: where it equals the value offered, the index follows a set
// sign bit; else the value alone, and the index is taken to be 0. No bound at all becomes one by
// the value offered, which is too high, but safe.
__device__ __forceinline__ bits pack_bound(const Offer& offer) {
    bool same = offer.bound.value == offer.best.value || offer.bound.value < (real)0;
    return same ? (bits)LOWEST | (offer.bound.index & 0x7fffffffu) : to_bits(offer.bound.value);
}

__device__ __forceinline__ Candidate unpack_bound(bits packed, real value) {
    bool same = (key)packed < 0;
    return {same ? value : from_bits(packed), same ? (u32)packed & 0x7fffffffu : 0u};
}

__device__ __forceinline__ Packet pack(const Offer& offer, u32 epoch) {
    bits value = to_bits(offer.best.value), bound = pack_bound(offer);
    bits x = to_bits(offer.x), y = to_bits(offer.y), z = to_bits(offer.z);
#ifdef FARPOINT_F64
    return {{{(u32)x, (u32)(x >> 32), offer.best.index, epoch},
             {(u32)y, (u32)(y >> 32), (u32)bound, epoch},
             {(u32)z, (u32)(z >> 32), (u32)(bound >> 32), epoch},
             {(u32)value, (u32)(value >> 32), 0u, epoch}}};
#else
    return {{{x, y, z, epoch}, {value, offer.best.index, bound, epoch}}};
#endif
}

// The point of an offer; its index is left out.
__device__ __forceinline__ Place unpack_place(const Packet& packet) {
    const Word* word = packet.word;
#ifdef FARPOINT_F64
    return {NONE, from_bits((bits)word[0].b << 32 | word[0].a), from_bits((bits)word[1].b << 32 | word[1].a),
            from_bits((bits)word[2].b << 32 | word[2].a)};
#else
    return {NONE, from_bits(word[0].a), from_bits(word[0].b), from_bits(word[0].c)};
#endif
}

__device__ __forceinline__ Offer unpack(const Packet& packet) {
    const Word* word = packet.word;
    const Place place = unpack_place(packet);
    Offer offer;
    offer.x = place.x;
    offer.y = place.y;
    offer.z = place.z;
#ifdef FARPOINT_F64
    offer.best = {from_bits((bits)word[3].b << 32 | word[3].a), word[0].c};
    offer.bound = unpack_bound((bits)word[2].c << 32 | word[1].c, offer.best.value);
#else
    offer.best = {from_bits(word[1].a), word[1].b};
    offer.bound = unpack_bound(word[1].c, offer.best.value);
#endif
    return offer;
}

// This thread's offer.
template <typename Points>
__device__ __forceinline__ Offer thread_offer(Points& points) {
    Offer mine;
    points.first_two(mine.best, mine.bound, points.offered_k);
    mine.x = *points.shelved(0, points.offered_k);
    mine.y = *points.shelved(1, points.offered_k);
    mine.z = *points.shelved(2, points.offered_k);
    return mine;
}

// How far a run has come: the same in every thread of the team.
struct Progress {
    u32 chosen;
    bool done;
    real covering;
    key stop;  // the next choice is refused unless its distance is above this
};

// Before the first exchange: with the start points, for which none is needed.
template <typename Points>
__device__ __forceinline__ Progress begin(const Cloud& cloud, Points& points) {
    u32 starts = cloud.start_count < cloud.wanted ? cloud.start_count : cloud.wanted;
    for (u32 k = 0; k < starts; ++k) {
        Place start = place_of(cloud, cloud.start(k));
        points.update(cloud, start);
        u32 row;
        if (points.has(start.index, row)) {
            points.take(row);
            write_sample(cloud, k, start.index, infinity());
        }
    }
    // Nothing covers no point, but any one sample would.
    real covering = cloud.length > 0 ? infinity() : (real)0;
    key stop = cloud.stop < (real)0 ? LOWEST : to_key(cloud.stop + (real)0);
    return {starts, cloud.wanted == 0, covering, kept(stop)};
}

// The first of the offers that a lane holds.
template <u32 COUNT>
__device__ __forceinline__ Offer front(const Offer (&offers)[COUNT]) {
    Offer mine = offers[0];
#pragma unroll
    for (u32 i = 1; i < COUNT; ++i) {
        const Offer& other = offers[i];
        if (comes_before(other.best.value, other.best.index, mine.best.value, mine.best.index)) mine = other;
    }
    return mine;
}

// Up to where choices are certain.
struct Certainty {
    u32 chosen_before;
    key last;   // the first bound of all
    key limit;  // above it a choice is certain
    key later;  // the same after the first choice
};

__device__ __forceinline__ Certainty certainty(const Candidate& bound, const Progress& run) {
    const key last = warp_max(to_key(bound.value));
    // The first of all is certain.
    return {run.chosen, last, run.stop, kept(last > run.stop ? last : run.stop)};
}

// Whether the first of the offers left is the next choice, where its value alone does not say so: `index` and
// `bound` are this lane's, `first` whether it has the largest value.
__device__ __forceinline__ bool is_next(const Cloud& cloud, Progress& run, const Certainty& sure, key top, bool first,
                                        u32 index, const Candidate& bound) {
    bool certain = run.chosen == sure.chosen_before || top > sure.last;
    if (!certain && top == sure.last && top >= 0) {
        u32 lowest = warp_min(first ? index : NONE);
        certain = lowest < warp_min(to_key(bound.value) == sure.last ? bound.index : NONE);
    }
    if (certain && (run.chosen >= cloud.wanted || top <= run.stop)) {
        run.covering = most(from_key(top), (real)0);
        run.done = true;
    }
    return certain && !run.done;
}

// Chooses from the offers, COUNT a lane, as long as the choice is certain: until one does not come
// before the first of all lanes' bounds. All warps of a team are given the same offers, and come to
// the same choices. `offers` are worn out by this.
template <u32 COUNT, typename Points>
__device__ __forceinline__ void choose(const Cloud& cloud, Offer (&offers)[COUNT], const Candidate& bound,
                                       Points& points, Progress& run) {
    Certainty sure = certainty(bound, run);
    Offer mine = front(offers);
    key value = to_key(mine.best.value), top = warp_max(value);
    for (;;) {
        u32 equal = __ballot_sync(FULL, value == top);
        u32 lane = highest_lane(equal);
        if (!(top > sure.limit && run.chosen < cloud.wanted && !several(equal))) {
            if (!is_next(cloud, run, sure, top, value == top, mine.best.index, bound)) return;
            lane = lane_of_first(value, top, mine.best.index);
        }
        sure.limit = sure.later;
        Place sample = {__shfl_sync(FULL, mine.best.index, lane), __shfl_sync(FULL, mine.x, lane),
                        __shfl_sync(FULL, mine.y, lane), __shfl_sync(FULL, mine.z, lane)};
        real sample_value = from_key(top);
#pragma unroll
        for (Offer& offer : offers) {
            Place point = {offer.best.index, offer.x, offer.y, offer.z};
            real lower = lowered<Points::MORE>(cloud, offer.best.value, point, sample);
            offer.best.value = point.index == sample.index ? (real)-1 : lower;
        }
        // What the next choice waits for comes first; the points are updated in its shadow.
        mine = front(offers);
        value = to_key(mine.best.value);
        top = warp_max(value);
        points.update(cloud, sample);
        if (sample.index == points.offered) {
            points.take(points.offered_k);
            write_sample(cloud, run.chosen, sample.index, sample_value);
        }
        ++run.chosen;
    }
}
