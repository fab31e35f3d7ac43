// The parameter of the kernels: a batch of clouds in device memory, and where the answer goes.
// `struct Batch` in src/fps/batch.rs mirrors this one field by field.
#pragma once
#include "common/common.cuh"

struct Batch {
    // Coordinates: axis `a` of row `i` of the batch is points[i * row_stride + a * axis_stride].
    const real* points;
    i64 row_stride;
    i64 axis_stride;
    u32 dims;
    u32 clouds;
    // Rows. Cloud b begins at row offsets[b] (or b * rows), and has lengths[b] rows, held within 0 and
    // `rows` (or offsets[b + 1] - offsets[b], or `rows`).
    const i64* offsets;
    const i64* lengths;
    i64 rows;
    // Samples wanted of cloud b: samples[b] (or `wanted`); written from slot[b] (or
    // b * wanted) on. Slots without a sample are filled with index -1, value 0.
    const i64* samples;
    const i64* slots;
    i64 wanted;
    // Rows to start from, `start_count` per cloud (counted within the cloud); row 0 when null.
    const i64* starts;
    u32 start_count;
    // Stop once the next squared distance is not above this; negative: never.
    real stop;
    // The answer: indices within the cloud, squared selection distances (or null), squared
    // covering radius per cloud (or null), samples chosen per cloud (or null).
    i64* indices;
    real* values;
    real* covering;
    i64* chosen;
};

// A length that was given, held within the rows of a cloud.
__device__ __forceinline__ i64 held_within(i64 length, i64 rows) {
    return length < 0 ? 0 : length < rows ? length : rows;
}

// One cloud of a batch.
struct Cloud {
    const real* points;
    i64 row_stride;
    i64 axis_stride;
    u32 dims;
    u32 length;
    u32 wanted;       // at most `length`
    u32 slots;        // what the answer has room for; those past `wanted` are filled with -1
    const i64* starts;
    u32 start_count;  // at least 1 unless wanted is 0
    real stop;
    i64* indices;
    real* values;
    real* covering;
    i64* chosen;

    __device__ __forceinline__ real at(u32 row, u32 axis) const {
        return axis < dims ? points[(i64)row * row_stride + (i64)axis * axis_stride] : (real)0;
    }
    __device__ __forceinline__ u32 start(u32 k) const { return starts ? (u32)starts[k] : 0u; }
};

__device__ __forceinline__ Cloud cloud_of(const Batch& batch, u32 b) {
    i64 begin = batch.offsets ? batch.offsets[b] : (i64)b * batch.rows;
    i64 length = batch.lengths ? held_within(batch.lengths[b], batch.rows)
               : batch.offsets ? batch.offsets[b + 1] - begin
                               : batch.rows;
    i64 slots = batch.samples ? batch.samples[b] : batch.wanted;
    i64 slot = batch.slots ? batch.slots[b] : (i64)b * batch.wanted;
    Cloud cloud;
    cloud.points = batch.points + begin * batch.row_stride;
    cloud.row_stride = batch.row_stride;
    cloud.axis_stride = batch.axis_stride;
    cloud.dims = batch.dims;
    cloud.length = (u32)length;
    cloud.wanted = (u32)(slots < length ? slots : length);
    cloud.slots = (u32)slots;
    cloud.starts = batch.starts ? batch.starts + (i64)b * batch.start_count : nullptr;
    cloud.start_count = batch.starts ? batch.start_count : 1u;
    cloud.stop = batch.stop;
    cloud.indices = batch.indices + slot;
    cloud.values = batch.values ? batch.values + slot : nullptr;
    cloud.covering = batch.covering ? batch.covering + b : nullptr;
    cloud.chosen = batch.chosen ? batch.chosen + b : nullptr;
    return cloud;
}

// Writes sample `k` of a cloud.
__device__ __forceinline__ void write_sample(const Cloud& cloud, u32 k, u32 index, real value) {
    cloud.indices[k] = (i64)index;
    if (cloud.values) cloud.values[k] = value;
}

// Fills the slots from `chosen` on, by `threads` threads of which this is `thread`, and writes
// the covering radius and the number chosen.
__device__ __forceinline__ void finish_cloud(const Cloud& cloud, u32 chosen, real covering, u32 thread, u32 threads,
                                             real unused = 0) {
    for (u32 k = chosen + thread; k < cloud.slots; k += threads) {
        cloud.indices[k] = -1;
        if (cloud.values) cloud.values[k] = unused;
    }
    if (thread == 0) {
        if (cloud.covering) *cloud.covering = covering;
        if (cloud.chosen) *cloud.chosen = (i64)chosen;
    }
}

// Overwrites the answer of the clouds first, first + step, ... with what no run gives, by one block.
__device__ inline void spoil_clouds(const Batch& batch, u32 first, u32 step) {
    for (u32 b = first; b < batch.clouds; b += step) {
        finish_cloud(cloud_of(batch, b), 0, not_a_number(), threadIdx.x, blockDim.x, not_a_number());
    }
}
