// Gradients of Chamfer distance for small clouds: see gradient.cuh for what they are.
//
// An ordinary launch without scratch memory, one block per cloud. Who sends to a row is counted and
// put together in shared memory by atomic additions, which leave lists in any order; each is then
// put into its own: a short one by a lane that sorts it, a long one by a warp that collects it again.
//
// Launch: any number of blocks of 32 to 1,024 threads; the dynamic shared memory of `Lists`.
#include "neighbors/gradient.cuh"
#include "common/warp.cuh"

constexpr u32 MOST = 1024;  // threads

extern __shared__ u32 memory[];

// Senders by the row that they send to. src/chamfer/backward/small.rs computes its size.
struct Lists {
    u32* ends;            // where a row's list ends and the next row's begins
    u32* senders;
    unsigned short* targets;  // the row that each sends to; the number of rows, if to none
    u32 count;            // of senders

    __device__ __forceinline__ List of(u32 row) const {
        u32 begin = row == 0 ? 0 : ends[row - 1];
        return {begin, ends[row] - begin};
    }
};

__device__ __forceinline__ Lists place_lists(const u32 rows[2]) {
    u32 most = max(rows[0], rows[1]);
    return {memory, memory + most, (unsigned short*)(memory + 2 * most), 0};
}

// Turns counts into sums of those before.
__device__ __forceinline__ void sum_before(u32* counts, u32 n) {
    __shared__ u32 totals[MOST / 32];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u32 each = (n + blockDim.x - 1) / blockDim.x;
    u32 begin = min(threadIdx.x * each, n), end = min(begin + each, n), sum = 0;
    for (u32 i = begin; i < end; ++i) sum += counts[i];
    u32 inclusive = warp_sum_to(sum);
    if (lane == 31) totals[warp] = inclusive;
    __syncthreads();
    u32 before = inclusive - sum;
    for (u32 w = 0; w < warp; ++w) before += totals[w];
    for (u32 i = begin; i < end; ++i) {
        u32 count = counts[i];
        counts[i] = before;
        before += count;
    }
    __syncthreads();
}

// Finds out who sends to each of `rows` rows, in any order.
template <Source SOURCE>
__device__ __forceinline__ void fill(Lists& lists, const Rows<SOURCE>& other, u32 rows) {
    lists.count = sends(other) ? other.cloud.length : 0;
    for (u32 row = threadIdx.x; row < rows; row += blockDim.x) lists.ends[row] = 0;
    __syncthreads();
    for (u32 i = threadIdx.x; i < lists.count; i += blockDim.x) {
        u32 target = target_of(other, i, rows);
        lists.targets[i] = (unsigned short)target;
        if (target < rows) atomicAdd(&lists.ends[target], 1u);
    }
    __syncthreads();
    sum_before(lists.ends, rows);
    // Placing moves each row's begin to its end.
    for (u32 i = threadIdx.x; i < lists.count; i += blockDim.x) {
        u32 target = lists.targets[i];
        if (target < rows) lists.senders[atomicAdd(&lists.ends[target], 1u)] = i;
    }
    __syncthreads();
}

__device__ __forceinline__ void sort_few(u32* senders, u32 count) {
    for (u32 i = 1; i < count; ++i) {
        u32 sender = senders[i], at = i;
        for (; at > 0 && senders[at - 1] > sender; --at) senders[at] = senders[at - 1];
        senders[at] = sender;
    }
}

// Writes the senders of a row in their order, by a warp.
__device__ __forceinline__ void collect(const Lists& lists, u32 row, u32 place) {
    u32 lane = threadIdx.x & 31;
    for (u32 first = 0; first < lists.count; first += 32) {
        u32 sender = first + lane;
        bool here = sender < lists.count && lists.targets[sender] == row;
        u32 found = __ballot_sync(FULL, here);
        if (here) lists.senders[place + __popc(found & ((1u << lane) - 1u))] = sender;
        place += __popc(found);
    }
}

// Puts the lists of 32 rows into order, by a warp; `list` is that of this lane's row.
__device__ __forceinline__ void order(const Lists& lists, u32 row, List list) {
    if (list.count <= FEW) sort_few(lists.senders + list.begin, list.count);
    for (u32 left = __ballot_sync(FULL, list.count > FEW); left; left &= left - 1) {
        u32 who = __ffs(left) - 1;
        collect(lists, __shfl_sync(FULL, row, who), __shfl_sync(FULL, list.begin, who));
    }
    __syncwarp();
}

template <Source SOURCE>
__device__ __forceinline__ void backward(const Asked& asked) {
    Lists lists = place_lists(asked.rows);
    for (u32 job = blockIdx.x; job < 2 * asked.matching.pairs; job += gridDim.x) {
        Rows<SOURCE> own = rows_of<SOURCE>(asked, job & 1, job >> 1);
        if (!own.gradients) continue;  // the whole block
        Rows<SOURCE> other = rows_of<SOURCE>(asked, ~job & 1, job >> 1);
        fill(lists, other, own.cloud.length);
        for (u32 first = threadIdx.x & ~31u; first < own.cloud.slots; first += blockDim.x) {
            u32 row = first + (threadIdx.x & 31);
            List list = row < own.cloud.length ? lists.of(row) : List{0, 0};
            order(lists, row, list);
            write_gradients(own, other, asked.norm, row, lists.senders, list);
        }
        __syncthreads();  // before the lists are used again
    }
}

extern "C" __global__ void __launch_bounds__(MOST) KERNEL(backward_small)(const __grid_constant__ Asked asked) {
    backward<GIVEN>(asked);
}
extern "C" __global__ void __launch_bounds__(MOST) KERNEL(backward_small_of_value)(const __grid_constant__ Asked asked) {
    backward<OF_VALUE>(asked);
}
