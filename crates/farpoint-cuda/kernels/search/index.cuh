// An index: a cloud's points in groups of 32 neighbors, and a box tree over the groups. One per cloud of a
// batch; src/search/index.rs computes its size.
#pragma once
#include "common/boxtree.cuh"
#include "common/team.cuh"

// The indexes of the clouds of one side, `stride` bytes apart, each with room for `rows` rows.
struct Indexes {
    u8* memory;
    u64 stride;
    u32 rows;
};

// Bad rows have infinite coordinates here, so that no distance to them is finite, and are in no box; places
// past the end have the row NONE, too.
struct Indexed {
    Group* sites;
    u32* order;   // rows, ascending within a group
    Tree tree;
    u32 groups;
};

// The index of cloud `b`, which has `length` rows.
__device__ __forceinline__ Indexed index_of(const Indexes& all, u32 b, u32 length) {
    u8* memory = all.memory + all.stride * b;
    u64 padded = ((u64)all.rows + 31) / 32 * 32;
    Indexed index;
    index.sites = (Group*)cut(&memory, 3 * padded * sizeof(real));
    index.order = (u32*)cut(&memory, padded * sizeof(u32));
    index.groups = (length + 31) / 32;
    Children* nodes = (Children*)memory;
    u32 count = index.groups;
    for (u32 l = 0; l < MOST_LEVELS; ++l) {
        index.tree.levels[l] = {nodes, count};
        index.tree.height = l + 1;
        if (count <= 32) break;
        count = (count + 31) / 32;
        nodes += count;
    }
    return index;
}
