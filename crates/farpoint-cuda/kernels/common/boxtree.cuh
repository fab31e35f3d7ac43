// A box tree over points in neighbor order: 32 points per group, 32 groups per node, and so on, so
// that a warp tests all children of a node at once.
//
// A box bound needs no slack: every computed step of `box_distance` is monotone, so it is never
// above the computed distance to a point inside (docs/peak.md).
#pragma once
#include "common/batch.cuh"
#include "common/team.cuh"
#include "common/box.cuh"
#include "common/warp.cuh"

constexpr u32 MOST_LEVELS = 7;  // 32^7 points are more than a u32 can name
constexpr u32 STACK = 288;      // nodes waiting in a depth-first search: 31 per level, 32 in the last, some to spare

// The coordinates of 32 points: one address, and the axes at fixed distances from it.
struct Group {
    real x[32];
    real y[32];
    real z[32];
};

// Sorted points.
struct Points {
    Group* sites;
    u32* order;   // row of the input
    // Squared distance to the nearest chosen point. Chosen: minus the distance they were chosen
    // at (-0.0 for the padding of the last group). The one sign bit makes "is it chosen, and at
    // which distance" a single word, which needs no lock.
    real* distance;
    u32 length;
    u32 groups;
};

// The children of one node, side by side.
struct Children {
    real low[3][32];
    real high[3][32];
    // The largest distance of any point below that is not chosen (0 when all are); an upper
    // bound while distances are being lowered. Two copies: one is read while the other is made.
    bits largest[2][32];
};

struct Level {
    Children* blocks;  // node n is child n % 32 of block n / 32
    u32 count;
};

struct Tree {
    Level levels[MOST_LEVELS];
    u32 height;  // number of levels; the last is one block
};

// Blocks of all levels together.
__host__ __device__ inline u32 tree_blocks(u32 groups) {
    u32 blocks = 0;
    do {
        groups = (groups + 31) / 32;
        blocks += groups;
    } while (groups > 1);
    return blocks;
}

__device__ __forceinline__ Box box_of(const Children& c, u32 child) {
    return {{c.low[0][child], c.low[1][child], c.low[2][child]}, {c.high[0][child], c.high[1][child], c.high[2][child]}};
}

// A lower bound of the squared distance from a point to anything in a child's box.
__device__ __forceinline__ real box_distance(const Children& children, u32 child, real x, real y, real z) {
    return gap_to(box_of(children, child), x, y, z);
}

// A position in the sorted order together with its coordinates.
struct Site {
    real x, y, z;
    u32 at;     // position
    u32 row;    // of the input
};

__device__ __forceinline__ Site site(const Points& points, u32 at) {
    const Group& group = in_global(points.sites)[at >> 5];
    return {group.x[at & 31], group.y[at & 31], group.z[at & 31], at, in_global(points.order)[at]};
}

// Lane `from`'s site, in every lane.
__device__ __forceinline__ Site broadcast(const Site& mine, u32 from) {
    return {__shfl_sync(FULL, mine.x, from), __shfl_sync(FULL, mine.y, from), __shfl_sync(FULL, mine.z, from),
            __shfl_sync(FULL, mine.at, from), __shfl_sync(FULL, mine.row, from)};
}

// Site of a lane of a group; its row is only read for further axes.
template <bool HIGH>
__device__ __forceinline__ Site lane_site(const Points& points, u32 group, u32 lane) {
    const Group& sites = in_global(points.sites)[group];
    u32 at = group * 32 + lane;
    return {sites.x[lane], sites.y[lane], sites.z[lane], at, HIGH ? points.order[at] : NONE};
}

// The squared distance of two points. HIGH: of a cloud with more than three axes, whose further
// coordinates are read from the input.
template <bool HIGH>
__device__ __forceinline__ real site_distance(const Cloud& cloud, const Site& a, const Site& b) {
    real d = squared(a.x, a.y, a.z, b.x, b.y, b.z);
    if (HIGH) {
        for (u32 axis = 3; axis < cloud.dims; ++axis) {
            real difference = cloud.at(a.row, axis) - cloud.at(b.row, axis);
            d = d + difference * difference;
        }
    }
    return d;
}

// Writes the box of a node; the lanes after the last node fill its block up with boxes that
// nothing reaches.
__device__ __forceinline__ void store_box(const Level& level, u32 node, const Box& box) {
    u32 lane = threadIdx.x & 31;
    Children& block = level.blocks[node >> 5];
    bool filler = node + 1 == level.count && lane > (node & 31);
    if (lane == 0 || filler) {
        u32 child = filler ? lane : node & 31;
        for (u32 a = 0; a < 3; ++a) {
            block.low[a][child] = filler ? infinity() : box.low[a];
            block.high[a][child] = filler ? -infinity() : box.high[a];
        }
        block.largest[0][child] = block.largest[1][child] = filler ? 0 : to_bits(infinity());
    }
}

// Stores this lane's point of a group, and the group's box.
__device__ __forceinline__ void place_in_group(const Cloud& cloud, const Points& points, const Tree& tree, u32 g, u32 row) {
    u32 lane = threadIdx.x & 31;
    Box box;
    for (u32 a = 0; a < 3; ++a) box.low[a] = box.high[a] = cloud.at(row, a);
    points.sites[g].x[lane] = box.low[0];
    points.sites[g].y[lane] = box.low[1];
    points.sites[g].z[lane] = box.low[2];
    store_box(tree.levels[0], g, warp_box(box));
}

// Boxes each node of a level over those of the level below. Each part has upper levels of its own.
__device__ inline void build_level(const Team& team, const Level& below, const Level& level) {
    u32 lane = threadIdx.x & 31;
    for (u32 node = team.part_warp(); node < level.count; node += team.part_warps()) {
        const Children& children = below.blocks[node];
        Box box;
        for (u32 a = 0; a < 3; ++a) {
            box.low[a] = children.low[a][lane];
            box.high[a] = children.high[a][lane];
        }
        store_box(level, node, warp_box(box));
    }
}
