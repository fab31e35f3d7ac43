// How offers travel between blocks: words of 16 bytes in shared memory of other blocks of a
// cluster, or in global memory.
//
// A word is written and read by one relaxed `.b128` access with a scope: a scalar, which is never
// torn. It carries its epoch, so neither fences nor flags are needed. Epochs count the exchanges
// of a launch from 1; mailboxes begin as zeros.
//
// Two sets of mailboxes, used in turn, are enough. Say a warp (in the grid: a block) posts its offer
// of epoch e + 2, over that of epoch e. It has read the offers of epoch e + 1 of all warps, for
// they decided what it offers now. Each of those was posted by a warp that had read all offers of
// epoch e, for the same reason. So every reader has read what is overwritten, and none looks for
// it again.
#pragma once
#include "common/cluster.cuh"
#include "common/guard.cuh"
#include "persistent/offer.cuh"

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

// Waits for a packet of the global mailboxes; its words are `step` words apart. False: given up.
// Relaxed: an old word has another epoch, and is read again.
__device__ __forceinline__ bool wait_global(Packet* to, const Word* mail, u32 step, u32 epoch, const Guard& guard,
                                            u32* raised) {
    Wait wait;
    while (true) {
        Packet packet;
        bool come = true;
#pragma unroll
        for (u32 i = 0; i < WORDS; ++i) {
            packet.word[i] = load_word(mail + i * step);
            come = come && packet.word[i].epoch == epoch;
        }
        if (come) {
            *to = packet;
            return true;
        }
        if (wait.over(guard, raised, FOR_OFFERS)) return false;
    }
}

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ void post_cluster(u64 address, const Word& word) {
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "mov.b128 word, {%1, %2};\n\t"
                 "st.relaxed.cluster.b128 [%0], word;\n\t}" ::"l"(address),
                 "l"((u64)word.b << 32 | word.a), "l"((u64)word.epoch << 32 | word.c)
                 : "memory");
}

// Reads a word of this block's own mailboxes.
__device__ __forceinline__ Word read_own(u32 address) {
    u64 low, high;
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "ld.relaxed.cluster.shared::cta.b128 word, [%2];\n\t"
                 "mov.b128 {%0, %1}, word;\n\t}"
                 : "=l"(low), "=l"(high)
                 : "r"(address)
                 : "memory");
    return {(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)};
}

// Waits for COUNT packets of this block's mailboxes; the words of a packet are `step` bytes apart. False:
// given up. Relaxed: an old word has another epoch, and is read again.
template <u32 COUNT>
__device__ __forceinline__ bool wait_cluster(Packet (&packets)[COUNT], const u32 (&addresses)[COUNT], u32 step,
                                             u32 epoch, const Guard& guard) {
    Wait wait;
    while (true) {
        bool come = true;
#pragma unroll
        for (u32 i = 0; i < COUNT * WORDS; ++i) {
            Word word = read_own(addresses[i / WORDS] + i % WORDS * step);
            packets[i / WORDS].word[i % WORDS] = word;
            come = come && word.epoch == epoch;
        }
        if (come) return true;
        // No flag: all warps of a cluster wait for the same mail, and reach the limit by themselves.
        if (wait.over(guard, nullptr, FOR_OFFERS)) return false;
    }
}
#endif
