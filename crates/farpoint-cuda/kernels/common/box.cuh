// Axis-aligned boxes: of the whole cloud, of a node of the tree, of the points of a warp.
#pragma once
#include "common/common.cuh"

struct Box {
    real low[3];
    real high[3];
};

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
