// The buckets of a cloud: what is small lies in shared memory, points and pending samples in scratch memory.
#pragma once
#include "common/batch.cuh"
#include "common/boxtree.cuh"

constexpr u32 PENDING = 32;  // samples that a bucket's list has room for, one a lane

// A sample that is to be applied to the points of a bucket.
struct alignas(4 * sizeof(real)) Pending {
    real x, y, z;
    u32 row;
};

// Numbers in shared memory for each bucket: the corners of its box, where its first point is (that of the largest
// squared distance, the lowest row among equals), and that distance; -1 once all points are chosen.
enum Number { LOW = 0, HIGH = 3, AT = 6, LARGEST = 9, NUMBERS = 10 };

// Words in shared memory for each bucket: the row of its first point, pending samples, what is counted while the tree
// is built, and the first place of its points; there is a place after the last one's.
enum Word { ROW, WAITING, COUNTED, FIRST, WORDS };

// Bytes of shared memory for each bucket; src/fps/quick.rs has the same.
constexpr u32 BUCKET_BYTES = NUMBERS * sizeof(real) + WORDS * sizeof(u32);

extern __shared__ double shared[];

struct Buckets {
    u32 count;
    // Arrays in scratch memory have this many elements, by place: coordinates, squared distances as far as pending
    // samples have been applied (-1 once chosen), and rows. Then the bucket of each row.
    u64 padded;
    real* numbers;
    Pending* pending;  // of each bucket
    real* boxes;       // of nodes, while the tree is built

    __device__ __forceinline__ Buckets(u8* scratch, u32 rows, u32 most, u32 count) : count(count) {
        padded = ((u64)rows + 63) / 64 * 64;
        pending = (Pending*)scratch;
        boxes = (real*)(pending + (u64)most * PENDING);
        numbers = boxes + (u64)most * 8;
    }

    __device__ __forceinline__ real& number(u32 which, u32 bucket) const { return ((real*)shared)[which * count + bucket]; }
    __device__ __forceinline__ u32& word(u32 which, u32 bucket) const {
        return ((u32*)((real*)shared + NUMBERS * count))[which * count + bucket];
    }
    __device__ __forceinline__ real& coordinate(u32 axis, u32 place) const { return numbers[axis * padded + place]; }
    __device__ __forceinline__ real& distance(u32 place) const { return numbers[3 * padded + place]; }
    __device__ __forceinline__ u32& row(u32 place) const { return ((u32*)(numbers + 4 * padded))[place]; }
    __device__ __forceinline__ u32& bucket(u32 row) const { return ((u32*)(numbers + 4 * padded))[padded + row]; }
};
