// The foremost candidates of all warps: each warp tells all blocks its first candidate, and each block gathers those of
// the largest distances.
#pragma once
#include "peak/search.cuh"

constexpr u32 PACK = 16 / sizeof(bits);                  // values that are read at once
constexpr u32 HELD = SPANS ? (PACK == 4 ? 32 : 20) : 4;  // values that a thread reads in a round
constexpr u32 FOREMOST = 96;                             // candidates that are compared, at most
constexpr u32 BINS = 128;                                // of values: an octave in all
constexpr u32 BIN_SHIFT = sizeof(bits) == 8 ? 45 : 16;

// One of the foremost candidates, and the box of its warp's groups.
struct alignas(4 * sizeof(real)) Foremost {
    real low[3], high[3];
    real value;
    u32 row;
};

struct EarlyShared {
    u32 bins[BINS];           // how many values each holds, then where it begins
    u32 cut;                  // bins whose candidates are compared
    u32 count;                // how many these are
    bits bound;               // no value is larger
    bits top;                 // the largest value
    u32 row;                  // the first row of those with it
    Foremost foremost[FOREMOST];
    Site sites[FOREMOST];
    u32 slots[FOREMOST];      // where their mail is
    u32 blocked[FOREMOST];    // whether another stands before
    u32 ends[FOREMOST / 32];  // none from there on comes before any of these 32
    u32 chosen_count;
    Packed chosen[FOREMOST];  // with the distances they are chosen at
    u32 chosen_at[FOREMOST], chosen_row[FOREMOST];
    bits low;                 // the least distance that one was chosen at so far
    u32 work_count[2];        // groups that chosen points reach, by turns
    u32 work_group[32 * MOST_WARPS], work_hits[32 * MOST_WARPS];
};

// The slot of this warp's mail.
__device__ __forceinline__ u32 own_slot(const Team& team) { return team.rank * (THREADS / 32) + (threadIdx.x >> 5); }

// Mail has two slots, used by turns. A slot is used again two epochs later, when all have read it: a warp sends epoch
// e + 2 after its block has seen everyone's e + 1, which each sends after its block has read all of e. Epochs count
// from 2, and the slots are zero at launch.
//
// A value's sign bit tells the epoch's phase, which is 1 at first; the other words have the epoch. So no fence is needed.
constexpr bits PHASE = (bits)1 << (sizeof(bits) * 8 - 1);

__device__ __forceinline__ void send(const State& state, const Team& team, const Pick& best, u32 epoch) {
    u32 slot = (epoch & 1) * team.warps() + own_slot(team);
    if ((threadIdx.x & 31) == 0) {
        store_shared_word((real*)&state.values[slot], from_bits(best.value | (epoch & 2 ? PHASE : 0)));
        Site point = site(state.points, best.value > 0 ? best.at : 0);
        Word* words = state.mail[slot].words;
        bits x = to_bits(point.x), y = to_bits(point.y), z = to_bits(point.z);
#ifdef FARPOINT_F64
        store_word(&words[0], {(u32)x, (u32)(x >> 32), point.row, epoch});
        store_word(&words[1], {(u32)y, (u32)(y >> 32), point.at, epoch});
        store_word(&words[2], {(u32)z, (u32)(z >> 32), 0, epoch});
#else
        store_word(&words[0], {x, y, z, epoch});
        store_word(&words[1], {point.row, point.at, 0, epoch});
#endif
    }
    // The lane that sends goes first: others of its warp wait for what it sends.
    __syncwarp();
}

// The values of all warps' candidates, as this thread holds them.
struct Held {
    bits value[HELD];
};

// Blocks of each part that have groups while samples are taken in rounds.
__device__ __forceinline__ u32 sharing_blocks(const Team& team) { return SPANS ? team.part_size() : min(team.size, HELD * 32); }

// Where the box of the warp is whose mail is in a slot: warps with groups come first, as there is room for no more.
__device__ __forceinline__ u32 place_of_box(const Team& team, u32 slot) {
    u32 rank = slot / (THREADS / 32), warp = slot % (THREADS / 32), part = SPANS ? rank / team.part_size() : 0;
    return (part * (THREADS / 32) + warp) * sharing_blocks(team) + rank - part * team.part_size();
}

// Slots in which candidates come.
__device__ __forceinline__ u32 all_slots(const Team& team) { return (SPANS ? team.size : sharing_blocks(team)) * (THREADS / 32); }

// Where a thread's value number `k` is from.
__device__ __forceinline__ u32 slot_of_value(u32 k) { return (k / PACK * THREADS + threadIdx.x) * PACK + k % PACK; }

// Reads the values of all candidates. False: some were waited for in vain.
__device__ __forceinline__ bool read_values(const State& state, const Team& team, u32 epoch, Held& held) {
    u32 all = all_slots(team);
    const bits* slots = state.values + (epoch & 1) * team.warps();
    bool odd = (epoch & 2) != 0;
    Wait wait;
    while (true) {
        bool come = true;
#pragma unroll
        for (u32 k = 0; k < HELD; k += PACK) {
            u32 from = slot_of_value(k);
            Word word = {0, 0, 0, 0};
            // Relaxed: an old value has the other phase, and is read again.
            if (from < all) word = load_word((const Word*)&slots[from]);
#ifdef FARPOINT_F64
            held.value[k] = (bits)word.b << 32 | word.a, held.value[k + 1] = (bits)word.epoch << 32 | word.c;
#else
            held.value[k] = word.a, held.value[k + 1] = word.b, held.value[k + 2] = word.c, held.value[k + 3] = word.epoch;
#endif
#pragma unroll
            for (u32 j = k; j < k + PACK; ++j) {
                if (from + j - k < all) come &= (held.value[j] >= PHASE) == odd;
                held.value[j] &= ~PHASE;
            }
        }
        if (come) return true;
        if (wait.over(*team.guard, team.raised, FOR_CANDIDATES)) return false;
    }
}

// Reads what a warp told of its candidate. False: it was waited for in vain.
__device__ __forceinline__ bool read_site(const State& state, const Team& team, u32 epoch, u32 slot, Site& point) {
    const Word* words = state.mail[(epoch & 1) * team.warps() + slot].words;
    Wait wait;
    while (true) {
        Word first = load_word(&words[0]), second = load_word(&words[1]);
        bool come = first.epoch == epoch && second.epoch == epoch;
#ifdef FARPOINT_F64
        Word third = load_word(&words[2]);
        come = come && third.epoch == epoch;
        point = {from_bits((bits)first.b << 32 | first.a), from_bits((bits)second.b << 32 | second.a), from_bits((bits)third.b << 32 | third.a), second.c, first.c};
#else
        point = {from_bits(first.a), from_bits(first.b), from_bits(first.c), second.b, second.a};
#endif
        if (come) return true;
        if (wait.over(*team.guard, team.raised, FOR_CANDIDATES)) return false;
    }
}

// The bin of a value: the first ones are the foremost.
__device__ __forceinline__ bits bin_of(bits bound, bits value) { return (bound - value) >> BIN_SHIFT; }

// The least value of the first `bins` bins.
__device__ __forceinline__ bits least_of(bits bound, u32 bins) {
    bits span = (bits)bins << BIN_SHIFT;
    return bound >= span ? bound - span + 1 : 1;
}

// Finds how many of the first `most` bins there is room for; `bins` tells where each begins. One warp does.
__device__ __forceinline__ void cut_bins(EarlyShared& shared, u32 most) {
    const u32 each = BINS / 32;
    u32 lane = threadIdx.x & 31, first = lane * each, counts[each], sum = 0;
    for (u32 k = 0; k < each; ++k) sum += counts[k] = shared.bins[first + k];
    u32 end = warp_sum_to(sum) - sum, cut = 0, count = 0, empty = 0;
    for (u32 k = 0; k < each; ++k) {
        shared.bins[first + k] = end;
        end += counts[k];
        empty += end == 0;
        if (end <= FOREMOST && first + k < most) cut = first + k + 1, count = end;
    }
    // The last bin that ends in the room.
    u32 last = 31 - __clz(__ballot_sync(FULL, cut > 0) | 1);
    cut = __shfl_sync(FULL, cut, last), count = __shfl_sync(FULL, count, last);
    empty = warp_sum_to(empty);
    if (lane == 31) {
        shared.cut = cut, shared.count = count;
        // Values only fall.
        if (count > 0) shared.bound -= (bits)empty << BIN_SHIFT;
    }
}

__device__ __forceinline__ void put_foremost(EarlyShared& shared, u32 place, u32 slot, bits value) {
    shared.foremost[place].value = from_bits(value);
    shared.slots[place] = slot;
    shared.blocked[place] = 0;
}

// Takes the first of all candidates alone. False: some were waited for in vain. A call, since it is seldom needed.
__device__ __noinline__ bool take_first(const State& state, const Team& team, u32 epoch, EarlyShared& shared) {
    u32 all = all_slots(team);
    auto value_at = [&](u32 slot) { return to_bits(load_shared_word((const real*)&state.values[(epoch & 1) * team.warps() + slot])) & ~PHASE; };
    bits top = 0;
    for (u32 from = threadIdx.x; from < all; from += THREADS) top = max(top, value_at(from));
    top = warp_largest(top);
    if (threadIdx.x == 0) shared.top = 0, shared.row = NONE;
    __syncthreads();
    if ((threadIdx.x & 31) == 0) atomicMax(&shared.top, top);
    __syncthreads();
    top = shared.top;
    if (top == 0) return true;
    bool come = true;
    u32 row = NONE, slot = 0;
    for (u32 from = threadIdx.x; from < all; from += THREADS) {
        Site point;
        if (value_at(from) != top) continue;
        come &= read_site(state, team, epoch, from, point);
        if (point.row < row) row = point.row, slot = from;
    }
    if (row != NONE) atomicMin(&shared.row, row);
    __syncthreads();
    if (row == shared.row && row != NONE) put_foremost(shared, 0, slot, top);
    if (threadIdx.x == 0) shared.bound = top, shared.count = 1;
    return come;
}

// Gathers the foremost candidates in order of their bins. False: some were waited for in vain.
__device__ __forceinline__ bool gather_foremost(const State& state, const Team& team, u32 epoch, EarlyShared& shared, const Held& held, bits bound) {
    bool come = true, alone = shared.count == 0;
    if (!alone) {
        bits least = least_of(bound, shared.cut);
#pragma unroll
        for (u32 k = 0; k < HELD; ++k) {
            bits value = held.value[k];
            if (value >= least) put_foremost(shared, atomicAdd(&shared.bins[bin_of(bound, value)], 1u), slot_of_value(k), value);
        }
    } else {
        come = take_first(state, team, epoch, shared);
    }
    __syncthreads();
    u32 k = threadIdx.x, n = shared.count;
    if (k == 0) shared.chosen_count = 0;
    if (k < n) {
        Box box = state.boxes[place_of_box(team, shared.slots[k])];
        Site point;
        come &= read_site(state, team, epoch, shared.slots[k], point);
        shared.sites[k] = point;
        Foremost& mine = shared.foremost[k];
        for (u32 a = 0; a < 3; ++a) mine.low[a] = box.low[a], mine.high[a] = box.high[a];
        mine.row = point.row;
        // Of a bin, some later ones may come before.
        if ((k & 31) == 31 || k + 1 == n) shared.ends[k >> 5] = alone ? 1 : shared.bins[bin_of(bound, to_bits(mine.value))];
    }
    return come;
}
