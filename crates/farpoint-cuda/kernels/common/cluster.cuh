// Blocks of a cluster, and their shared memory: from 9.0 on.
#pragma once
#include "common/common.cuh"

__device__ __forceinline__ u32 cluster_size() {
    u32 size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_barrier() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same place in the shared memory of another block of the cluster, as a generic address.
__device__ __forceinline__ u64 address_in(const void* here, u32 rank) {
    u64 result;
    asm("mapa.u64 %0, %1, %2;" : "=l"(result) : "l"(here), "r"(rank));
    return result;
}
