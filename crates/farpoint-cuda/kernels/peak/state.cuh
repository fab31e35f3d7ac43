// What the stages of the peak method share: the cloud in neighbor order, the tree over it, the
// list of points accepted so far.
#pragma once
#include "common/boxtree.cuh"
#include "common/order.cuh"
#include "common/word.cuh"

#ifdef FARPOINT_F64
constexpr u32 THREADS = 512;
#else
constexpr u32 THREADS = 1024;
#endif

// A team's words in global memory that must be zero at launch.
struct Header {
    u32 arrivals;
    u32 accepted;
    u32 band[2];  // points of the band, by turns
    u32 raised;   // whether one of the team has given up
    u32 met[2];   // arrivals at the barriers of a part (deal.cuh), for each use
    u32 dealt[2]; // elements dealt to the part
    u32 overfull[2];  // whether warps have more around their points than they can list, by turns
    u32 pad[21];
    // Then two slots of mail per warp.
};

// Where the first candidate of a warp's groups is, for all blocks of its team to read (early.cuh).
struct Mail {
    Word words[sizeof(real) == 8 ? 3 : 2];
};

// A candidate for the next choice: larger values first, then lower rows.
struct alignas(16) Pick {
    bits value;  // 0: none
    u32 row;     // of the input
    u32 at;      // position in the order
};

// Points accepted in bands, in the order they were found: `key` is the inverted bits of the
// distance, so that sorting by (key, row) gives the order of choice.
struct Accepted {
    bits* key;
    u32* at;
    u32* count;
};

// Counts of the work, summed over warps if a caller wants them.
enum Counter { BANDS, BAND_POINTS, SEARCHES, NODES, LEAVES, UPDATES, COPY_NS, BUILD_NS, SINGLE_NS, SOLVE_NS,
               UPDATE_NS, SORT_NS, COUNTERS };

// An accepted point, all that the update needs of it in one load.
struct alignas(4 * sizeof(real)) Packed {
    real x, y, z, value;
};

#ifndef FARPOINT_F64
// All of it at once: others read it while it is written.
__device__ __forceinline__ void store_packed(Packed* at, const Packed& p) {
    store_word((Word*)at, {__float_as_uint(p.x), __float_as_uint(p.y), __float_as_uint(p.z), __float_as_uint(p.value)});
}

__device__ __forceinline__ Packed load_packed(const Packed* at) {
    Word word = load_word((const Word*)at);
    return {__uint_as_float(word.a), __uint_as_float(word.b), __uint_as_float(word.c), __uint_as_float(word.epoch)};
}
#else
__device__ __forceinline__ void store_packed(Packed* at, const Packed& p) { *at = p; }
#endif

#ifdef FARPOINT_SPAN
constexpr bool SPANS = true;
constexpr u32 MOST_PARTS = 4;

// What is dealt to the parts, and how many rounds that takes at most for each cut (deal.cuh).
enum Dealing { TO_ORDER = 0, TO_SORT = 1 };
constexpr u32 DEAL_ROUNDS = sizeof(bits) + sizeof(u32);

// Points of a list that are numbered across its parts' stretches.
struct Stretches {
    u32 end[MOST_PARTS];    // the numbers below are in this part or an earlier one
    u32 shift[MOST_PARTS];  // from a number to its place in the list
    __device__ __forceinline__ u32 place(u32 k) const {
        u32 p = 0;
        while (p + 1 < MOST_PARTS && k >= end[p]) ++p;
        return k + shift[p];
    }
};

// The parts of a cloud, one a GPU (parts.cuh).
struct Span {
    u64 stride;             // from a part's header to the next's
    u32 part, parts;        // this GPU's, and how many
    u32 share;              // points of each
    u32 accepted;           // as all blocks know after a band
    u32 taken[MOST_PARTS];  // of these, in each part
    u32 totals, digits;     // from a part's header to its counts of dealing and of sorting, in bytes
    Stretches fresh, members;  // the accepted points of the last band, and the points of this one
};
#else
constexpr bool SPANS = false;
#endif

constexpr u32 MOST_RUNS = 63;  // bands, or several small ones, that are sorted on their own

struct State {
    Cloud cloud;
    Points points;
    Tree tree;
    Accepted accepted;
    Packed* packed;           // of the accepted points, by their number modulo `packed_size`
    u32 packed_size;
    mutable u32 polled_at;    // when a warp of the block looked at the number of accepted points
    mutable u32 polled;       // and what it was
    u32 runs;                 // of the list of accepted points; above MOST_RUNS: too many
    u32 run_ends[MOST_RUNS];  // where each ends (sorted.cuh)
    u32* witness;   // per point: whose fate it waits for
    u32* band;      // positions of the points of the band
    Pick* best;     // per group, while samples are taken one by one: its first candidate
    Header* header;
#ifdef FARPOINT_SPAN
    Span span;
#endif
    Box* parts;  // per block
    u32* digits;    // counts of the sort
    Mail* mail;     // two slots per warp
    bits* values;   // as many distances of what is in the mail
    Box* boxes;     // of the groups of each warp
    Pairs<u32> order[2];
    Pairs<bits> sorted[2];
    u64* counters;  // or null
    u64 clock;
    const Guard* guard;
    mutable u32 waits[MOST_WARPS][3];  // one Wait per warp, for solve_band
};
static_assert(sizeof(Wait) == sizeof(u32[3]), "a Wait fits");

// Adds the time since the last lap to a counter; one thread of the whole team does.
__device__ __forceinline__ void lap(State& state, const Team& team, Counter counter) {
    if (state.counters && team.rank == 0 && threadIdx.x == 0) {
        u64 now = nanoseconds();
        atomicAdd(&state.counters[counter], now - state.clock);
        state.clock = now;
    }
}

__device__ __forceinline__ void count(const State& state, Counter counter, u32 n) {
    if (state.counters && (threadIdx.x & 31) == 0) ATOMIC(atomicAdd)(&state.counters[counter], (u64)n);
}

// Places the arrays of a cloud of up to `rows` points in a team's scratch; src/fps/peak.rs
// computes the same sum. Buffers that are dead after the ordering are used again.
__device__ inline void place_arrays(State& state, u8* scratch, u32 rows, u32 blocks) {
    u64 padded = ((u64)rows + 31) / 32 * 32;
    u32 groups = (u32)(padded / 32);
    state.parts = (Box*)cut(&scratch, sizeof(Box) * blocks);
    state.digits = (u32*)cut(&scratch, sizeof(u32) * sort_words(blocks));
    u8* space = cut(&scratch, 3 * padded * sizeof(real));
    state.points.sites = (Group*)space;
    u32* words = (u32*)cut(&scratch, 4 * padded * sizeof(u32));
    state.order[0] = {words, words + 2 * padded};
    state.order[1] = {words + padded, words + 3 * padded};
    // `build` begins the sort so that the order ends up in order[0].
    state.points.order = state.order[0].values;
    state.points.distance = (real*)words;
    state.witness = state.order[1].values;
    state.accepted.key = (bits*)cut(&scratch, padded * sizeof(bits));
    state.accepted.at = (u32*)cut(&scratch, padded * sizeof(u32));
    state.sorted[0] = {state.accepted.key, state.accepted.at};
    // The coordinates are dead once the accepted points are sorted.
    state.sorted[1] = {(bits*)space, (u32*)(space + padded * sizeof(bits))};
    // The band is listed after the boxes were needed last.
    state.boxes = (Box*)scratch;
    state.band = (u32*)cut(&scratch, padded * sizeof(u32));
    state.best = (Pick*)cut(&scratch, groups * sizeof(Pick));
#ifdef FARPOINT_F64
    state.packed = (Packed*)state.best;
    state.packed_size = max(groups / 2, 1u);
#else
    // The keys of the order are dead once it is made.
    state.packed = (Packed*)state.order[1].keys;
    state.packed_size = (u32)(padded / 4);
#endif
    Children* nodes = (Children*)cut(&scratch, (u64)tree_blocks(groups) * sizeof(Children));
    for (u32 l = 0, count = groups; l < MOST_LEVELS; ++l) {
        state.tree.levels[l].blocks = nodes;
        count = (count + 31) / 32;
        nodes += count;
        if (count <= 1) break;
    }
}

// The shape of the cloud at hand: the arrays are placed for the largest.
__device__ inline void shape_tree(State& state) {
    state.points.length = state.cloud.length;
    state.points.groups = (state.cloud.length + 31) / 32;
    u32 count = state.points.groups;
    for (u32 l = 0; l < MOST_LEVELS; ++l) {
        state.tree.levels[l].count = count;
        state.tree.height = l + 1;
        if (count <= 32) break;
        count = (count + 31) / 32;
    }
}

// The largest distance of all unchosen points, in every thread; `turn` is the current copy.
__device__ inline real largest_of_all(const Tree& tree, u32 turn) {
    const Level& top = tree.levels[tree.height - 1];
    return from_bits(warp_largest(*(volatile bits*)&top.blocks[0].largest[turn][threadIdx.x & 31]));
}
