// Depth-first search of the box tree by a warp, around one point.
#pragma once
#include "peak/parts.cuh"

// Nodes still to open, in shared memory: level in the top bits, node below.
struct Stack {
    u32* nodes;
    u32 size;
};

constexpr u32 LEVEL_SHIFT = 28;

// Groups that a search hands out at a time: their loads wait for memory together.
constexpr u32 AT_ONCE = 2;

// Pushes the children of block `block` of a level for which `near(children, lane)` holds.
template <typename Near>
__device__ __forceinline__ void push(const Tree& tree, Stack& stack, u32 level, u32 block, Near near) {
    u32 lane = threadIdx.x & 31;
    bool hit = near(in_global(tree.levels[level].blocks)[block], lane);
    u32 hits = __ballot_sync(FULL, hit);
    if (hit) stack.nodes[stack.size + __popc(hits & ((1u << lane) - 1u))] = level << LEVEL_SHIFT | (block * 32 + lane);
    stack.size += __popc(hits);
    __syncwarp();
}

// Starts with the nodes of the top level.
template <typename Near>
__device__ __forceinline__ void begin_search(const Tree& tree, Stack& stack, Near near) {
    stack.size = 0;
    push(tree, stack, tree.height - 1, 0, near);
}

// Takes the next groups that `near` lets through, all the way down; returns how many, 0 at the
// end.
template <typename Near>
__device__ __forceinline__ u32 next_groups(const Tree& tree, Stack& stack, u32 groups[AT_ONCE], Near near) {
    while (stack.size > 0) {
        u32 top = stack.nodes[stack.size - 1], below = stack.nodes[max(stack.size, 2u) - 2];
        __syncwarp();
        if (top >> LEVEL_SHIFT == 0) {
            // Groups lie on top of the nodes that have not been opened yet.
            bool pair = stack.size > 1 && below >> LEVEL_SHIFT == 0;
            groups[0] = top;
            groups[1] = pair ? below : top;
            stack.size -= pair ? 2 : 1;
            return pair ? 2 : 1;
        }
        stack.size -= 1;
        push(tree, stack, (top >> LEVEL_SHIFT) - 1, top & ((1u << LEVEL_SHIFT) - 1u), near);
    }
    return 0;
}
