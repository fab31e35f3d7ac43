// The lowest row below each node of a tree that is searched. Of equals the lowest rows count, so that a box which is
// only as near as what was found, and has no lower row, is not looked into: else points that coincide would all be met.
// It lies where the trees of samples have the largest distance.
#pragma once
#include "common/boxtree.cuh"

__device__ __forceinline__ u32 lowest_below(const Children& children, u32 child) { return (u32)children.largest[0][child]; }

// Writes the lowest row below a node, after its box; NONE for what fills up its block.
__device__ __forceinline__ void store_lowest(const Level& level, u32 node, u32 row) {
    u32 lane = threadIdx.x & 31;
    Children& block = level.blocks[node >> 5];
    if (lane == (node & 31)) block.largest[0][lane] = row;
    if (node + 1 == level.count && lane > (node & 31)) block.largest[0][lane] = NONE;
}
