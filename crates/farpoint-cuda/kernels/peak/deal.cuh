// Sorting on several GPUs. First each element is dealt to the part that it belongs to in sorted order, then each part
// sorts its own in its own memory: what moves between GPUs moves once, not in every pass.
#pragma once
#include "common/sort.cuh"
#include "peak/parts.cuh"

#ifdef FARPOINT_SPAN

struct DealShared {
    u32 counts[DIGITS];
    u32 digit, before;
    u32 places[MOST_PARTS][MOST_WARPS];
};

// Where a part's stretch of the sorted whole begins: with this element, by key, then by value.
template <typename Key>
struct Cut {
    Key key;
    u32 value;
};

// The blocks of this GPU alone, with a barrier of their own for each use.
__device__ __forceinline__ Team team_of_part(const State& state, const Team& team, Dealing use) {
    Team own(team.part_rank(), team.part_size(), &header_of(state, team.part)->met[use], *team.guard, team.raised);
    own.part = 0;
    own.parts = 1;
    return own;
}

// The element of number `rank` in sorted order, digit by digit from the highest: each round counts the digits that
// follow what is found so far. `mine` are the elements of this thread, and `totals` words that are zero in each
// part's own memory, DIGITS a round.
template <typename Key>
__device__ Cut<Key> element_at(const State& state, Team& team, const Pairs<Key>& list, const Steps& mine, u32 rank, u32* totals, DealShared& shared) {
    constexpr u32 OF_KEY = sizeof(Key), ROUNDS = OF_KEY + sizeof(u32);
    u32 lane = threadIdx.x & 31;
    Cut<Key> cut = {0, 0};
    for (u32 round = 0; round < ROUNDS; ++round, totals += DIGITS) {
        bool by_value = round >= OF_KEY;
        u32 shift = 8 * ((by_value ? ROUNDS : OF_KEY) - 1 - round);
        for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) shared.counts[d] = 0;
        __syncthreads();
        for (u32 i = mine.first; i < mine.end; i += mine.step) {
            Key key = list.keys[i];
            if (by_value ? key != cut.key : (key ^ cut.key) >> shift >> 8 != 0) continue;
            u32 value = by_value ? list.values[i] : 0;
            if (by_value && (value ^ cut.value) >> shift >> 8 != 0) continue;
            atomicAdd(&shared.counts[(by_value ? value >> shift : (u32)(key >> shift)) & 255u], 1u);
        }
        __syncthreads();
        for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) {
            u32 n = shared.counts[d];
            for (u32 p = 0; n > 0 && p < state.span.parts; ++p) ATOMIC(atomicAdd)(of_part(state, totals, p) + d, n);
        }
        team.sync();
        if (threadIdx.x < 32) {
            u32 n[8], sum = 0;
            for (u32 k = 0; k < 8; ++k) sum += n[k] = *(volatile u32*)&totals[lane * 8 + k];
            u32 before = warp_sum_to(sum) - sum;
            for (u32 k = 0; k < 8; before += n[k++]) {
                if (before <= rank && rank - before < n[k]) shared.digit = lane * 8 + k, shared.before = before;
            }
        }
        __syncthreads();
        rank -= shared.before;
        if (by_value) cut.value |= shared.digit << shift;
        else cut.key |= (Key)shared.digit << shift;
    }
    return cut;
}

// Deals `n` elements out, of which `mine` are this thread's in `from`: part p gets those of numbers p * each.. in sorted
// order, from place p * each of `to` on, in no order.
template <typename Key>
__device__ void deal(const State& state, Team& team, const Pairs<Key>& from, const Steps& mine, const Pairs<Key>& to, u32 n, u32 each, Dealing use, DealShared& shared) {
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    u32* totals = totals_of(state, use);
    Cut<Key> cuts[MOST_PARTS - 1];
    u32 last = 0;  // the last part that gets any
#pragma unroll
    for (u32 b = 0; b + 1 < MOST_PARTS; ++b) {
        if (b + 1 >= state.span.parts || (u64)(b + 1) * each >= n) break;
        cuts[b] = element_at(state, team, from, mine, (b + 1) * each, totals, shared);
        totals += DEAL_ROUNDS * DIGITS;
        last = b + 1;
    }
    // The first thread of the block and all others go together.
    for (u32 begin = mine.first - threadIdx.x; begin < mine.end; begin += mine.step) {
        u32 i = begin + threadIdx.x, part = MOST_PARTS, ours = 0;
        Key key = 0;
        u32 value = 0;
        if (i < mine.end) {
            key = from.keys[i];
            value = from.values[i];
            part = 0;
#pragma unroll
            for (u32 b = 0; b + 1 < MOST_PARTS; ++b) {
                part += b < last && (key > cuts[b].key || (key == cuts[b].key && value >= cuts[b].value));
            }
        }
        for (u32 p = 0; p <= last; ++p) {
            u32 all = __ballot_sync(FULL, part == p);
            if (part == p) ours = all;
            if (lane == 0) shared.places[p][warp] = __popc(all);
        }
        __syncthreads();
        if (warp <= last) {
            u32 count = lane < warps ? shared.places[warp][lane] : 0, sum = warp_sum_to(count), first = 0;
            if (lane == 31 && sum > 0) first = ATOMIC(atomicAdd)(&header_of(state, warp)->dealt[use], sum);
            first = __shfl_sync(FULL, first, 31);
            if (lane < warps) shared.places[warp][lane] = first + sum - count;
        }
        __syncthreads();
        if (i < mine.end) {
            u32 place = part * each + shared.places[part][warp] + __popc(ours & ((1u << lane) - 1u));
            to.key(place) = key;
            to.value(place) = value;
        }
        __syncthreads();
    }
    team.sync();
}

// Keys of the rows in `list`, `count` of them: the high bits, or the LOW low ones.
__device__ inline void make_keys(const Cloud& cloud, const Curve& curve, const Pairs<u32>& list, const Steps& mine, bool wide, bool low) {
    for (u32 i = mine.first; i < mine.end; i += mine.step) {
        u32 row = list.values[i];
        real x = cloud.at(row, 0), y = cloud.at(row, 1), z = cloud.at(row, 2);
        list.keys[i] = !wide ? curve_key<u32>(curve, x, y, z) : (u32)(curve_key<u64>(curve, x, y, z) >> (low ? 0 : LOW));
    }
}

// As `order_cloud`, for all parts: the rows end up in the values of order[0]. A call, so that what it needs many registers
// for costs the rest of the kernel none; the team comes back.
__device__ __noinline__ Team order_parts(State& state, Team team, OrderShared& shared, DealShared& dealing) {
    const Cloud& cloud = state.cloud;
    u32 n = cloud.length, each = state.span.share;
    Box bounds = team_bounds(team, cloud, state.parts, shared.bounds);
    bool crowded = is_crowded(cloud, bounds), wide = n > WIDE && !crowded;
    u32 passes = n > 1u << 16 ? 4 : 3;
    Curve curve = curve_over(bounds, passes * 8 + (wide ? LOW : 0));
    // Dealing is one pass more.
    bool odd = passes & 1;
    Pairs<u32> from = state.order[odd ? 0 : 1], to = state.order[odd ? 1 : 0];
    Steps rows = team.thread_steps(n);
    if (crowded) {
        make_crowded_keys(cloud, passes * 8, from.keys, from.values, rows, shared.sample);
    } else {
        for (u32 i = rows.first; i < rows.end; i += rows.step) from.values[i] = i;
        make_keys(cloud, curve, from, rows, wide, false);
    }
    team.sync();
    deal(state, team, from, rows, to, n, each, TO_ORDER, dealing);
    Team own = team_of_part(state, team, TO_ORDER);
    u32 first = (u32)min((u64)team.part * each, (u64)n), count = min(each, n - first);
    from.keys += first, from.values += first, to.keys += first, to.values += first;
    Steps mine = own.thread_steps(count);
    if (wide) {
        make_keys(cloud, curve, to, mine, true, true);
        own.sync();
        // Passes by low bits are even in number.
        sort_keys(own, to, from, count, LOW / 8, digits_of(state), shared.sort);
        make_keys(cloud, curve, to, mine, true, false);
        own.sync();
    }
    sort_keys(own, to, from, count, passes, digits_of(state), shared.sort);
    team.sync();
    return team;
}

#endif
