// Limits for waits. Blocks and warps that work together poll for what the others have yet to do.
// Should that never come (a fault of ours, of the driver or of the card), they would poll forever.
// So every wait has a limit by the clock. Whoever reaches it *gives up*: it raises a flag by which the
// others of its team leave too, and reports to the host what it waited for. What the team was to write is
// then overwritten by what no run produces (`spoil`), so that it can't be taken for a result.
//
// Neither clock nor flag is looked at more often than every OFTEN-th poll.
#pragma once
#include "common/common.cuh"

// The first field of the argument of every kernel whose threads wait for other warps or blocks.
// `struct Guard` in src/guard.rs mirrors this one field by field.
struct Guard {
    u32* told;         // in host memory: `kernel` and what was waited for, if a thread gave up
    u32 limit;         // ticks that a wait may last without progress
    u32 kernel;        // its number in src/guard.rs
    u32 absent_stage;  // for tests: at this stage one block of each team leaves
    u32 absent_block;  // without a word, so that the others wait for it in vain; NONE: none does
};

// What is waited for; src/guard.rs has the words.
enum Waiting { FOR_BLOCKS = 1, FOR_OFFERS = 2, FOR_CANDIDATES = 3, FOR_DECISIONS = 4 };

// Where a test can have a block leave.
enum Stage { AT_BEGIN = 0, AT_EARLY = 1, AT_BAND = 2 };

// Overwrites all that the team of this block writes with what no run gives: indices with -1, distances
// and gradients with NaN. Each kernel file defines its own; all threads of the block take part.
//
// Every block of a team that gave up does this last of all, and for everything. So whatever a slower
// block wrote meanwhile is overwritten again, by that block itself.
__device__ void spoil(const Guard& guard);

constexpr u32 OFTEN = 512;

__device__ __forceinline__ u64 nanoseconds() {
    u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

// About a millisecond each.
__device__ __forceinline__ u32 ticks() { return (u32)(nanoseconds() >> 20); }

// Who reads and writes the words by which blocks work together: those of one GPU, or of several that work on one
// cloud (FARPOINT_SPAN).
#ifdef FARPOINT_SPAN
#define SCOPE "sys"
#define ATOMIC(operation) operation##_system
#else
#define SCOPE "gpu"
#define ATOMIC(operation) operation
#endif

// Relaxed: the value may be old. Each use says why that does no harm.
__device__ __forceinline__ u32 load_relaxed(const u32* at) {
    u32 value;
    asm volatile("ld.relaxed." SCOPE ".global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__device__ __forceinline__ void store_relaxed(u32* at, u32 value) {
    asm volatile("st.relaxed." SCOPE ".global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

// Between what this thread wrote and read before and after, for all threads of the card, or cards.
__device__ __forceinline__ void fence() { asm volatile("fence.acq_rel." SCOPE ";" ::: "memory"); }

// One wait of a thread.
struct Wait {
    u32 polls = 0;
    u32 since = 0;  // tick of the last progress
    u32 seen = 0;   // and what it was known by

    // To be called after every poll in vain: whether to give up. `raised` is the team's flag, or null;
    // `progress` is a word that changes when others go on, so that the wait starts again, or null.
    __device__ __forceinline__ bool over(const Guard& guard, u32* raised, Waiting what, const u32* progress = nullptr) {
        return ++polls % OFTEN == 0 && look(guard, raised, what, progress);
    }

    // Looks at the flag and the clock.
    __device__ __forceinline__ bool look(const Guard& guard, u32* raised, Waiting what, const u32* progress) {
        u32 now = ticks(), known = progress ? load_relaxed(progress) : 0;
        if (polls == OFTEN || known != seen) {
            since = now;
            seen = known;
        }
        // Relaxed, both: what is not seen yet is seen by a later look.
        if (raised && load_relaxed(raised) != 0) return true;
        if (now - since <= guard.limit) return false;
        if (raised) store_relaxed(raised, 1);
        *(volatile u32*)guard.told = guard.kernel << 8 | what;
        __threadfence_system();
        return true;
    }
};

// The whole block leaves the kernel.
__device__ __forceinline__ void leave(const Guard& guard) {
    spoil(guard);
    asm volatile("exit;");
}

// Whether a test wants this block to leave now.
__device__ __forceinline__ bool is_absent(const Guard& guard, Stage stage, u32 rank) {
    return guard.absent_block == rank && guard.absent_stage == stage;
}
