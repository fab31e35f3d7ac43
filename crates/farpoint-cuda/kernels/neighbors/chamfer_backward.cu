// Gradients of Chamfer distance: see gradient.cuh for what they are.
//
// One cooperative launch for a batch; each cloud gets a team of blocks. Who sends to a row follows
// from a stable sort of the senders by the row they send to.
#include "neighbors/gradient.cuh"
#include "common/sort.cuh"

struct SortedArgs {
    Guard guard;
    Asked asked;
    u8* headers;            // one Header per team, zero at launch
    u8* scratch;            // arrays, `stride` bytes per team
    u64 header_stride;
    u64 stride;
    u32 team;               // blocks per cloud
};

struct Header {
    u32 arrivals;
    u32 raised;  // whether one of the team has given up
};

constexpr u32 THREADS = 1024;

// Those who send something, sorted by whom they send to.
struct Senders {
    Pairs<u32> pairs[2];
    u32* digits;
    u32* begin;  // for each row where its senders begin and end
    u32* end;
    u32 count;
};

// Places the arrays of a team; src/chamfer/backward/sorted.rs computes the same sum.
__device__ __forceinline__ Senders place_arrays(u8* scratch, const u32 rows[2], u32 blocks) {
    u64 most = (u64)max(rows[0], rows[1]) + 1;
    Senders senders;
    senders.digits = (u32*)cut(&scratch, sizeof(u32) * sort_words(blocks));
    u32* words = (u32*)cut(&scratch, 6 * most * sizeof(u32));
    senders.pairs[0] = {words, words + most};
    senders.pairs[1] = {words + 2 * most, words + 3 * most};
    senders.begin = words + 4 * most;
    senders.end = words + 5 * most;
    senders.count = 0;
    return senders;
}

// Sorts the other cloud's rows by their nearest; they end up in pairs[0]. Rows without one come
// last, under a number that no row has.
template <Source SOURCE>
__device__ __forceinline__ void sort_senders(Team& team, const Rows<SOURCE>& own, const Rows<SOURCE>& other, Senders& senders,
                             SortShared& shared) {
    u32 none = own.cloud.length, passes = 0;
    while (passes < 4 && none >> (8 * passes)) ++passes;
    bool odd = passes & 1;
    Pairs<u32> from = odd ? senders.pairs[1] : senders.pairs[0], to = odd ? senders.pairs[0] : senders.pairs[1];
    senders.count = sends(other) ? other.cloud.length : 0;
    for (u32 i = team.thread(); i < senders.count; i += team.threads()) {
        from.keys[i] = target_of(other, i, none);
        from.values[i] = i;
    }
    for (u32 row = team.thread(); row < none; row += team.threads()) senders.begin[row] = senders.end[row] = 0;
    team.sync();
    for (u32 pass = 0; pass < passes; ++pass) {
        sort_pass(team, from, to, senders.count, pass * 8, false, senders.digits, shared);
        Pairs<u32> swap = from;
        from = to;
        to = swap;
    }
    for (u32 i = team.thread(); i < senders.count; i += team.threads()) {
        u32 key = from.keys[i];
        if (key == none) continue;
        if (i == 0 || from.keys[i - 1] != key) senders.begin[key] = i;
        if (i + 1 == senders.count || from.keys[i + 1] != key) senders.end[key] = i + 1;
    }
    team.sync();
}

__device__ __noinline__ void spoil(const Guard& guard) {
    const SortedArgs& args = (const SortedArgs&)guard;
    u32 teams = gridDim.x / args.team;
    for (u32 job = blockIdx.x / args.team; job < 2 * args.asked.matching.pairs; job += teams) {
        Rows<EITHER> own = rows_of<EITHER>(args.asked, job & 1, job >> 1);
        if (!own.gradients) continue;
        u64 numbers = (u64)own.cloud.slots * own.cloud.dims;
        for (u64 k = threadIdx.x; k < numbers; k += blockDim.x) own.gradients[k] = not_a_number();
    }
}

template <Source SOURCE>
__device__ __forceinline__ void backward_sorted(const SortedArgs& args) {
    __shared__ SortShared shared;
    const Asked& asked = args.asked;
    u32 teams = gridDim.x / args.team, which = blockIdx.x / args.team;
    // Blocks beyond the last whole team have nothing to do.
    if (which >= teams) return;
    Header& header = *(Header*)(args.headers + which * args.header_stride);
    Team team(blockIdx.x % args.team, args.team, &header.arrivals, args.guard, &header.raised);
    if (is_absent(args.guard, AT_BEGIN, team.rank)) return;
    Senders senders = place_arrays(args.scratch + which * args.stride, asked.rows, args.team);
    for (u32 job = which; job < 2 * asked.matching.pairs; job += teams) {
        Rows<SOURCE> own = rows_of<SOURCE>(asked, job & 1, job >> 1);
        if (!own.gradients) continue;  // the whole team
        Rows<SOURCE> other = rows_of<SOURCE>(asked, ~job & 1, job >> 1);
        sort_senders(team, own, other, senders, shared);
        u32 lane = threadIdx.x & 31;
        for (u32 first = 32 * team.warp(); first < own.cloud.slots; first += 32 * team.warps()) {
            u32 row = first + lane;
            List list = {0, 0};
            if (row < own.cloud.length) list = {senders.begin[row], senders.end[row] - senders.begin[row]};
            write_gradients(own, other, asked.norm, row, senders.pairs[0].values, list);
        }
        team.sync();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) KERNEL(backward_sorted)(const __grid_constant__ SortedArgs args) {
    backward_sorted<GIVEN>(args);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) KERNEL(backward_sorted_of_value)(const __grid_constant__ SortedArgs args) {
    backward_sorted<OF_VALUE>(args);
}
