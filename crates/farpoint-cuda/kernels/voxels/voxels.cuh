// The parameters of the kernels for voxels: a batch of clouds in device memory, the grid, scratch memory and where
// the answers go. src/voxels/parameter.rs mirrors these structures field by field.
//
// Coordinates are last in each of them, so that kernels that read none are compiled for f32 only and take both.
#pragma once
#include "values/rows.cuh"

constexpr u32 MOST_DIMS = 16;

struct Grid {
    // Coordinates: axis `a` of row `i` of the batch is points[i * row_stride + a * axis_stride].
    const real* points;
    i64 row_stride;
    i64 axis_stride;
    // Rows. Cloud b begins at row offsets[b] (or b * rows), and has lengths[b] rows (or offsets[b + 1] - offsets[b],
    // or `rows`).
    const i64* offsets;
    const i64* lengths;
    real* origins;         // of each cloud, `dims` numbers; null: `origin` is that of all
    // Scratch memory.
    u32* table;            // by the hash of a cell: NONE, or a row of the voxel that the slot belongs to
    u32* firsts;           // of each row its slot, then the first row of its voxel; NONE if it has none
    u32* tally;            // rows of the voxel that begins with this row; null: voxels of any size count
    u32* marks;            // a bit for each row: whether it is the first of a voxel that counts
    u32* before;           // of each word of `marks`: the bits of the words before
    u32* parts;            // bits of the rows of each block
    i64* summary;          // see Place
    u32 mask;              // slots of the table, less one
    u32 count;             // rows of all clouds
    u32 rows;              // of each cloud, unless there are offsets
    u32 clouds;
    u32 dims;
    u32 share;             // rows of a block of `mark` and `rank`
    u32 least;             // points of a voxel that counts
    real origin[MOST_DIMS];
    real size[MOST_DIMS];
};

struct Answers {
    const u32* renumbered;  // number of each voxel, by its number in the order of first rows; null: the same
    u32* numbers;           // voxel of each row; NONE if it has none
    u32* chosen;            // row that stands for each voxel
    bits* nearest;          // of each voxel: the smallest squared distance from the center
    const u32* begins;      // where the rows of each voxel begin in `places`, and the end of the last; or null
    const u32* places;      // rows by voxel, ascending
    void* inverse;          // voxel of each row, i64 or i32; -1 if it has none
    void* counts;           // rows of each voxel, of the same type
    void* picked;           // the chosen rows, of the same type
    real* coordinates;      // of each voxel, `dims` numbers
    int* cells;             // the same
    i64* starts;            // first voxel of each cloud, and the end of the last
    u64 seed;
    u32 room;               // voxels that there is room for
    u32 narrow;             // voxels, numbers and rows are i32
    u32 whole;              // voxels and rows count from the first of the batch, not of their cloud
    u32 means;              // coordinates are means, which another kernel writes
    u32 lanes;              // logarithm of the lanes of a voxel in `mean`
    Grid grid;
};

// A pass of the sort by cells, of voxels in their order so far.
struct Keys {
    const u32* order;  // null: as they are numbered
    u32* keys;
    int low;           // cell of key 0
    u32 axis;          // `dims`: by cloud; voxels that there aren't come last
    Answers answers;   // the chosen rows are the first ones
};

constexpr u32 WARPS = THREADS / 32;
constexpr u32 ITEMS = 4;    // rows that a thread has on their way at once
constexpr u32 TILE = ITEMS * THREADS;

// Places in the summary: the number of voxels; the number of rows that are not finite, and the first of them; of each
// axis the first finite row whose cell does not fit; of each axis the lowest cell and the negative of the highest.
enum Place { VOXELS = 0, BAD = 1, FIRST_BAD = 2, OUTSIDE = 3 };
constexpr i64 NO_CELL = 1ll << 40;

// The cell of a row on the first three axes; 0 on those that there aren't.
struct Cell {
    int at[3];
};

// The cloud of a row.
struct Home {
    u32 cloud;
    i64 begin;  // its first row
    i64 end;    // and the end of its memory
};

// By bisection in a ragged batch: the last cloud that does not begin after the row, so that empty ones have none.
// Offsets are not checked; whatever they are, the result is a cloud of the batch.
__device__ __forceinline__ Home home_of(const Grid& grid, u32 row) {
    if (!grid.offsets) {
        u32 cloud = grid.clouds > 1 ? row / grid.rows : 0;
        i64 begin = (i64)cloud * grid.rows;
        return {cloud, begin, begin + grid.rows};
    }
    u32 low = 0, high = grid.clouds - 1;
    while (low < high) {
        u32 middle = high - (high - low) / 2;
        if (grid.offsets[middle] <= (i64)row) low = middle;
        else high = middle - 1;
    }
    return {low, grid.offsets[low], grid.offsets[low + 1]};
}

// Whether a row belongs to its cloud; the others are padding.
__device__ __forceinline__ bool is_valid(const Grid& grid, const Home& home, u32 row) {
    i64 length = grid.lengths ? grid.lengths[home.cloud] : home.end - home.begin;
    return (i64)row >= home.begin && (i64)row < home.end && (i64)row - home.begin < length;
}

__device__ __forceinline__ real coordinate(const Grid& grid, u32 row, u32 axis) {
    return grid.points[(i64)row * grid.row_stride + (i64)axis * grid.axis_stride];
}

__device__ __forceinline__ real origin_of(const Grid& grid, u32 cloud, u32 axis) {
    return grid.origins ? grid.origins[(u64)cloud * grid.dims + axis] : grid.origin[axis];
}

// The quotient whose floor is the cell of a row on an axis.
__device__ __forceinline__ real quotient(const Grid& grid, u32 cloud, u32 row, u32 axis) {
    return (coordinate(grid, row, axis) - origin_of(grid, cloud, axis)) / grid.size[axis];
}

// Whether a floor is a number of 32 bits.
__device__ __forceinline__ bool fits(real floor) { return floor >= (real)-2147483648.0 && floor < (real)2147483648.0; }

// The cell on the first three axes; false if it does not fit into 32 bits, or a coordinate is not finite, on any axis.
__device__ __forceinline__ bool cell_of(const Grid& grid, u32 cloud, u32 row, Cell& cell) {
    bool all = true;
#pragma unroll
    for (u32 axis = 0; axis < 3; ++axis) {
        real at = axis < grid.dims ? floor(quotient(grid, cloud, row, axis)) : (real)0;
        bool here = fits(at);
        cell.at[axis] = here ? (int)at : 0;
        all &= here;
    }
#pragma unroll 1
    for (u32 axis = 3; axis < grid.dims; ++axis) all &= fits(floor(quotient(grid, cloud, row, axis)));
    return all;
}

// The cell on an axis, of a row that has one.
__device__ __forceinline__ int cell_on(const Grid& grid, u32 cloud, u32 row, u32 axis) {
    return (int)floor(quotient(grid, cloud, row, axis));
}

// Number of marks before a row, up to `count`.
__device__ __forceinline__ u32 number_at(const Grid& grid, u32 row) {
    return grid.before[row >> 5] + __popc(grid.marks[row >> 5] & ((1u << (row & 31)) - 1));
}

__device__ __forceinline__ bool is_marked(const Grid& grid, u32 row) { return grid.marks[row >> 5] >> (row & 31) & 1; }

// The number of voxels.
__device__ __forceinline__ u32 voxels_of(const Answers& answers) {
    return min((u32)answers.grid.summary[VOXELS], answers.room);
}

__device__ __forceinline__ void write(const Answers& answers, void* to, u64 at, i64 value) {
    if (answers.narrow) ((int*)to)[at] = (int)value;
    else ((i64*)to)[at] = value;
}
