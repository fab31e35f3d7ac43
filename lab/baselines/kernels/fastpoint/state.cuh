// What the stages of FastPoint's levels share: a cloud with its index, and what is known of each point.
#pragma once
#include "common/batch.cuh"
#include "common/team.cuh"
#include "fastpoint/curve.cuh"
#include "fastpoint/walk.cuh"

// Fates of points in a pass. A point is undecided, and then taken or excluded for good.
enum Fate : u32 { UNDECIDED = 0, EXCLUDED = 1, TAKEN = 2 };

// A team's words in global memory that must be zero at launch.
struct Header {
    u32 arrivals;
    u32 raised;     // whether one of the team has given up
    u32 pending;    // groups of the pass that have undecided points
    u32 decided;    // changes whenever points are decided
    u32 seen;       // the point that was one too many
    u32 pad[27];
    // Then a count for each block.
};

// The levels of a cloud.
struct Result {
    real radii[LEVELS];  // first those wanted, then those used
    u32 levels;          // how many; 0: all samples are to be exact
};

struct State {
    Cloud cloud;
    Indexed index;
    Header* header;
    u32* counts;    // taken points of each block's part of the bitmap
    Result* result;
    u32* found;     // samples, the first of the answer
    // By place of the index: squared distance to the sample as far as it matters (below 0 for samples), fate, and
    // the point of lower row that a point waits for.
    real* distance;
    u32* fate;
    u32* witness;
    u32* list;      // groups that have undecided points
    // By row: the place, whether taken in this pass (a bit), and for the launch that fills up the distance to the
    // sample (minus infinity for samples).
    u32* place;
    u32* taken;
    real* known;
    const Guard* guard;
};

// Of a cloud with up to `rows` rows; src/approximate/fastpoint.rs computes the same sum.
__device__ inline void place_arrays(State& state, u8* memory, u32 rows) {
    u64 places = (u64)chunks_of(rows) * CHUNK;
    state.distance = (real*)cut(&memory, sizeof(real) * places);
    state.fate = (u32*)cut(&memory, sizeof(u32) * places);
    state.witness = (u32*)cut(&memory, sizeof(u32) * places);
    state.list = (u32*)cut(&memory, sizeof(u32) * (places / 32));
    state.place = (u32*)cut(&memory, sizeof(u32) * (u64)rows);
    state.taken = (u32*)cut(&memory, sizeof(u32) * (((u64)rows + 31) / 32));
}

// A point of the index. Places without one have the row NONE.
__device__ __forceinline__ Site site_at(const Indexed& index, u32 at) {
    const Group& group = in_global(index.sites)[at >> 5];
    return {group.x[at & 31], group.y[at & 31], group.z[at & 31], at, in_global(index.order)[at]};
}
