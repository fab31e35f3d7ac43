// The larger kinds of team that hold a cloud: a cluster, blocks of the grid. They differ from a block
// (block.cuh) and from each other in how offers reach everyone.
#pragma once
#include "persistent/block.cuh"
#include "persistent/mail.cuh"

__device__ __forceinline__ void put(Packet* place, Offer mine, u32 lane, const Candidate& bound) {
    mine.bound = bound;
    if (lane_id() == lane) *place = pack(mine, 0);
}

// A warp's offer goes to its place; the lane it came from remembers it.
template <typename Points>
__device__ __forceinline__ void put_offer(Points& points, Packet* place) {
    Offer mine = thread_offer(points);
    Candidate bound;
    u32 lane;
    bool tie = warp_offer(mine, lane, bound);
    put(place, mine, lane, bound);
    if (tie) {
        settle_tie(mine, lane, bound);
        __syncwarp();
        put(place, mine, lane, bound);
    }
    points.offered = lane_id() == lane ? mine.best.index : NONE;
}

// ---- one cluster per cloud ----

#if __CUDA_ARCH__ >= 900
// Every warp posts its offer to every block of the cluster. Shared memory: mailboxes
// [2][WORDS][groups], then the coordinates.
template <typename Points>
__device__ __forceinline__ void post_to_cluster(Points& points, u64 mailbox, u32 step, u32 blocks, u32 epoch) {
    Offer mine = thread_offer(points);
    Candidate bound;
    u32 lane;
    bool tie = warp_offer(mine, lane, bound);
    Offer ours = offer_of(mine, lane);
    if (tie) {
        settle_tie(mine, lane, bound);
        ours = offer_of(mine, lane);
    }
    ours.bound = bound;
    points.offered = lane_id() == lane ? mine.best.index : NONE;
    Packet packet = pack(ours, epoch);
    if (lane_id() < blocks) {
#pragma unroll
        for (u32 i = 0; i < WORDS; ++i) post_cluster(mailbox + i * step, packet.word[i]);
    }
    // The lanes that post go first: the others wait for mail, some of it their own warp's.
    __syncwarp();
}

// This lane's share of the mail: two offers. Past 64 groups each stands for several. False: some was
// waited for in vain, the same in the whole warp.
__device__ __forceinline__ bool read_mail(Offer (&offers)[2], u32 mailbox, u32 step, u32 groups, u32 epoch,
                                          const Guard& guard) {
    bool come = true;
    for (u32 slot = lane_id(); come; slot += 64u) {
        // Where there is no slot a lane looks into the last one, and leaves it.
        u32 other = slot + 32u, last = groups - 1u;
        const u32 addresses[2] = {mailbox + (slot < last ? slot : last) * 16u,
                                  mailbox + (other < last ? other : last) * 16u};
        Packet packets[2];
        come = wait_cluster(packets, addresses, step, epoch, guard);
        if (slot < groups) offers[0] = merge(offers[0], unpack(packets[0]));
        if (other < groups) offers[1] = merge(offers[1], unpack(packets[1]));
        if (groups <= slot - lane_id() + 64u) break;
    }
    return __all_sync(FULL, come);
}

template <u32 K, bool MORE, bool EXTRA>
__device__ __forceinline__ void sample_by_cluster(const Guard& guard, const Batch& batch) {
    const u32 blocks = cluster_size(), rank = cluster_rank();
    const Cloud cloud = cloud_of(batch, blockIdx.x / blocks);
    const u32 warp = threadIdx.x / 32u, warps = blockDim.x / 32u;
    const u32 groups = warps * blocks, group = warp * blocks + rank;
    const u32 step = groups * 16u, set = WORDS * step;
    for (u32 i = threadIdx.x; i < 2u * WORDS * groups; i += blockDim.x) arena[i] = {0, 0, 0, 0};
    Held<K, MORE, EXTRA> points;
    points.load(cloud, {group, groups}, (real*)(arena + 2u * WORDS * groups));
    cluster_barrier();  // all mailboxes are there, and empty
    const u32 here = shared_address(arena);
    const u64 there = address_in(arena + group, lane_id() < blocks ? lane_id() : 0u);
    Progress run = begin(cloud, points);
    u32 epoch = 0;
    bool lost = is_absent(guard, AT_BEGIN, rank);
    while (!run.done && !lost) {
        Offer offers[2] = {no_offer(), no_offer()};
        u32 turn = ++epoch & 1u ? set : 0u;
        post_to_cluster(points, there + turn, step, blocks, epoch);
        lost = !read_mail(offers, here + turn, step, groups, epoch, guard);
        if (lost) break;
        choose(cloud, offers, first(offers[0].bound, offers[1].bound), points, run);
    }
    finish_cloud(cloud_of(batch, blockIdx.x / blocks), run.chosen, run.covering, rank * blockDim.x + threadIdx.x,
                 blocks * blockDim.x);
    cluster_barrier();  // no block is gone while mail to it is on its way
    // After all blocks have written what they had to write.
    if (__syncthreads_or(lost)) spoil(guard);
}
#endif

// ---- several blocks of the grid per cloud ----

// Shared memory: the board, then the coordinates, then the distances past the registers.
struct Board {
    Packet slots[32];  // offers of this block's warps
    Packet list[32];   // what is left of the mail
    Candidate bound;
    u32 count;
};

// By warp 0: the block's offer goes out.
__device__ __forceinline__ void post_to_team(const Board& board, Word* mail, u32 warps, u32 team, u32 epoch) {
    Offer mine = lane_id() < warps ? unpack(board.slots[lane_id()]) : no_offer();
    Candidate bound;
    u32 lane;
    if (warp_offer(mine, lane, bound)) settle_tie(mine, lane, bound);
    if (lane_id() != lane) return;
    mine.bound = bound;
    Packet packet = pack(mine, epoch);
#pragma unroll
    for (u32 i = 0; i < WORDS; ++i) store_word(mail + i * team, packet.word[i]);
}

// By warp 0: keeps the offers that may be chosen, those not below the first bound of all.
__device__ __forceinline__ void sift(Board& board, const Packet* mail, u32 team) {
    Candidate mine = {(real)-1, NONE};
    for (u32 slot = lane_id(); slot < team; slot += 32u) mine = first(mine, unpack(mail[slot]).bound);
    key last = warp_max(to_key(mine.value));
    Candidate bound = {from_key(last), warp_min(to_key(mine.value) == last ? mine.index : NONE)};
    u32 count = 0;
    for (u32 begin = 0; begin < team; begin += 32u) {
        u32 slot = begin + lane_id();
        Packet packet = mail[slot < team ? slot : 0u];
        key value = to_key(unpack(packet).best.value);
        u32 kept = __ballot_sync(FULL, slot < team && value >= 0 && value >= last);
        u32 rank = count + __popc(kept & ((1u << lane_id()) - 1u));
        if ((kept >> lane_id() & 1u) && rank < 32u) board.list[rank] = packet;
        count += __popc(kept);
    }
    if (count > 32u) {
        // Too many for one a lane (many equal distances): each lane merges its share.
        Offer merged = no_offer();
        for (u32 slot = lane_id(); slot < team; slot += 32u) merged = merge(merged, unpack(mail[slot]));
        __syncwarp();
        board.list[lane_id()] = pack(merged, 0);
        count = 32u;
    }
    if (lane_id() == 0) {
        board.bound = bound;
        board.count = count;
    }
}

// From the offers of this block's warps to a list of what the team may choose.
__device__ __forceinline__ void exchange(Board& board, Packet* mail, Word* mailbox, u32 team, u32 epoch, const Guard& guard,
                                         u32* raised) {
    Word* turn = mailbox + (epoch & 1u) * WORDS * team;
    __syncthreads();
    if (threadIdx.x < 32u) {
        post_to_team(board, turn + blockIdx.x % team, blockDim.x / 32u, team, epoch);
        // The lane that posts goes first: the others wait for mail, which may be its own.
        __syncwarp();
    }
    bool come = true;
    for (u32 slot = threadIdx.x; slot < team && come; slot += blockDim.x) {
        come = wait_global(&mail[slot], turn + slot, team, epoch, guard, raised);
    }
    if (__syncthreads_or(!come)) leave(guard);
    if (threadIdx.x < 32u) sift(board, mail, team);
    __syncthreads();
}

template <u32 K, bool MORE, bool EXTRA>
__device__ __forceinline__ void sample_by_team(const Guard& guard, const Batch& batch, Word* mailboxes, u32 team) {
    const u32 teams = gridDim.x / team, rank = blockIdx.x % team;
    const u32 warp = threadIdx.x / 32u, warps = blockDim.x / 32u;
    if (blockIdx.x >= teams * team) return;  // a whole block, in no team
    Board& board = *(Board*)arena;
    Packet* mail = (Packet*)(&board + 1);
    real* shelf = (real*)(mail + team);
    // After a team's mailboxes a word more, in which the team's flag is.
    Word* mailbox = mailboxes + (u64)(blockIdx.x / team) * (2u * WORDS * team + 1u);
    u32* raised = &mailbox[2u * WORDS * team].a;
    if (is_absent(guard, AT_BEGIN, rank)) return;
    u32 epoch = 0;
    for (u32 b = blockIdx.x / team; b < batch.clouds; b += teams) {
        const Cloud cloud = cloud_of(batch, b);
        Held<K, MORE, EXTRA> points;
        points.load(cloud, {warp * team + rank, warps * team}, shelf);
        Progress run = begin(cloud, points);
        while (!run.done) {
            Offer offers[1] = {no_offer()};
            put_offer(points, board.slots + warp);
            exchange(board, mail, mailbox, team, ++epoch, guard, raised);
            if (lane_id() < board.count) offers[0] = unpack(board.list[lane_id()]);
            choose(cloud, offers, first(board.bound, offers[0].bound), points, run);
        }
        finish_cloud(cloud_of(batch, b), run.chosen, run.covering, rank * blockDim.x + threadIdx.x,
                     team * blockDim.x);
    }
    // Another block may have given up when this one had all it needed. Between what this block wrote and
    // its look at the flag: so that either it sees the flag, or what it wrote is overwritten.
    __threadfence();
    if (__syncthreads_or(threadIdx.x == 0 && load_relaxed(raised) != 0)) spoil(guard);
}
