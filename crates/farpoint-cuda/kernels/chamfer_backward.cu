// Gradients of the coordinates from those of the distances, the same bits on every run.
//
// One cooperative launch for a batch; each cloud gets a team of blocks. A distance of `p` to its
// nearest `q` with gradient `g` sends (2 * g) * (p - q) to `p` and the negative to `q` (norm 1: `g`
// times the sign of the difference). A point adds up its own part, then what it is sent by
// ascending index: no atomic additions, whose order would change from run to run, but a stable
// sort of the senders by the point they send to.
#include "matching.cuh"
#include "sort.cuh"

struct BackwardArgs {
    Matching matching;      // of each side the indices that the search gave, or null
    const real* grads[2];   // gradients of the distances, laid out as the rows; or null
    real* gradients[2];     // of the coordinates, dense rows; null when nobody asks
    u8* headers;            // a counter a team, zero at launch
    u8* scratch;            // arrays, `stride` bytes a team
    u64 header_stride;
    u64 stride;
    u32 team;               // blocks a cloud
    u32 norm;               // 1 or 2
    u32 rows[2];            // rows of the largest cloud of each side
};

constexpr u32 THREADS = 1024;
constexpr u32 AHEAD = 8;   // senders of a long list that are looked at together
constexpr u32 FEW = 8;     // more make a list long

// One side of a pair, and what belongs to its rows.
struct Rows {
    Cloud cloud;
    const real* grads;
    real* gradients;
};

// Those who send something, sorted by whom they send to.
struct Senders {
    Pairs<u32> pairs[2];
    u32* digits;
    u32* begin;  // for each row the first of its senders, NONE without any
    u32 count;
};

__device__ __forceinline__ Rows rows_of(const BackwardArgs& args, u32 side, u32 pair) {
    i64 begin = first_row(args.matching.sides[side], pair);
    Rows rows;
    rows.cloud = cloud_of(args.matching, side, pair);
    rows.grads = args.grads[side] ? args.grads[side] + begin : nullptr;
    rows.gradients = args.gradients[side] ? args.gradients[side] + begin * args.matching.dims : nullptr;
    return rows;
}

// Whether the distances of these rows have gradients.
__device__ __forceinline__ bool sends(const Rows& rows) { return rows.grads && rows.cloud.indices; }

// Places the arrays of a team; src/chamfer/backward.rs computes the same sum.
__device__ __forceinline__ Senders place_arrays(u8* scratch, const u32 rows[2], u32 blocks) {
    u64 most = (u64)max(rows[0], rows[1]) + 1;
    Senders senders;
    senders.digits = (u32*)cut(&scratch, sizeof(u32) * sort_words(blocks));
    u32* words = (u32*)cut(&scratch, 4 * most * sizeof(u32));
    senders.pairs[0] = {words, words + most};
    senders.pairs[1] = {words + 2 * most, words + 3 * most};
    senders.begin = (u32*)cut(&scratch, most * sizeof(u32));
    senders.count = 0;
    return senders;
}

// Sorts the other cloud's rows by their nearest; they end up in pairs[0]. Rows without one come
// last, under a number that no row has.
__device__ void sort_senders(Team& team, const Rows& own, const Rows& other, Senders& senders, SortShared& shared) {
    u32 none = own.cloud.length, passes = 0;
    while (passes < 4 && none >> (8 * passes)) ++passes;
    bool odd = passes & 1;
    Pairs<u32> from = odd ? senders.pairs[1] : senders.pairs[0], to = odd ? senders.pairs[0] : senders.pairs[1];
    senders.count = sends(other) ? other.cloud.length : 0;
    for (u32 i = team.thread(); i < senders.count; i += team.threads()) {
        i64 nearest = other.cloud.indices[i];
        from.keys[i] = nearest >= 0 && nearest < (i64)none ? (u32)nearest : none;
        from.values[i] = i;
    }
    for (u32 row = team.thread(); row < none; row += team.threads()) senders.begin[row] = NONE;
    team.sync();
    for (u32 pass = 0; pass < passes; ++pass) {
        sort_pass(team, from, to, senders.count, pass * 8, false, senders.digits, shared);
        Pairs<u32> swap = from;
        from = to;
        to = swap;
    }
    for (u32 i = team.thread(); i < senders.count; i += team.threads()) {
        u32 key = from.keys[i];
        if (key < none && (i == 0 || from.keys[i - 1] != key)) senders.begin[key] = i;
    }
    team.sync();
}

// The gradient of the distance of `p` and `q` along an axis, times `g`.
__device__ __forceinline__ real part(u32 norm, real g, real p, real q) {
    if (norm == 2) return (g + g) * (p - q);
    return p > q ? g : p < q ? (real)0 - g : (real)0;
}

// The rest of a long list of senders, from `k` on: loads do not wait for each other, only the sum
// has an order.
__device__ __forceinline__ real many(const Rows& own, const Rows& other, const Senders& senders, u32 norm, u32 row, u32 axis, u32 k,
                                  real sum) {
    real at_row = own.cloud.at(row, axis);
    for (u32 here = AHEAD; here == AHEAD; k += AHEAD) {
        real parts[AHEAD];
        here = 0;
#pragma unroll
        for (u32 j = 0; j < AHEAD; ++j) {
            u32 at = min(k + j, senders.count - 1), sender = senders.pairs[0].values[at];
            here += k + j < senders.count && senders.pairs[0].keys[at] == row;
            parts[j] = part(norm, other.grads[sender], other.cloud.at(sender, axis), at_row);
        }
#pragma unroll
        for (u32 j = 0; j < AHEAD; ++j) {
            if (j < here) sum = sum - parts[j];
        }
    }
    return sum;
}

// One number of the gradient.
__device__ __forceinline__ real gradient(const Rows& own, const Rows& other, const Senders& senders, u32 norm, u32 row,
                                         u32 axis) {
    real at_row = own.cloud.at(row, axis), sum = 0;
    if (sends(own)) {
        i64 nearest = own.cloud.indices[row];
        if (nearest >= 0) sum = part(norm, own.grads[row], at_row, other.cloud.at((u32)nearest, axis));
    }
    u32 k = senders.begin[row], few = k + FEW;
    for (; k < senders.count && senders.pairs[0].keys[k] == row; ++k) {
        if (k == few) return many(own, other, senders, norm, row, axis, k, sum);
        u32 sender = senders.pairs[0].values[k];
        sum = sum - part(norm, other.grads[sender], other.cloud.at(sender, axis), at_row);
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) KERNEL(backward)(const BackwardArgs args) {
    __shared__ SortShared shared;
    u32 teams = gridDim.x / args.team, which = blockIdx.x / args.team;
    // Blocks beyond the last whole team have nothing to do.
    if (which >= teams) return;
    Team team = {blockIdx.x % args.team, args.team, (u32*)(args.headers + which * args.header_stride), 0};
    Senders senders = place_arrays(args.scratch + which * args.stride, args.rows, args.team);
    u32 dims = args.matching.dims;
    for (u32 job = which; job < 2 * args.matching.pairs; job += teams) {
        Rows own = rows_of(args, job & 1, job >> 1);
        if (!own.gradients) continue;  // the whole team
        Rows other = rows_of(args, ~job & 1, job >> 1);
        sort_senders(team, own, other, senders, shared);
        for (u32 axis = 0; axis < dims; ++axis) {
            for (u32 row = team.thread(); row < own.cloud.slots; row += team.threads()) {
                bool counts = row < own.cloud.length;
                own.gradients[(u64)row * dims + axis] = counts ? gradient(own, other, senders, args.norm, row, axis) : (real)0;
            }
        }
        team.sync();
    }
}
