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

// A node of the lowest level has the rows of a cell, up to CHUNK of them; a run of rows has a node for each
// cell, and one more for each CHUNK rows, since cells may be larger. src/search/index.rs computes the same.
constexpr u32 CHUNK = 1024;
constexpr u32 RUN = 1u << 18;  // rows that are dealt to cells together

// Cells of so many rows of a run, a power of two.
__host__ __device__ inline u32 cells_of(u32 rows) {
    u32 cells = 1;
    while (cells * CHUNK < rows) cells *= 2;
    return cells;
}

__host__ __device__ inline u32 chunks_of_run(u32 rows) { return rows <= CHUNK ? 1 : rows / CHUNK + cells_of(rows); }

// Nodes of the lowest level for so many rows.
__host__ __device__ inline u32 chunks_of(u32 rows) {
    u32 whole = rows / RUN, rest = rows % RUN;
    return whole * chunks_of_run(RUN) + (rest > 0 ? chunks_of_run(rest) : 0);
}

// Bad rows have infinite coordinates here, so that no distance to them is finite, and are in no box; places
// without a row have the row NONE, too. Nodes that are not needed have empty boxes, and places that nobody has
// written.
struct Indexed {
    Group* sites;
    u32* order;     // rows
    u32* sequence;  // where rows are, one after another without the places that have none
    Tree tree;
    u32 groups;
};

// The index of cloud `b`, which has `length` rows.
__device__ __forceinline__ Indexed index_of(const Indexes& all, u32 b, u32 length) {
    u8* memory = all.memory + all.stride * b;
    u64 places = (u64)chunks_of(all.rows) * CHUNK;
    Indexed index;
    index.sites = (Group*)cut(&memory, 3 * places * sizeof(real));
    index.order = (u32*)cut(&memory, places * sizeof(u32));
    index.sequence = (u32*)cut(&memory, (u64)all.rows * sizeof(u32));
    index.groups = chunks_of(length) * 32;
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

// The tree over a cloud of y. Its shape follows from the number of groups.
struct Nodes {
    const Children* all;
    u32 groups;

    // How many nodes have children on a level.
    template <u32 LEVEL>
    __device__ __forceinline__ u32 count() const {
        return (u32)(((u64)groups + (1ull << 5 * (LEVEL + 1)) - 1) >> 5 * (LEVEL + 1));
    }

    template <u32 LEVEL>
    __device__ __forceinline__ bool has() const {
        return LEVEL == 0 || groups > 1u << 5 * LEVEL;
    }

    template <u32 LEVEL>
    __device__ __forceinline__ const Children& at(u32 node) const {
        if constexpr (LEVEL > 0) node += count<0>();
        if constexpr (LEVEL > 1) node += count<1>();
        if constexpr (LEVEL > 2) node += count<2>();
        return in_global(all)[node];
    }
};
