// Gradients of the distances of several neighbors, the same bits on every run: no atomic additions.
//
// A distance of `p` to its neighbor `q` with gradient `g` sends (2 * g) * (p - q) to `p` and the negative to
// `q` (norm 1: `g` times the sign of the difference). A row of x adds up its own by ascending place, an
// ordinary launch; a row of y what it is sent by ascending row of x and place: a cooperative launch sorts the
// places by the row they name, stably.
#include "neighbors/gradient.cuh"
#include "common/sort.cuh"
#include "search/search.cuh"

struct BackwardArgs {
    Guard guard;
    Clouds sides[2];
    const real* grads;    // of the distances, laid out as these
    const void* indices;
    const i64* offsets;   // where each row's places begin; null: k places a row
    real* gradients[2];   // of the coordinates, dense rows; null if not wanted
    u8* headers;          // one Header per team, zero at launch
    u8* scratch;          // arrays, `stride` bytes per team
    u64 header_stride;
    u64 stride;
    u32 team;             // blocks per cloud
    u32 k;
    u32 narrow;
    u32 whole;
    u32 norm;
    u32 dims;
    u32 clouds;
    u32 rows[2];          // of the largest cloud of each side
    u32 most;             // places of the largest cloud of x
};

constexpr u32 SORTERS = 1024;  // threads of a block of the cooperative launch

struct Header {
    u32 arrivals;
    u32 raised;  // whether one of the team has given up
};

// The places of a cloud of x, and the two clouds.
struct Places {
    Part x, y;
    i64 first;  // place
    u32 count;
};

__device__ __forceinline__ i64 first_place(const BackwardArgs& args, i64 row) { return args.offsets ? args.offsets[row] : row * args.k; }

__device__ __forceinline__ Places places_of(const BackwardArgs& args, u32 b) {
    Places places;
    places.x = part_of(args.sides[0], args.dims, b);
    places.y = part_of(args.sides[1], args.dims, b);
    places.first = first_place(args, places.x.begin);
    places.count = (u32)(first_place(args, places.x.begin + places.x.cloud.length) - places.first);
    return places;
}

// The row of y that a place names; `none` if it names none.
__device__ __forceinline__ u32 named(const BackwardArgs& args, const Places& places, i64 place, u32 none) {
    i64 index = args.narrow ? (i64)((const int*)args.indices)[place] : ((const i64*)args.indices)[place];
    if (index >= 0 && args.whole) index -= places.y.begin;
    return index >= 0 && index < (i64)none ? (u32)index : none;
}

// The row of x that has a place, counted from the cloud's first.
__device__ __forceinline__ u32 row_of(const BackwardArgs& args, const Places& places, u32 place) {
    if (!args.offsets) return place / args.k;
    u32 low = 0, high = places.x.cloud.length;
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (args.offsets[places.x.begin + middle] - places.first <= (i64)place) low = middle;
        else high = middle;
    }
    return low;
}

// Those of x, a thread a row and axis.
extern "C" __global__ void __launch_bounds__(256) KERNEL(search_backward_own)(const __grid_constant__ BackwardArgs args) {
    u64 jobs = (u64)args.clouds * args.rows[0] * args.dims, stride = (u64)gridDim.x * blockDim.x;
    for (u64 job = (u64)blockIdx.x * blockDim.x + threadIdx.x; job < jobs; job += stride) {
        u32 axis = (u32)(job % args.dims), row = (u32)(job / args.dims % args.rows[0]), b = (u32)(job / args.dims / args.rows[0]);
        Places places = places_of(args, b);
        if (row >= places.x.cloud.slots) continue;
        real sum = 0;
        if (row < places.x.cloud.length) {
            real at = places.x.cloud.at(row, axis);
            i64 end = first_place(args, places.x.begin + row + 1);
            for (i64 place = first_place(args, places.x.begin + row); place < end; ++place) {
                u32 other = named(args, places, place, places.y.cloud.length);
                if (other < places.y.cloud.length) sum = sum + part(args.norm, args.grads[place], at, places.y.cloud.at(other, axis));
            }
        }
        args.gradients[0][(u64)(places.x.begin + row) * args.dims + axis] = sum;
    }
}

// The places of a cloud, sorted by the row they name.
struct Sorted {
    Pairs<u32> pairs[2];
    u32* digits;
    u32* begin;  // for each row of y where its places begin and end
    u32* end;
};

// Places the arrays of a team; src/search/sorted.rs computes the same sum.
__device__ __forceinline__ Sorted place_arrays(u8* scratch, u32 rows, u32 most, u32 blocks) {
    Sorted sorted;
    sorted.digits = (u32*)cut(&scratch, sizeof(u32) * sort_words(blocks));
    u32* words = (u32*)cut(&scratch, 4 * (u64)most * sizeof(u32));
    sorted.pairs[0] = {words, words + most};
    sorted.pairs[1] = {words + 2 * (u64)most, words + 3 * (u64)most};
    sorted.begin = (u32*)cut(&scratch, 2 * (u64)rows * sizeof(u32));
    sorted.end = sorted.begin + rows;
    return sorted;
}

// They end up in pairs[0]; those that name none come last, under a number that no row has.
__device__ __forceinline__ void sort_places(Team& team, const BackwardArgs& args, const Places& places, const Sorted& sorted, SortShared& shared) {
    u32 none = places.y.cloud.length, passes = 0;
    while (passes < 4 && none >> (8 * passes)) ++passes;
    bool odd = passes & 1;
    Pairs<u32> from = odd ? sorted.pairs[1] : sorted.pairs[0], to = odd ? sorted.pairs[0] : sorted.pairs[1];
    for (u32 i = team.thread(); i < places.count; i += team.threads()) {
        from.keys[i] = named(args, places, places.first + i, none);
        from.values[i] = i;
    }
    for (u32 row = team.thread(); row < none; row += team.threads()) sorted.begin[row] = sorted.end[row] = 0;
    team.sync();
#pragma unroll 1
    for (u32 pass = 0; pass < passes; ++pass) {
        sort_pass(team, from, to, places.count, pass * 8, false, sorted.digits, shared);
        Pairs<u32> swap = from;
        from = to;
        to = swap;
    }
    for (u32 i = team.thread(); i < places.count; i += team.threads()) {
        u32 key = from.keys[i];
        if (key == none) continue;
        if (i == 0 || from.keys[i - 1] != key) sorted.begin[key] = i;
        if (i + 1 == places.count || from.keys[i + 1] != key) sorted.end[key] = i + 1;
    }
    team.sync();
}

// What a row of y is sent along an axis, summed by a warp: its lanes look at many places together, only the
// sum has an order.
__device__ __forceinline__ real sum_sent(const BackwardArgs& args, const Places& places, const u32* senders, u32 count, u32 axis, real at_row) {
    u32 lane = threadIdx.x & 31;
    real sum = 0;
    for (u32 first = 0; first < count; first += 32) {
        real sent = 0;  // past the end: 0, which changes no bit
        if (first + lane < count) {
            u32 place = senders[first + lane];
            real at = places.x.cloud.at(row_of(args, places, place), axis);
            sent = part(args.norm, args.grads[places.first + place], at, at_row);
        }
#pragma unroll
        for (u32 j = 0; j < 32; ++j) sum = sum - __shfl_sync(FULL, sent, j);
    }
    return sum;
}

__device__ __noinline__ void spoil(const Guard& guard) {
    const BackwardArgs& args = (const BackwardArgs&)guard;
    u32 teams = gridDim.x / args.team;
    for (u32 b = blockIdx.x / args.team; b < args.clouds; b += teams) {
        Part y = part_of(args.sides[1], args.dims, b);
        u64 numbers = (u64)y.cloud.slots * args.dims;
        for (u64 n = threadIdx.x; n < numbers; n += blockDim.x) args.gradients[1][(u64)y.begin * args.dims + n] = not_a_number();
    }
}

// Those of y, a warp a row.
extern "C" __global__ void __launch_bounds__(SORTERS, 1) KERNEL(search_backward_sent)(const __grid_constant__ BackwardArgs args) {
    __shared__ SortShared shared;
    u32 teams = gridDim.x / args.team, which = blockIdx.x / args.team;
    // Blocks beyond the last whole team have nothing to do.
    if (which >= teams) return;
    Header& header = *(Header*)(args.headers + which * args.header_stride);
    Team team(blockIdx.x % args.team, args.team, &header.arrivals, args.guard, &header.raised);
    if (is_absent(args.guard, AT_BEGIN, team.rank)) return;
    Sorted sorted = place_arrays(args.scratch + which * args.stride, args.rows[1], args.most, args.team);
    for (u32 b = which; b < args.clouds; b += teams) {
        Places places = places_of(args, b);
        places.count = min(places.count, args.most);
        sort_places(team, args, places, sorted, shared);
        const Cloud& y = places.y.cloud;
        real* gradients = args.gradients[1] + (u64)places.y.begin * args.dims;
        for (u32 row = team.warp(); row < y.slots; row += team.warps()) {
            u32 begin = 0, count = 0;
            if (row < y.length) begin = sorted.begin[row], count = sorted.end[row] - begin;
            for (u32 axis = 0; axis < args.dims; ++axis) {
                real sum = sum_sent(args, places, sorted.pairs[0].values + begin, count, axis, row < y.length ? y.at(row, axis) : (real)0);
                if ((threadIdx.x & 31) == 0) gradients[(u64)row * args.dims + axis] = sum;
            }
        }
        team.sync();
    }
}
