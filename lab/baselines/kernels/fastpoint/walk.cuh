// A warp's way through the box tree of an index.
#pragma once
#include "search/index.cuh"

// Nodes still to open are kept in shared memory, STACK of them: the level in the top bits, the node below.
constexpr u32 LEVEL_BITS = 28;

// Calls `visit(group)` for each group that `near(children, child)` lets through, as it does the nodes above; ends
// early once `visit` returns false. All lanes take part; the lanes' children differ.
template <typename Near, typename Visit>
__device__ __forceinline__ void walk(const Tree& tree, u32* stack, Near near, Visit visit) {
    u32 lane = threadIdx.x & 31, size = 0, level = tree.height, block = 0;
    while (true) {
        // The children of a node of `level`.
        level -= 1;
        bool hit = near(in_global(tree.levels[level].blocks)[block], lane);
        u32 hits = __ballot_sync(FULL, hit);
        if (hit) stack[size + __popc(hits & ((1u << lane) - 1u))] = level << LEVEL_BITS | (block * 32 + lane);
        size += __popc(hits);
        __syncwarp();
        while (size > 0 && stack[size - 1] >> LEVEL_BITS == 0) {
            if (!visit(stack[size - 1])) return;
            size -= 1;
        }
        if (size == 0) return;
        u32 top = stack[size - 1];
        size -= 1;
        __syncwarp();
        level = top >> LEVEL_BITS;
        block = top & ((1u << LEVEL_BITS) - 1u);
    }
}
