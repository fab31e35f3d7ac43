// Axis-aligned boxes: of the whole cloud, of a node of the tree, of the points of a warp.
#pragma once
#include "common/common.cuh"

struct Box {
    real low[3];
    real high[3];
};

// The box around two boxes.
__device__ __forceinline__ Box box_of_both(Box box, const Box& other) {
    for (u32 a = 0; a < 3; ++a) {
        box.low[a] = smaller(box.low[a], other.low[a]);
        box.high[a] = larger(box.high[a], other.high[a]);
    }
    return box;
}

// The box around all lanes' boxes, in every lane.
__device__ __forceinline__ Box warp_box(Box box) {
    for (int step = 16; step > 0; step >>= 1) {
        for (u32 a = 0; a < 3; ++a) {
            box.low[a] = smaller(box.low[a], __shfl_xor_sync(FULL, box.low[a], step));
            box.high[a] = larger(box.high[a], __shfl_xor_sync(FULL, box.high[a], step));
        }
    }
    return box;
}

__device__ __forceinline__ real box_gap(real low, real high, real at) {
    return larger(larger(low - at, at - high), (real)0);
}

// A lower bound of the squared distance from a point to anything in a box. It needs no slack: every computed step
// is monotone, so it is never above the computed distance to a point inside (docs/peak.md).
__device__ __forceinline__ real gap_to(const Box& box, real x, real y, real z) {
    real gx = box_gap(box.low[0], box.high[0], x);
    real gy = box_gap(box.low[1], box.high[1], y);
    real gz = box_gap(box.low[2], box.high[2], z);
    return (gx * gx + gy * gy) + gz * gz;
}

// The same from box to box.
__device__ __forceinline__ real boxes_gap(const Box& a, const Box& b) {
    real gx = larger(larger(a.low[0] - b.high[0], b.low[0] - a.high[0]), (real)0);
    real gy = larger(larger(a.low[1] - b.high[1], b.low[1] - a.high[1]), (real)0);
    real gz = larger(larger(a.low[2] - b.high[2], b.low[2] - a.high[2]), (real)0);
    return (gx * gx + gy * gy) + gz * gz;
}
