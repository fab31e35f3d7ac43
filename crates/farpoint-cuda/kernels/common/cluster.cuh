// Blocks of a cluster, and their shared memory. Without clusters (before 9.0) each block is one of its own.
#pragma once
#include "common/common.cuh"

__device__ __forceinline__ u32 cluster_size() {
    u32 size = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
    return size;
}

__device__ __forceinline__ u32 cluster_rank() {
    u32 rank = 0;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

__device__ __forceinline__ void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
}

// The same place in the shared memory of another block of the cluster, as a generic address.
__device__ __forceinline__ u64 address_in(const void* here, u32 rank) {
    u64 result = (u64)here;
#if __CUDA_ARCH__ >= 900
    asm("mapa.u64 %0, %1, %2;" : "=l"(result) : "l"(here), "r"(rank));
#endif
    return result;
}

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}
