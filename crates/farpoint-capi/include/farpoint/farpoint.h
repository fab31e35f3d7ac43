/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Made by cbindgen of crates/farpoint-capi/src: do not edit. */

/**
 * @file
 * Exact farthest point sampling of point clouds, neighbors, the Chamfer distance and measures.
 *
 * @code
 * farpoint_points cloud = farpoint_dense(xyz, count, 3, FARPOINT_FLOAT32);
 * farpoint_sample_options options = {0};
 * options.size = sizeof options;
 * options.count = 512;
 * farpoint_sample_result *sample = NULL;
 * if (farpoint_sample(cloud, &options, &sample) != FARPOINT_OK) {
 *     fprintf(stderr, "%s\n", farpoint_last_error());
 *     return 1;
 * }
 * farpoint_sample_view view = farpoint_sample_result_view(sample);
 * for (size_t k = 0; k < view.count; k++) { ... view.indices[k] ... }
 * farpoint_sample_result_free(sample);
 * @endcode
 *
 * Errors: functions that can fail return a status, FARPOINT_OK or another; farpoint_last_error() has
 * the text. What is checked is what can be: null pointers, numbers out of range, structures of the
 * wrong size, addresses that wrap around. That memory is as large as described is the caller's word.
 * Functions on results take NULL and then return 0, NaN or NULL.
 *
 * Memory: a call keeps nothing of what it is given. Results are freed by the function of their name.
 * Threads keep some scratch memory (up to 64 MiB each) for their next call.
 *
 * Threads: any thread may call, several at a time. Results never depend on their number. The first
 * call on all threads starts a pool for the process, which stays. The shared library can't be
 * unloaded. After fork() the child has none of the pool's threads: a call there on all threads
 * works on a pool of the child's own, and as usual only what is safe after fork() of a process with
 * threads is safe; `threads = 1` needs no pool.
 */

#ifndef FARPOINT_FARPOINT_H
#define FARPOINT_FARPOINT_H

#include <stddef.h>
#include <stdint.h>

/**
 * The index where there is no neighbor, in all searches.
 */
#define FARPOINT_NONE UINT32_MAX

/**
 * The major version that this header belongs to.
 */
#define FARPOINT_VERSION_MAJOR 0

/**
 * The minor version that this header belongs to.
 */
#define FARPOINT_VERSION_MINOR 1

/**
 * The patch version that this header belongs to.
 */
#define FARPOINT_VERSION_PATCH 0

/**
 * Flag of farpoint_points: the bytes of each coordinate are in the opposite order of this
 * machine's.
 */
#define FARPOINT_BYTE_SWAPPED 1

/**
 * The type of coordinates.
 */
enum farpoint_scalar
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * `float`, 32 bits.
     */
    FARPOINT_FLOAT32 = 0,
    /**
     * `double`, 64 bits.
     */
    FARPOINT_FLOAT64 = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_scalar farpoint_scalar;
#else
typedef int32_t farpoint_scalar;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Outcome of a call.
 */
enum farpoint_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The call succeeded.
     */
    FARPOINT_OK = 0,
    /**
     * An argument, an option, or the size of a cloud is wrong; nothing was done.
     */
    FARPOINT_INVALID_ARGUMENT = 1,
    /**
     * Rows hold NaN or infinity. Remove them, or set `non_finite` to FARPOINT_NON_FINITE_SKIP.
     */
    FARPOINT_NON_FINITE = 2,
    /**
     * The progress callback canceled the call; there is no result.
     */
    FARPOINT_CANCELED = 3,
    /**
     * Not enough memory. If the host runs out, the process ends instead, as it does
     * wherever Rust allocates; this status is for sizes known beforehand, and for memory of a
     * GPU.
     */
    FARPOINT_OUT_OF_MEMORY = 4,
    /**
     * Not available: no such GPU, no driver, an instruction set that this processor does not have,
     * a library that was built without CUDA.
     */
    FARPOINT_UNAVAILABLE = 5,
    /**
     * A GPU failed while it worked; the text tells whether to call again.
     */
    FARPOINT_DEVICE_FAILED = 6,
    /**
     * An error in farpoint itself; please report the text. The library can still be used.
     */
    FARPOINT_INTERNAL = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_status farpoint_status;
#else
typedef int32_t farpoint_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Scheduling of the threads of the pool by the system.
 */
enum farpoint_scheduling
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Scheduling of the thread that starts the pool.
     */
    FARPOINT_SCHEDULING_INHERITED = 0,
    /**
     * SCHED_FIFO: a thread runs until it waits.
     */
    FARPOINT_SCHEDULING_FIFO = 1,
    /**
     * SCHED_RR: threads of equal priority take turns.
     */
    FARPOINT_SCHEDULING_ROUND_ROBIN = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_scheduling farpoint_scheduling;
#else
typedef int32_t farpoint_scheduling;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Device of a call.
 */
enum farpoint_device
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The processor.
     */
    FARPOINT_CPU = 0,
    /**
     * The NVIDIA GPU with the number `device_number`.
     */
    FARPOINT_CUDA = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_device farpoint_device;
#else
typedef int32_t farpoint_device;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Vector instructions. They never change a result.
 */
enum farpoint_instruction_set
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The best of this processor.
     */
    FARPOINT_INSTRUCTIONS_BEST = 0,
    /**
     * Instructions of every processor of this kind.
     */
    FARPOINT_INSTRUCTIONS_PORTABLE = 1,
    /**
     * AVX2.
     */
    FARPOINT_INSTRUCTIONS_AVX2 = 2,
    /**
     * AVX-512 (F, BW, DQ, VL).
     */
    FARPOINT_INSTRUCTIONS_AVX512 = 3,
    /**
     * NEON, on 64-bit ARM.
     */
    FARPOINT_INSTRUCTIONS_NEON = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_instruction_set farpoint_instruction_set;
#else
typedef int32_t farpoint_instruction_set;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Handling of rows with NaN or infinity.
 */
enum farpoint_non_finite
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Rows with NaN or infinity are an error, FARPOINT_NON_FINITE.
     */
    FARPOINT_NON_FINITE_ERROR = 0,
    /**
     * Rows with NaN or infinity are left out and counted; indices still count all rows.
     */
    FARPOINT_NON_FINITE_SKIP = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_non_finite farpoint_non_finite;
#else
typedef int32_t farpoint_non_finite;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Amount of samples.
 */
enum farpoint_amount
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * `count` samples, at least 1.
     */
    FARPOINT_COUNT = 0,
    /**
     * `ceil(ratio * points)` samples, for a `ratio` above 0 and up to 1.
     */
    FARPOINT_RATIO = 1,
    /**
     * Samples until every point is within `spacing` of one. Exact sampling only.
     */
    FARPOINT_SPACING = 2,
    /**
     * All points; by exact sampling in farthest-first order, of which every prefix is a sample.
     */
    FARPOINT_ALL = 3,
    /**
     * One point per occupied cell of a grid of cells of the size `cell`. FARPOINT_METHOD_GRID and
     * farpoint_centroids() only.
     */
    FARPOINT_CELL = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_amount farpoint_amount;
#else
typedef int32_t farpoint_amount;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Methods of approximate sampling.
 */
enum farpoint_approximate_method
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Points drawn without replacement, all equally likely.
     */
    FARPOINT_METHOD_RANDOM = 0,
    /**
     * One point of each occupied cell of a cubic grid.
     */
    FARPOINT_METHOD_GRID = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_approximate_method farpoint_approximate_method;
#else
typedef int32_t farpoint_approximate_method;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Point of a cell that is kept.
 */
enum farpoint_keep
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The nearest to its center.
     */
    FARPOINT_KEEP_CENTER = 0,
    /**
     * The one of lowest index.
     */
    FARPOINT_KEEP_FIRST = 1,
    /**
     * A random one, drawn by `method_seed`.
     */
    FARPOINT_KEEP_RANDOM = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_keep farpoint_keep;
#else
typedef int32_t farpoint_keep;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Point that stands for those of a voxel.
 */
enum farpoint_reduce
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Their mean.
     */
    FARPOINT_REDUCE_MEAN = 0,
    /**
     * The one of lowest index.
     */
    FARPOINT_REDUCE_FIRST = 1,
    /**
     * The nearest to the voxel's center, the lowest index among equals.
     */
    FARPOINT_REDUCE_CENTER = 2,
    /**
     * A random one, drawn by `seed` and the voxel's cell.
     */
    FARPOINT_REDUCE_RANDOM = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_reduce farpoint_reduce;
#else
typedef int32_t farpoint_reduce;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Search method. It never changes a result.
 */
enum farpoint_search_method
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The fastest for the input at hand.
     */
    FARPOINT_SEARCH_AUTO = 0,
    /**
     * The obvious loop, which all others are tested against. CPU only.
     */
    FARPOINT_SEARCH_REFERENCE = 1,
    /**
     * All pairs, each distance by its definition. CUDA only.
     */
    FARPOINT_SEARCH_PLAIN = 2,
    /**
     * All pairs, by vectors.
     */
    FARPOINT_SEARCH_BRUTE = 3,
    /**
     * Through trees.
     */
    FARPOINT_SEARCH_TREE = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_search_method farpoint_search_method;
#else
typedef int32_t farpoint_search_method;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Kind of neighbors.
 */
enum farpoint_search_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The `k` nearest, wherever they are.
     */
    FARPOINT_NEAREST = 0,
    /**
     * Points within `radius`.
     */
    FARPOINT_BALL = 1,
    /**
     * Points within `radius`, which (as the other radii) is compared with raw distances:
     * squared with norm 2.
     */
    FARPOINT_RAW_BALL = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_search_kind farpoint_search_kind;
#else
typedef int32_t farpoint_search_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Neighbors in a ball that are kept if there are more than `k`, and their order.
 */
enum farpoint_ball_order
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Lowest index first.
     */
    FARPOINT_BY_INDEX = 0,
    /**
     * Nearest first.
     */
    FARPOINT_BY_DISTANCE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum farpoint_ball_order farpoint_ball_order;
#else
typedef int32_t farpoint_ball_order;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * An approximate sample, which is not the farthest point sample.
 *
 * Made by farpoint_approximate(), freed by farpoint_approximate_result_free(). It never changes, so
 * any number of threads may read it at a time.
 */
typedef struct farpoint_approximate_result farpoint_approximate_result;

/**
 * The centroids of the occupied cells of a grid.
 *
 * Made by farpoint_centroids(), freed by farpoint_centroids_result_free(). It never changes, so any
 * number of threads may read it at a time.
 */
typedef struct farpoint_centroids_result farpoint_centroids_result;

/**
 * Nearest points in both directions between two clouds, and what follows from them.
 *
 * Made by farpoint_chamfer() and farpoint_chamfer_batch(), freed by farpoint_chamfer_result_free().
 * It never changes, so any number of threads may read it at a time.
 */
typedef struct farpoint_chamfer_result farpoint_chamfer_result;

/**
 * Gradients of the coordinates of two clouds.
 *
 * Made by farpoint_chamfer_backward() and its like, freed by farpoint_gradients_result_free(). It
 * never changes, so any number of threads may read it at a time.
 */
typedef struct farpoint_gradients_result farpoint_gradients_result;

/**
 * A cloud with the tree by which the CPU searches it, for repeated searches.
 *
 * Made by farpoint_index_build(), freed by farpoint_index_free(). It has a copy of the points. It
 * never changes, so any number of threads may search it at a time.
 */
typedef struct farpoint_index farpoint_index;

/**
 * The nearest point of another cloud for each point of a cloud.
 *
 * Made by farpoint_nearest() and farpoint_nearest_batch() and freed by
 * farpoint_nearest_result_free(), or lent by farpoint_chamfer_result_direction(). It never changes,
 * so any number of threads may read it at a time.
 */
typedef struct farpoint_nearest_result farpoint_nearest_result;

/**
 * The neighbors in another cloud of each row of a cloud: `k` places per row, filled from the first.
 *
 * Made by farpoint_search() and farpoint_search_batch(), freed by farpoint_neighbors_result_free().
 * It never changes, so any number of threads may read it at a time.
 */
typedef struct farpoint_neighbors_result farpoint_neighbors_result;

/**
 * A sample: indices in order of choice, and the selection distance of each.
 *
 * Made by farpoint_sample() and farpoint_sample_batch(), freed by farpoint_sample_result_free(). It
 * never changes, so any number of threads may read it at a time.
 */
typedef struct farpoint_sample_result farpoint_sample_result;

/**
 * The occupied voxels of a cloud.
 *
 * Made by farpoint_voxels(), freed by farpoint_voxels_result_free(). It never changes, so any number of
 * threads may read it at a time.
 */
typedef struct farpoint_voxels_result farpoint_voxels_result;

/**
 * All neighbors in a ball of each row of a cloud, concatenated.
 *
 * Made by farpoint_within() and farpoint_within_batch(), freed by farpoint_within_result_free(). It
 * never changes, so any number of threads may read it at a time.
 */
typedef struct farpoint_within_result farpoint_within_result;

/**
 * A cloud: the layout of its coordinates. Nothing is copied, and nothing is kept after the call.
 *
 * Coordinate `axis` of point `i` is the number at the address
 * `data + i * point_stride + axis * axis_stride`, or, with `axis_offsets`, at
 * `data + i * point_stride + axis_offsets[axis]`, all in bytes. Addresses need not be aligned.
 * farpoint_dense() describes an array without gaps. Other examples, for `float`:
 *
 * | memory | point_stride | axis_stride | axis_offsets |
 * |---|---|---|---|
 * | `float xyz[n][3]` | 12 | 4 | NULL |
 * | `struct { float x, y, z, intensity; } points[n]` | 16 | 4 | NULL |
 * | `float x[n], y[n], z[n]` in one block | 4 | 4 * n | NULL |
 * | three arrays anywhere, `data` being the first | 4 | not used | the bytes from the first to each |
 * | from the last point to the first | negative | 4 | NULL |
 */
typedef struct farpoint_points {
    /**
     * The first coordinate of the first point. May be NULL if `count` is 0.
     */
    const void *data;
    /**
     * Number of points.
     */
    size_t count;
    /**
     * Coordinates of a point, at least 1.
     */
    size_t dimensions;
    /**
     * Bytes from a point to the next. May be negative; not 0, unless there is one point.
     */
    ptrdiff_t point_stride;
    /**
     * Bytes from a coordinate to the next. May be negative; not 0, unless there is one coordinate.
     * Ignored if there are `axis_offsets`.
     */
    ptrdiff_t axis_stride;
    /**
     * `dimensions` numbers: offsets of the coordinates of a point, in bytes from the point. NULL to use
     * `axis_stride`.
     */
    const ptrdiff_t *axis_offsets;
    /**
     * The memory in which all coordinates must lie, if the library is to check that they do; NULL
     * if not.
     */
    const void *buffer;
    /**
     * Bytes of `buffer`.
     */
    size_t buffer_size;
    /**
     * FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
     */
    farpoint_scalar scalar;
    /**
     * 0 or FARPOINT_BYTE_SWAPPED.
     */
    uint32_t flags;
    /**
     * The index whose points these are, if farpoint_index_points() made this description: of
     * the other members only `count`, `dimensions` and `scalar` are then used, and must be the
     * index's. NULL for coordinates in memory.
     */
    const struct farpoint_index *index;
} farpoint_points;

/**
 * Options of the threads of the pool, of which there is one in a process.
 *
 * @code
 * int32_t cpus[] = {2, 3};
 * farpoint_thread_options options = {0};
 * options.size = sizeof options;
 * options.cpus = cpus;
 * options.cpu_count = 2;
 * options.scheduling = FARPOINT_SCHEDULING_FIFO;
 * options.priority = 50;
 * farpoint_start_threads(&options);
 * @endcode
 */
typedef struct farpoint_thread_options {
    /**
     * `sizeof(farpoint_thread_options)`: gives the library the caller's version.
     */
    size_t size;
    /**
     * Number of threads. 0: one per entry of `cpus` or, without any, per core.
     */
    size_t threads;
    /**
     * Thread `k` is named `name-k`; systems cut names, Linux to 15 bytes. NULL: "farpoint".
     */
    const char *name;
    /**
     * Processors, from 0: thread `k` runs on `cpus[k % cpu_count]` alone. NULL: on any. Linux only.
     */
    const int32_t *cpus;
    /**
     * Number of `cpus`.
     */
    size_t cpu_count;
    /**
     * FARPOINT_SCHEDULING_INHERITED or another. Linux only.
     */
    farpoint_scheduling scheduling;
    /**
     * Priority, 1 to 99, of FARPOINT_SCHEDULING_FIFO and FARPOINT_SCHEDULING_ROUND_ROBIN; 0 without them.
     */
    int32_t priority;
} farpoint_thread_options;

/**
 * Progress of a call.
 */
typedef struct farpoint_progress {
    /**
     * Size of this structure in the library's version. Later versions may add members at the end.
     */
    size_t size;
    /**
     * Samples chosen so far, or points whose neighbors were found; of all clouds of a batch
     * together.
     */
    size_t done;
    /**
     * Upper bound of `done`.
     */
    size_t total;
    /**
     * The largest distance of a point to its nearest sample so far; infinite while it is unknown.
     */
    double covering_radius;
} farpoint_progress;

/**
 * Called now and then with the progress of a call: every 0.5 ms of farpoint_sample() or so, every few milliseconds of
 * a search, but not while clouds are copied.
 *
 * At most one call of it runs at a time, not always on the thread that called the library. It must
 * return: neither throw an exception nor jump out, and not call the library with the same arguments.
 *
 * @param user      `user` of the options
 * @param progress  progress of the call; the structure is valid until the callback returns
 * @return 0 to go on, anything else to cancel the call, which then returns FARPOINT_CANCELED
 */
typedef int32_t (*farpoint_progress_callback)(void *user, const struct farpoint_progress *progress);

/**
 * Options of the run of a call: `run` of the other options structures points to this, where NULL means the
 * defaults.
 *
 * Set everything to zero, then `size`, then the members to change: zero means the default everywhere.
 *
 * @code
 * farpoint_run_options run = {0};
 * run.size = sizeof run;
 * run.threads = 1;
 * options.run = &run;
 * @endcode
 */
typedef struct farpoint_run_options {
    /**
     * `sizeof(farpoint_run_options)`: gives the library the caller's version.
     */
    size_t size;
    /**
     * Number of threads. 0: those of one pool for the whole process, one per core, which starts
     * when it is first needed. 1: the calling thread alone; no thread is ever started.
     */
    size_t threads;
    /**
     * FARPOINT_CPU or FARPOINT_CUDA.
     */
    farpoint_device device;
    /**
     * Which GPU, from 0; 0 for the CPU.
     */
    int32_t device_number;
    /**
     * FARPOINT_INSTRUCTIONS_BEST or another. Never changes a result.
     */
    farpoint_instruction_set instruction_set;
    /**
     * FARPOINT_NON_FINITE_ERROR or FARPOINT_NON_FINITE_SKIP.
     */
    farpoint_non_finite non_finite;
    /**
     * Called now and then; may cancel. NULL: no callback.
     */
    farpoint_progress_callback progress;
    /**
     * Passed to `progress`.
     */
    void *user;
} farpoint_run_options;

/**
 * Options of exact sampling. The number of samples must be set: a `count` or `ratio` of 0 is
 * FARPOINT_INVALID_ARGUMENT, as nobody requests none on purpose.
 *
 * @code
 * farpoint_sample_options options = {0};
 * options.size = sizeof options;
 * options.count = 512;
 * @endcode
 */
typedef struct farpoint_sample_options {
    /**
     * `sizeof(farpoint_sample_options)`: gives the library the caller's version.
     */
    size_t size;
    /**
     * Device, threads and more. NULL: on all threads of the CPU, with the defaults.
     */
    const struct farpoint_run_options *run;
    /**
     * Amount: FARPOINT_COUNT, FARPOINT_RATIO, FARPOINT_SPACING or FARPOINT_ALL.
     */
    farpoint_amount amount;
    /**
     * Not 0 to start at a point drawn by `seed`, the same on every machine.
     */
    int32_t random_start;
    /**
     * Samples, at least 1, with FARPOINT_COUNT.
     */
    size_t count;
    /**
     * Share of the points, above 0 and up to 1, with FARPOINT_RATIO.
     */
    double ratio;
    /**
     * Largest distance to the nearest sample, in the unit of the coordinates, with FARPOINT_SPACING.
     */
    double spacing;
    /**
     * Rows that come first, in this order: `start_count` of them. NULL: the first usable row.
     */
    const size_t *starts;
    /**
     * Number of `starts`.
     */
    size_t start_count;
    /**
     * The seed of `random_start`.
     */
    uint64_t seed;
    /**
     * The algorithm, with its options: `"peak"`, `"radius:nvox=24"`. NULL: the fastest. All give the
     * same samples.
     */
    const char *algorithm;
    /**
     * Rows of the cloud to sample, each once: `row_count` of them. Ties go to the row
     * that is listed first, and the first listed row is the start unless others are given. Indices
     * and starts are rows of the whole cloud. NULL: all rows.
     */
    const size_t *rows;
    /**
     * Number of `rows`.
     */
    size_t row_count;
    /**
     * One byte per point of the cloud: points whose byte is not 0 are sampled, as if listed in `rows` from
     * the first to the last. NULL: all rows. Not together with `rows`.
     */
    const uint8_t *mask;
    /**
     * Not 0 if a call that the progress callback cancels returns the samples chosen so far, as after a `deadline`, instead
     * of FARPOINT_CANCELED.
     */
    int32_t partial;
    /**
     * Seconds after which the call returns the samples chosen so far: the beginning of the complete sample, with its
     * covering radius, and `complete` 0. There is at least the start. 0: none. For farpoint_sample() on the CPU.
     */
    double deadline;
} farpoint_sample_options;

/**
 * Members of a sample. Addresses are valid until it is freed.
 */
typedef struct farpoint_sample_view {
    /**
     * Number of samples.
     */
    size_t count;
    /**
     * Rows of the cloud in order of choice, all different: `count` of them.
     */
    const size_t *indices;
    /**
     * The squared distance of each sample to the nearest one before it; infinite for starts.
     * NULL if the points were not `float`.
     */
    const float *squared_distances_f32;
    /**
     * The squared distances for points of type `double`; NULL if they were not.
     */
    const double *squared_distances_f64;
    /**
     * The largest distance of any point to its nearest sample, in the unit of the coordinates;
     * infinite if nothing was chosen.
     */
    double covering_radius;
    /**
     * Rows that were left out because they hold NaN or infinity.
     */
    size_t dropped;
    /**
     * The algorithm that ran, with its options, as text.
     */
    const char *algorithm;
    /**
     * 0 if a deadline or the progress callback ended the call before the sample was complete.
     */
    int32_t complete;
} farpoint_sample_view;

/**
 * Options of an approximate sampler. The number of points must be set: a `count` or `ratio` of 0 is
 * FARPOINT_INVALID_ARGUMENT, and so are members of another method.
 */
typedef struct farpoint_approximate_options {
    /**
     * `sizeof(farpoint_approximate_options)`: gives the library the caller's version.
     */
    size_t size;
    /**
     * Threads and more; the device is the CPU. NULL: on all threads, with the defaults.
     */
    const struct farpoint_run_options *run;
    /**
     * FARPOINT_METHOD_RANDOM or FARPOINT_METHOD_GRID.
     */
    farpoint_approximate_method method;
    /**
     * Amount: FARPOINT_COUNT, FARPOINT_RATIO, FARPOINT_ALL, or FARPOINT_CELL.
     */
    farpoint_amount amount;
    /**
     * Points, at least 1, with FARPOINT_COUNT.
     */
    size_t count;
    /**
     * Share of the points, above 0 and up to 1, with FARPOINT_RATIO.
     */
    double ratio;
    /**
     * Size of a cell in the unit of the coordinates, with FARPOINT_CELL.
     */
    double cell;
    /**
     * The seed of FARPOINT_METHOD_RANDOM and FARPOINT_KEEP_RANDOM.
     */
    uint64_t method_seed;
    /**
     * Point of a cell that FARPOINT_METHOD_GRID keeps: FARPOINT_KEEP_CENTER or another.
     */
    farpoint_keep keep;
    /**
     * Rows of the cloud to sample, as in farpoint_sample_options. NULL: all rows.
     */
    const size_t *rows;
    /**
     * Number of `rows`.
     */
    size_t row_count;
    /**
     * One byte per point, as in farpoint_sample_options. NULL: all rows.
     */
    const uint8_t *mask;
} farpoint_approximate_options;

/**
 * Members of an approximate sample. Addresses are valid until it is freed.
 */
typedef struct farpoint_approximate_view {
    /**
     * Number of samples.
     */
    size_t count;
    /**
     * Rows of the cloud, all different, `count` of them: in order of choice, or rising (FARPOINT_METHOD_GRID).
     */
    const size_t *indices;
    /**
     * Rows that were left out because they hold NaN or infinity.
     */
    size_t dropped;
    /**
     * The size of a cell of FARPOINT_METHOD_GRID: 0 if every distinct position had to be kept; NaN
     * for other methods.
     */
    double cell;
} farpoint_approximate_view;

/**
 * Members of centroids. Addresses are valid until they are freed.
 */
typedef struct farpoint_centroids_view {
    /**
     * Number of centroids.
     */
    size_t count;
    /**
     * The coordinates of the centroids, without gaps; NULL if the points were not `float`.
     */
    const float *coordinates_f32;
    /**
     * The coordinates for points of type `double`; NULL if they were not.
     */
    const double *coordinates_f64;
    /**
     * Number of points that each centroid is the mean of.
     */
    const uint32_t *point_counts;
    /**
     * The size of a cell.
     */
    double cell;
    /**
     * Rows that were left out because they hold NaN or infinity.
     */
    size_t dropped;
} farpoint_centroids_view;

/**
 * Options of voxel downsampling. The edge length must be set: 0 is FARPOINT_INVALID_ARGUMENT.
 */
typedef struct farpoint_voxel_options {
    /**
     * `sizeof(farpoint_voxel_options)`: gives the library the caller's version.
     */
    size_t size;
    /**
     * Threads and more. NULL: on all threads of the CPU, with the defaults.
     */
    const struct farpoint_run_options *run;
    /**
     * Edge length of a voxel in the unit of the coordinates; ignored if `edges` is set.
     */
    double edge;
    /**
     * Edge length on each axis. NULL: `edge` on all.
     */
    const double *edges;
    /**
     * Number of `edges`.
     */
    size_t edge_count;
    /**
     * A corner of a voxel. NULL: 0 on every axis.
     */
    const double *origin;
    /**
     * Number of coordinates of the origin.
     */
    size_t origin_count;
    /**
     * Not 0 for an origin at the smallest coordinate of each axis.
     */
    int32_t min_origin;
    /**
     * Point that stands for those of a voxel: FARPOINT_REDUCE_MEAN or another.
     */
    farpoint_reduce reduce;
    /**
     * The seed of FARPOINT_REDUCE_RANDOM.
     */
    uint64_t seed;
    /**
     * Not 0 to order voxels by cell, the first axis counting most; else they are in the order of their first rows.
     */
    int32_t sorted;
    /**
     * Voxels of fewer points are left out.
     */
    uint32_t min_points;
    /**
     * Rows of the cloud to use, as in farpoint_sample_options. NULL: all rows.
     */
    const size_t *rows;
    /**
     * Number of `rows`.
     */
    size_t row_count;
    /**
     * One byte per point, as in farpoint_sample_options. NULL: all rows.
     */
    const uint8_t *mask;
} farpoint_voxel_options;

/**
 * Members of voxels. Addresses are valid until they are freed.
 */
typedef struct farpoint_voxels_view {
    /**
     * Number of voxels.
     */
    size_t count;
    /**
     * Number of coordinates of a point.
     */
    size_t dims;
    /**
     * Coordinates of the point that stands for each voxel, without gaps; NULL if the points were not `float`.
     */
    const float *coordinates_f32;
    /**
     * The coordinates for points of type `double`; NULL if they were not.
     */
    const double *coordinates_f64;
    /**
     * Row of the point that stands for each voxel; the first one of the voxel if that is a mean.
     */
    const uint32_t *rows;
    /**
     * Number of points of each voxel.
     */
    const uint32_t *point_counts;
    /**
     * Cell of each voxel, `dims` numbers each: the floor of (p - origin) / edge on each axis.
     */
    const int32_t *cells;
    /**
     * Number of points of the cloud, or of selected rows.
     */
    size_t inverse_count;
    /**
     * Voxel of each of them; FARPOINT_NONE for those in none.
     */
    const uint32_t *inverse;
    /**
     * Rows that were left out because they hold NaN or infinity.
     */
    size_t dropped;
} farpoint_voxels_view;

/**
 * Options of a search for nearest points. All zero but `size`: Euclidean distances.
 */
typedef struct farpoint_match_options {
    /**
     * `sizeof(farpoint_match_options)`: gives the library the caller's version.
     */
    size_t size;
    /**
     * Device, threads and more. NULL: on all threads of the CPU, with the defaults.
     */
    const struct farpoint_run_options *run;
    /**
     * 2: Euclidean distances; 1: sums of absolute differences; 0: the default, 2.
     */
    int32_t norm;
    /**
     * FARPOINT_SEARCH_AUTO or another. Never changes a result.
     */
    farpoint_search_method method;
} farpoint_match_options;

/**
 * Nearest points. Addresses are valid until the result is freed.
 */
typedef struct farpoint_nearest_view {
    /**
     * Number of rows, those left out among them.
     */
    size_t rows;
    /**
     * The nearest point of each row, as a row of the other cloud, the lowest among those equally
     * near; FARPOINT_NONE for rows that were left out.
     */
    const uint32_t *indices;
    /**
     * The distance of each row to its nearest point as it is computed: squared with norm 2. NaN for
     * rows that were left out. NULL if the points were not `float`.
     */
    const float *raw_distances_f32;
    /**
     * The raw distances for points of type `double`; NULL if they were not.
     */
    const double *raw_distances_f64;
    /**
     * Rows that were left out because they hold NaN or infinity.
     */
    size_t dropped;
} farpoint_nearest_view;

/**
 * Agreement of two clouds: the first is evaluated, the second is the ground truth.
 */
typedef struct farpoint_f_score {
    /**
     * Share of the first cloud within the threshold of the second, 0 to 1.
     */
    double precision;
    /**
     * Share of the second cloud within the threshold of the first, 0 to 1.
     */
    double recall;
    /**
     * Their harmonic mean; 0 when both are 0.
     */
    double f_score;
} farpoint_f_score;

/**
 * Options of a search for several neighbors. `k` must be set, except for farpoint_within().
 */
typedef struct farpoint_search_options {
    /**
     * `sizeof(farpoint_search_options)`: gives the library the caller's version.
     */
    size_t size;
    /**
     * Device, threads and more. NULL: on all threads of the CPU, with the defaults.
     */
    const struct farpoint_run_options *run;
    /**
     * Most neighbors of a point. Ignored by farpoint_within().
     */
    size_t k;
    /**
     * 2: Euclidean distances; 1: sums of absolute differences; 0: the default, 2.
     */
    int32_t norm;
    /**
     * FARPOINT_SEARCH_AUTO or another. Never changes a result.
     */
    farpoint_search_method method;
    /**
     * Kind of neighbors: FARPOINT_NEAREST, FARPOINT_BALL or FARPOINT_RAW_BALL.
     */
    farpoint_search_kind kind;
    /**
     * Neighbors of a ball that are kept, and their order: FARPOINT_BY_INDEX or
     * FARPOINT_BY_DISTANCE.
     */
    farpoint_ball_order order;
    /**
     * Not 0: points at exactly `radius` are neighbors, too.
     */
    int32_t inclusive;
    /**
     * Not 0: excludes the row of the same number, for a cloud searched for its own neighbors.
     */
    int32_t exclude_self;
    /**
     * Points nearer than this are neighbors. For balls.
     */
    double radius;
    /**
     * Points nearer than this are none, unless they are within `near_radius`. For balls.
     */
    double min_radius;
    /**
     * Points up to this far away are neighbors whatever `min_radius` is; 0: those at the same position.
     * For balls.
     */
    double near_radius;
} farpoint_search_options;

/**
 * Neighbors of each row. Addresses are valid until the result is freed.
 */
typedef struct farpoint_neighbors_view {
    /**
     * Number of rows, those left out among them.
     */
    size_t rows;
    /**
     * Places per row: the requested `k`.
     */
    size_t k;
    /**
     * Neighbors of each row, at most `k`.
     */
    const uint32_t *counts;
    /**
     * The neighbors of all rows, `rows * k` rows of the other cloud: those of row `i` begin at
     * `i * k`. FARPOINT_NONE in places without a neighbor.
     */
    const uint32_t *indices;
    /**
     * The distance of each neighbor as it is computed: squared with norm 2. Infinite in places
     * without a neighbor. NULL if the points were not `float`.
     */
    const float *raw_distances_f32;
    /**
     * The raw distances for points of type `double`; NULL if they were not.
     */
    const double *raw_distances_f64;
    /**
     * Rows that were left out because they hold NaN or infinity.
     */
    size_t dropped;
} farpoint_neighbors_view;

/**
 * Neighbors in balls. Addresses are valid until the result is freed.
 */
typedef struct farpoint_within_view {
    /**
     * Number of rows, those left out among them.
     */
    size_t rows;
    /**
     * Start of the neighbors of each row, and the end of the last: `rows + 1` numbers.
     */
    const size_t *offsets;
    /**
     * Total number of neighbors.
     */
    size_t count;
    /**
     * The neighbors of all rows, as rows of the other cloud: those of row `i` are number `offsets[i]`
     * to below `offsets[i + 1]`.
     */
    const uint32_t *indices;
    /**
     * The distance of each neighbor as it is computed: squared with norm 2. NULL if the points were
     * not `float`.
     */
    const float *raw_distances_f32;
    /**
     * The raw distances for points of type `double`; NULL if they were not.
     */
    const double *raw_distances_f64;
    /**
     * Rows that were left out because they hold NaN or infinity.
     */
    size_t dropped;
} farpoint_within_view;

/**
 * Gradients of the coordinates of two clouds, a number per coordinate, without gaps. Addresses are
 * valid until the result is freed.
 */
typedef struct farpoint_gradients_view {
    /**
     * Numbers of the first cloud: its points times its dimensions.
     */
    size_t a_count;
    /**
     * Gradients of the first cloud; NULL if the points were not `float`.
     */
    const float *a_f32;
    /**
     * Gradients of the first cloud for points of type `double`; NULL if they were not.
     */
    const double *a_f64;
    /**
     * Numbers of the second cloud.
     */
    size_t b_count;
    /**
     * Gradients of the second cloud; NULL if the points were not `float`.
     */
    const float *b_f32;
    /**
     * Gradients of the second cloud for points of type `double`; NULL if they were not.
     */
    const double *b_f64;
} farpoint_gradients_view;

/**
 * Distances from each sample to its nearest other sample, in the unit of the coordinates.
 */
typedef struct farpoint_spacing {
    /**
     * Their mean.
     */
    double mean;
    /**
     * The smallest.
     */
    double min;
    /**
     * The largest.
     */
    double max;
} farpoint_spacing;

/**
 * Measures of a sample. Distances are in the unit of the coordinates.
 */
typedef struct farpoint_quality {
    /**
     * `sizeof(farpoint_quality)`, set by the caller: gives the library the caller's version.
     */
    size_t size;
    /**
     * Points of the cloud.
     */
    size_t points;
    /**
     * Samples.
     */
    size_t samples;
    /**
     * Share of the samples that are different rows (of coordinates: at different places), 0 to 1.
     */
    double unique;
    /**
     * Mean distance of the points to their nearest sample.
     */
    double coverage_mean;
    /**
     * The smallest distance that at least 99 % of the points are within.
     */
    double coverage_p99;
    /**
     * The largest distance of a point to its nearest sample: the covering radius.
     */
    double covering_radius;
    /**
     * Distances among the samples; NaN for a single one.
     */
    struct farpoint_spacing spacing;
    /**
     * Chamfer distance of cloud and sample, of squared distances.
     */
    double chamfer;
} farpoint_quality;

/**
 * Clouds in the memory of a GPU, and the addresses of their samples. All addresses but that of the structure
 * are of device memory; numbers there are `int64_t`, except coordinates and distances, which are
 * of the scalar type.
 *
 * Coordinate `axis` of row `i` of the batch is at
 * `points + i * point_stride + axis * axis_stride`, in bytes. Cloud `b` is the rows from `b * rows` on
 * (a padded batch; the first `lengths[b]` of them if there are `lengths`), or the rows
 * `offsets[b]` to below `offsets[b + 1]` (a ragged one).
 *
 * The samples of cloud `b` are written from slot `b * amount` on, or from `slots[b]` on; unused slots
 * get the index -1 and the distance 0. `amount` is the amount of the options for a cloud of `rows`
 * rows. Indices count from the cloud's own first row.
 *
 * No coordinate may be NaN or infinite: farpoint_cuda_check_rows() finds those. Starts must be
 * different rows of their cloud. Device memory is not checked.
 */
typedef struct farpoint_cuda_batch {
    /**
     * `sizeof(farpoint_cuda_batch)`.
     */
    size_t size;
    /**
     * Coordinates.
     */
    const void *points;
    /**
     * Bytes from a row to the next: a multiple of the scalar type's.
     */
    ptrdiff_t point_stride;
    /**
     * Bytes from a coordinate to the next: a multiple of the scalar type's.
     */
    ptrdiff_t axis_stride;
    /**
     * Coordinates of a row.
     */
    size_t dimensions;
    /**
     * Number of clouds.
     */
    size_t clouds;
    /**
     * Rows of each cloud of a padded batch; of a ragged one, at least those of its largest cloud.
     */
    size_t rows;
    /**
     * FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
     */
    farpoint_scalar scalar;
    /**
     * 0.
     */
    uint32_t flags;
    /**
     * `clouds + 1` numbers: a ragged batch. NULL: a padded one.
     */
    const int64_t *offsets;
    /**
     * Number of rows used of each cloud. NULL: all.
     */
    const int64_t *lengths;
    /**
     * Samples of each cloud, none above the amount. NULL: the amount.
     */
    const int64_t *samples;
    /**
     * The first slot of each cloud's answer. NULL: `b * amount`.
     */
    const int64_t *slots;
    /**
     * Rows to start from, `start_count` per cloud. NULL: row 0.
     */
    const int64_t *starts;
    /**
     * Starts per cloud.
     */
    size_t start_count;
    /**
     * Indices of the samples.
     */
    int64_t *indices;
    /**
     * Squared selection distances, one per slot; infinite for starts. NULL: not written.
     */
    void *squared_distances;
    /**
     * Squared covering radii, one per cloud. NULL: not written.
     */
    void *squared_covering_radii;
    /**
     * Numbers of samples, one per cloud. NULL: not written.
     */
    int64_t *counts;
    /**
     * Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
     */
    void *scratch;
    /**
     * Bytes of `scratch`, at least those of farpoint_cuda_sample_scratch().
     */
    size_t scratch_size;
} farpoint_cuda_batch;

/**
 * One side of pairs of clouds in the memory of a GPU: see farpoint_cuda_pairs.
 */
typedef struct farpoint_cuda_side {
    /**
     * Coordinates, as in farpoint_cuda_batch.
     */
    const void *points;
    /**
     * Bytes from a row to the next: a multiple of the scalar type's.
     */
    ptrdiff_t point_stride;
    /**
     * Bytes from a coordinate to the next: a multiple of the scalar type's.
     */
    ptrdiff_t axis_stride;
    /**
     * Rows of each cloud of a padded batch; of a ragged one, at least those of its largest cloud.
     */
    size_t rows;
    /**
     * One number more than there are clouds: a ragged batch. NULL: a padded one.
     */
    const int64_t *offsets;
    /**
     * Number of rows used of each cloud. NULL: all.
     */
    const int64_t *lengths;
} farpoint_cuda_side;

/**
 * Pairs of clouds in the memory of a GPU, and the addresses of their nearest points. Clouds are laid out as in
 * farpoint_cuda_batch; the two sides may differ.
 *
 * For each row of a side with an output the nearest row of the pair's other cloud is found. Its
 * distance (squared with norm 2) and its index, which counts from that cloud's first row, are written to
 * the same row of the outputs. Rows that pad a cloud get 0 and -1.
 */
typedef struct farpoint_cuda_pairs {
    /**
     * `sizeof(farpoint_cuda_pairs)`.
     */
    size_t size;
    /**
     * The first clouds.
     */
    struct farpoint_cuda_side a;
    /**
     * The second clouds.
     */
    struct farpoint_cuda_side b;
    /**
     * Coordinates of a row.
     */
    size_t dimensions;
    /**
     * Number of pairs.
     */
    size_t pairs;
    /**
     * FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
     */
    farpoint_scalar scalar;
    /**
     * 0.
     */
    uint32_t flags;
    /**
     * Distances of the rows of `a`. NULL: not written.
     */
    void *raw_distances_a;
    /**
     * Nearest rows of the rows of `a`. NULL: not written.
     */
    int64_t *indices_a;
    /**
     * Distances of the rows of `b`. NULL: not written.
     */
    void *raw_distances_b;
    /**
     * Nearest rows of the rows of `b`. NULL: not written.
     */
    int64_t *indices_b;
    /**
     * Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
     */
    void *scratch;
    /**
     * Bytes of `scratch`, at least those of farpoint_cuda_nearest_scratch().
     */
    size_t scratch_size;
} farpoint_cuda_pairs;

/**
 * Clouds in the memory of a GPU, and the addresses of their neighbors. Clouds are laid out as
 * in farpoint_cuda_batch.
 *
 * Place `j` of row `i` of `x` is number `i * k + j` of the outputs. Indices count from the first
 * row of the cloud of `y`. Places without a neighbor get -1 and infinity, rows that pad a cloud -1
 * and 0. A row with NaN or infinity has no neighbors and is none.
 */
typedef struct farpoint_cuda_neighbors {
    /**
     * `sizeof(farpoint_cuda_neighbors)`.
     */
    size_t size;
    /**
     * The query points.
     */
    struct farpoint_cuda_side x;
    /**
     * The searched clouds.
     */
    struct farpoint_cuda_side y;
    /**
     * Coordinates of a row.
     */
    size_t dimensions;
    /**
     * Number of clouds on either side.
     */
    size_t clouds;
    /**
     * FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
     */
    farpoint_scalar scalar;
    /**
     * 0.
     */
    uint32_t flags;
    /**
     * Distances, `k` per row of `x`: squared with norm 2. NULL: not written.
     */
    void *raw_distances;
    /**
     * Neighbors, `k` per row of `x`. NULL: not written.
     */
    int64_t *indices;
    /**
     * Numbers of neighbors, one per row of `x`. NULL: not written.
     */
    int64_t *counts;
    /**
     * Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
     */
    void *scratch;
    /**
     * Bytes of `scratch`, at least those of farpoint_cuda_search_scratch().
     */
    size_t scratch_size;
} farpoint_cuda_neighbors;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Describes an array without gaps: coordinate `axis` of point `i` is number `i * dimensions + axis`.
 *
 * @param data        the numbers, `count * dimensions` of them
 * @param count       number of points
 * @param dimensions  coordinates of a point
 * @param scalar      FARPOINT_FLOAT32 or FARPOINT_FLOAT64
 * @return the description of the array; errors in it are reported where it is used
 */
struct farpoint_points farpoint_dense(const void *data,
                                      size_t count,
                                      size_t dimensions,
                                      farpoint_scalar scalar);

/**
 * Returns the version of the library as text: "0.1.0".
 */
const char *farpoint_version(void);

/**
 * Returns the version of the library as a number, `major * 10000 + minor * 100 + patch`. A program that was
 * compiled with FARPOINT_VERSION_MAJOR 0 runs with libraries of the same minor version.
 */
int32_t farpoint_version_number(void);

/**
 * Returns 1 if the library was built with CUDA, else 0. farpoint_cuda_device_count() counts the
 * GPUs.
 */
int32_t farpoint_has_cuda(void);

/**
 * Returns the text of this thread's last error: what failed, where, and what to do. "" if there was
 * none. Valid until this thread's next call of a function that returns a status; never NULL.
 */
const char *farpoint_last_error(void);

/**
 * Returns the name of a status, such as "FARPOINT_INVALID_ARGUMENT"; "unknown status" for other
 * numbers.
 */
const char *farpoint_status_name(farpoint_status status);

/**
 * Starts the pool with threads of these names, processors and scheduling: for programs with real-time demands, before any
 * other call of several threads. A call works on the calling thread, too, whose processor and priority are the caller's
 * to set.
 *
 * @param options  options of the pool; not NULL
 * @return FARPOINT_OK; FARPOINT_INVALID_ARGUMENT if the pool has been started or the system refuses the options, in
 *         which case nothing is started
 */
farpoint_status farpoint_start_threads(const struct farpoint_thread_options *options);

/**
 * Samples a cloud by exact farthest point sampling.
 *
 * Device, threads, instruction set and algorithm never change a sample. The first sample is the
 * first usable row unless the options say otherwise; then always the point farthest from all
 * chosen before, the one of lowest index among equals.
 *
 * @param points   the cloud
 * @param options  options of the sampler; not NULL, as they set the number of samples
 * @param result   is set to the sample, to be freed by farpoint_sample_result_free(); to NULL on an
 *                 error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_sample(struct farpoint_points points,
                                const struct farpoint_sample_options *options,
                                struct farpoint_sample_result **result);

/**
 * Samples many clouds, spread over all threads. A sample does not depend on its batch.
 *
 * @param clouds        the clouds, all of one scalar type
 * @param cloud_count   number of clouds; 0 is fine
 * @param options       options of the sampler: one structure for all clouds, or an array of one per cloud,
 *                      all of one `size`. How the call is run (threads, device, progress, ...) is
 *                      taken from the first; `non_finite` from each
 * @param option_count  1 or `cloud_count`
 * @param results       `cloud_count` places, which are set to the samples, each to be freed by
 *                      farpoint_sample_result_free(); all to NULL on an error
 * @return FARPOINT_OK or another status; the text names the first cloud at fault
 */
farpoint_status farpoint_sample_batch(const struct farpoint_points *clouds,
                                      size_t cloud_count,
                                      const struct farpoint_sample_options *options,
                                      size_t option_count,
                                      struct farpoint_sample_result **results);

/**
 * Frees a sample. NULL is fine.
 */
void farpoint_sample_result_free(struct farpoint_sample_result *result);

/**
 * Returns a view of a sample, valid until it is freed. For NULL, all numbers are 0 and the text is empty.
 */
struct farpoint_sample_view farpoint_sample_result_view(const struct farpoint_sample_result *result);

/**
 * Views the levels of a network that samples its levels one from another: of the first `counts[0]`
 * samples, the first `counts[1]`, and so on. One call of farpoint_sample() serves all levels, since a
 * sample of the chosen points, from the first of them, is their beginning.
 *
 * As rows of the level before, a level is 0, 1, 2, ...
 *
 * @param result       a sample from one start
 * @param counts       number of points of each level: at least 1, at most that of the level before
 * @param level_count  number of levels; 0 is fine
 * @param levels       `level_count` places, which are set to the members of the levels, with the
 *                     covering radius of each; valid until the sample is freed
 * @return FARPOINT_OK or another status, and nothing is written then; farpoint_last_error() has the text
 */
farpoint_status farpoint_sample_result_levels(const struct farpoint_sample_result *result,
                                              const size_t *counts,
                                              size_t level_count,
                                              struct farpoint_sample_view *levels);

/**
 * Samples a cloud by a method that does not give the farthest point sample. The same on every run,
 * machine and number of threads. CPU only.
 *
 * @param points   the cloud
 * @param options  options of the sampler; not NULL
 * @param result   is set to the sample, to be freed by farpoint_approximate_result_free(); to NULL
 *                 on an error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_approximate(struct farpoint_points points,
                                     const struct farpoint_approximate_options *options,
                                     struct farpoint_approximate_result **result);

/**
 * Computes the mean of the points of each occupied cell of a grid, for an amount FARPOINT_CELL; or, for
 * another amount, of the grid that has the most cells but no more than that. CPU only; `method` of the options is
 * ignored, and its members are FARPOINT_INVALID_ARGUMENT.
 *
 * @param points   the cloud
 * @param options  options of the sampler; not NULL
 * @param result   is set to the centroids, to be freed by farpoint_centroids_result_free(); to NULL
 *                 on an error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_centroids(struct farpoint_points points,
                                   const struct farpoint_approximate_options *options,
                                   struct farpoint_centroids_result **result);

/**
 * Frees an approximate sample. NULL is fine.
 */
void farpoint_approximate_result_free(struct farpoint_approximate_result *result);

/**
 * Returns the members of an approximate sample, valid until it is freed; all 0 for NULL.
 */
struct farpoint_approximate_view farpoint_approximate_result_view(const struct farpoint_approximate_result *result);

/**
 * Frees centroids. NULL is fine.
 */
void farpoint_centroids_result_free(struct farpoint_centroids_result *result);

/**
 * Returns the members of centroids, valid until they are freed; all 0 for NULL.
 */
struct farpoint_centroids_view farpoint_centroids_result_view(const struct farpoint_centroids_result *result);

/**
 * Replaces the points of each occupied cell of a grid by one. The same on every run, machine and number of threads.
 * CPU only.
 *
 * @param points   the cloud
 * @param options  options of the grid; not NULL
 * @param result   is set to the voxels, to be freed by farpoint_voxels_result_free(); to NULL on an
 *                 error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_voxels(struct farpoint_points points,
                                const struct farpoint_voxel_options *options,
                                struct farpoint_voxels_result **result);

/**
 * Frees voxels. NULL is fine.
 */
void farpoint_voxels_result_free(struct farpoint_voxels_result *result);

/**
 * Returns the members of voxels, valid until they are freed; all 0 for NULL.
 */
struct farpoint_voxels_view farpoint_voxels_result_view(const struct farpoint_voxels_result *result);

/**
 * Builds an index.
 *
 * farpoint_index_points() then stands for the cloud in every call: as the searched cloud,
 * the query points, or both, alone or in a batch. The CPU uses the tree as it is. Results are the
 * same as without an index.
 *
 * @param points   the cloud, which is not needed any more after the call
 * @param options  options of the run; may be NULL. CPU only, without progress. Rows that `non_finite`
 *                 leaves out remain so in every search; indices still count all rows
 * @param index    is set to the index, to be freed by farpoint_index_free(); to NULL on an error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_index_build(struct farpoint_points points,
                                     const struct farpoint_run_options *options,
                                     struct farpoint_index **index);

/**
 * Returns the points of an index, for any call that takes points. Valid until the index is freed.
 *
 * @param index  the index; NULL gives a description without coordinates, which calls refuse
 * @return the description; to be left as it is
 */
struct farpoint_points farpoint_index_points(const struct farpoint_index *index);

/**
 * Returns the number of rows left out because they hold NaN or infinity; 0 for NULL.
 */
size_t farpoint_index_dropped(const struct farpoint_index *index);

/**
 * Frees an index, of which no call may be at work. NULL is fine.
 */
void farpoint_index_free(struct farpoint_index *index);

/**
 * Finds for each point of `a` its nearest of `b`.
 *
 * @param a        the query points
 * @param b        the searched cloud; of the same scalar type and as many dimensions
 * @param options  options of the search; NULL: Euclidean distances, on all threads
 * @param result   is set to the result, to be freed by farpoint_nearest_result_free(); to NULL on an
 *                 error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_nearest(struct farpoint_points a,
                                 struct farpoint_points b,
                                 const struct farpoint_match_options *options,
                                 struct farpoint_nearest_result **result);

/**
 * farpoint_nearest() for many pairs of clouds, spread over all threads.
 *
 * @param a           the first clouds, all of one scalar type
 * @param b           the second clouds
 * @param pair_count  number of pairs; 0 is fine
 * @param options     options of the search, shared by all pairs; may be NULL
 * @param results     `pair_count` places, which are set to the results; all to NULL on an error
 * @return FARPOINT_OK or another status; the text names the first pair at fault
 */
farpoint_status farpoint_nearest_batch(const struct farpoint_points *a,
                                       const struct farpoint_points *b,
                                       size_t pair_count,
                                       const struct farpoint_match_options *options,
                                       struct farpoint_nearest_result **results);

/**
 * Frees nearest points. NULL is fine. Not for results of farpoint_chamfer_result_direction().
 */
void farpoint_nearest_result_free(struct farpoint_nearest_result *result);

/**
 * Returns the nearest points, valid until the result is freed; all 0 for NULL.
 */
struct farpoint_nearest_view farpoint_nearest_result_view(const struct farpoint_nearest_result *result);

/**
 * Returns the mean of the raw distances: squared with norm 2, as most libraries compute one side of the
 * Chamfer distance.
 */
double farpoint_nearest_result_mean(const struct farpoint_nearest_result *result);

/**
 * Returns the mean of the distances, not squared.
 */
double farpoint_nearest_result_mean_distance(const struct farpoint_nearest_result *result);

/**
 * Returns the largest distance, not squared: the one-sided Hausdorff distance.
 */
double farpoint_nearest_result_max_distance(const struct farpoint_nearest_result *result);

/**
 * Returns the share of the rows whose nearest point is within `threshold`, in the unit of the coordinates.
 */
double farpoint_nearest_result_share_within(const struct farpoint_nearest_result *result,
                                            double threshold);

/**
 * Finds nearest points in both directions: for each point of either cloud its nearest of the other.
 *
 * @param a        the first cloud
 * @param b        the second cloud; of the same scalar type and as many dimensions
 * @param options  options of the search; NULL: Euclidean distances, on all threads
 * @param result   is set to the result, to be freed by farpoint_chamfer_result_free(); to NULL on an
 *                 error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_chamfer(struct farpoint_points a,
                                 struct farpoint_points b,
                                 const struct farpoint_match_options *options,
                                 struct farpoint_chamfer_result **result);

/**
 * farpoint_chamfer() for many pairs of clouds, spread over all threads; as farpoint_nearest_batch().
 */
farpoint_status farpoint_chamfer_batch(const struct farpoint_points *a,
                                       const struct farpoint_points *b,
                                       size_t pair_count,
                                       const struct farpoint_match_options *options,
                                       struct farpoint_chamfer_result **results);

/**
 * Frees a result of farpoint_chamfer(), and what it lent. NULL is fine.
 */
void farpoint_chamfer_result_free(struct farpoint_chamfer_result *result);

/**
 * Returns one direction: 0 from `a` to `b`, 1 from `b` to `a`. Valid until the result is freed; NULL for any
 * other number.
 */
const struct farpoint_nearest_result *farpoint_chamfer_result_direction(const struct farpoint_chamfer_result *result,
                                                                        int32_t direction);

/**
 * Returns the Chamfer distance: the weighted sum of the means of both directions. Squared with norm 2.
 */
double farpoint_chamfer_result_sum(const struct farpoint_chamfer_result *result,
                                   double weight_a,
                                   double weight_b);

/**
 * Returns the Chamfer distance of distances that are not squared.
 */
double farpoint_chamfer_result_sum_of_distances(const struct farpoint_chamfer_result *result);

/**
 * Returns the Hausdorff distance: the largest distance, not squared, of either direction.
 */
double farpoint_chamfer_result_hausdorff(const struct farpoint_chamfer_result *result);

/**
 * Returns precision, recall and F-score at a threshold in the unit of the coordinates; all NaN for NULL.
 */
struct farpoint_f_score farpoint_chamfer_result_f_score(const struct farpoint_chamfer_result *result,
                                                        double threshold);

/**
 * Finds the neighbors in `y` of each point of `x`, at most `k`: the nearest (kNN), or those in a ball
 * (ball query).
 *
 * @param x        the query points
 * @param y        the searched cloud; of the same scalar type and as many dimensions
 * @param options  options of the search; not NULL, as they set the number of neighbors
 * @param result   is set to the neighbors, to be freed by farpoint_neighbors_result_free(); to NULL
 *                 on an error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_search(struct farpoint_points x,
                                struct farpoint_points y,
                                const struct farpoint_search_options *options,
                                struct farpoint_neighbors_result **result);

/**
 * farpoint_search() for many pairs of clouds, spread over all threads.
 *
 * @param x           the query points of each pair, all of one scalar type
 * @param y           the searched clouds
 * @param pair_count  number of pairs; 0 is fine
 * @param options     options of the search, shared by all pairs; not NULL
 * @param results     `pair_count` places, which are set to the results; all to NULL on an error
 * @return FARPOINT_OK or another status; the text names the first pair at fault
 */
farpoint_status farpoint_search_batch(const struct farpoint_points *x,
                                      const struct farpoint_points *y,
                                      size_t pair_count,
                                      const struct farpoint_search_options *options,
                                      struct farpoint_neighbors_result **results);

/**
 * Frees neighbors. NULL is fine.
 */
void farpoint_neighbors_result_free(struct farpoint_neighbors_result *result);

/**
 * Returns the neighbors, valid until the result is freed; all 0 for NULL.
 */
struct farpoint_neighbors_view farpoint_neighbors_result_view(const struct farpoint_neighbors_result *result);

/**
 * Finds all points of `y` in the ball around each point of `x`.
 *
 * @param x        the query points
 * @param y        the searched cloud; of the same scalar type and as many dimensions
 * @param options  options of the search; not NULL, and its `kind` a ball
 * @param result   is set to the neighbors, to be freed by farpoint_within_result_free(); to NULL on
 *                 an error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_within(struct farpoint_points x,
                                struct farpoint_points y,
                                const struct farpoint_search_options *options,
                                struct farpoint_within_result **result);

/**
 * farpoint_within() for many pairs of clouds, spread over all threads; as farpoint_search_batch().
 */
farpoint_status farpoint_within_batch(const struct farpoint_points *x,
                                      const struct farpoint_points *y,
                                      size_t pair_count,
                                      const struct farpoint_search_options *options,
                                      struct farpoint_within_result **results);

/**
 * Frees neighbors in balls. NULL is fine.
 */
void farpoint_within_result_free(struct farpoint_within_result *result);

/**
 * Returns the neighbors, valid until the result is freed; all 0 for NULL.
 */
struct farpoint_within_view farpoint_within_result_view(const struct farpoint_within_result *result);

/**
 * Computes the gradients of the coordinates of both clouds from those of the raw distances.
 *
 * The distance of a point p to its nearest q with the gradient g sends 2 g (p - q) to p and the
 * negative of it to q (norm 1: g times the sign of the difference). The same bits on every run, on
 * any number of threads. For the mean of `n` distances give `1 / n` for each.
 *
 * @param found    what farpoint_chamfer() returned for these clouds
 * @param a        the first cloud, as passed there
 * @param b        the second cloud, as passed there
 * @param grad_a   gradients of the raw distances from `a` to `b`: a number of the clouds' scalar
 *                 type per row of `a`. NULL: all 0
 * @param grad_b   the same from `b` to `a`, a number per row of `b`. NULL: all 0
 * @param options  options of the run; may be NULL
 * @param result   is set to the gradients, to be freed by farpoint_gradients_result_free(); to NULL
 *                 on an error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_chamfer_backward(const struct farpoint_chamfer_result *found,
                                          struct farpoint_points a,
                                          struct farpoint_points b,
                                          const void *grad_a,
                                          const void *grad_b,
                                          const struct farpoint_run_options *options,
                                          struct farpoint_gradients_result **result);

/**
 * Frees gradients. NULL is fine.
 */
void farpoint_gradients_result_free(struct farpoint_gradients_result *result);

/**
 * Returns the gradients, valid until they are freed; all 0 for NULL.
 */
struct farpoint_gradients_view farpoint_gradients_result_view(const struct farpoint_gradients_result *result);

/**
 * Computes the gradients of the coordinates of both clouds from those of the raw distances that
 * farpoint_search() found: as farpoint_chamfer_backward(). CPU only.
 *
 * @param found    what farpoint_search() returned for these clouds
 * @param x        the query points, as passed there
 * @param y        the searched cloud, as passed there
 * @param grad     `rows * k` numbers of the clouds' scalar type; values in places without a
 *                 neighbor are ignored
 * @param options  options of the run; may be NULL
 * @param result   is set to the gradients, to be freed by farpoint_gradients_result_free(); to NULL
 *                 on an error
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_search_backward(const struct farpoint_neighbors_result *found,
                                         struct farpoint_points x,
                                         struct farpoint_points y,
                                         const void *grad,
                                         const struct farpoint_run_options *options,
                                         struct farpoint_gradients_result **result);

/**
 * farpoint_search_backward() for results of farpoint_within(): `grad` has one number per neighbor.
 */
farpoint_status farpoint_within_backward(const struct farpoint_within_result *found,
                                         struct farpoint_points x,
                                         struct farpoint_points y,
                                         const void *grad,
                                         const struct farpoint_run_options *options,
                                         struct farpoint_gradients_result **result);

/**
 * Computes the largest distance of any point of a cloud to its nearest sample. CPU only, as all measures.
 *
 * @param points     the cloud; rows with NaN or infinity are an error
 * @param rows       the sample: rows of the cloud, from any sampler
 * @param row_count  number of samples, at least 1
 * @param options    options of the run; may be NULL. There is no progress
 * @param radius     is set to the distance, in the unit of the coordinates
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_covering_radius(struct farpoint_points points,
                                         const size_t *rows,
                                         size_t row_count,
                                         const struct farpoint_run_options *options,
                                         double *radius);

/**
 * Computes the distances from each sample of a cloud to its nearest other sample.
 *
 * @param points     the cloud; rows with NaN or infinity are an error
 * @param rows       the sample: rows of the cloud, from any sampler
 * @param row_count  number of samples, at least 2
 * @param options    options of the run; may be NULL. There is no progress
 * @param found      is set to the distances
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_spacing_of(struct farpoint_points points,
                                    const size_t *rows,
                                    size_t row_count,
                                    const struct farpoint_run_options *options,
                                    struct farpoint_spacing *found);

/**
 * Computes all measures of a sample.
 *
 * @param points     the cloud; rows with NaN or infinity are an error
 * @param rows       the sample: rows of the cloud, from any sampler
 * @param row_count  number of samples, at least 1
 * @param options    options of the run; may be NULL
 * @param found      its `size` is read, its other members are set
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_quality_of(struct farpoint_points points,
                                    const size_t *rows,
                                    size_t row_count,
                                    const struct farpoint_run_options *options,
                                    struct farpoint_quality *found);

/**
 * Computes all measures of a sample given by coordinates, which need not be points of the cloud:
 * centroids, or samples of another program.
 *
 * @param points   the cloud; rows with NaN or infinity are an error
 * @param samples  the sample; of the same scalar type and as many dimensions
 * @param options  options of the run; may be NULL. There is no progress
 * @param found    its `size` is read, its other members are set
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_quality_of_points(struct farpoint_points points,
                                           struct farpoint_points samples,
                                           const struct farpoint_run_options *options,
                                           struct farpoint_quality *found);

/**
 * Counts the NVIDIA GPUs of this machine.
 *
 * @param count  is set to their number; to 0 on an error
 * @return FARPOINT_UNAVAILABLE, with the reason as text, if CUDA can't be used or the library was
 *         built without it
 */
farpoint_status farpoint_cuda_device_count(size_t *count);

/**
 * Loads all kernels of a GPU now, so that no later call waits for that. Optional.
 *
 * @param device_number  which GPU, from 0
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_warm_up(int32_t device_number);

/**
 * Queues the sampling of clouds in device memory on a stream, and returns. Nothing is copied to or
 * from the host and nothing waits, so that CUDA graphs can capture it.
 *
 * Everything in `batch` must stay valid, and be written by nobody else, until the stream has
 * finished. Of the options, `starts`, `random_start`, `rows` and `mask` must not be set, nor of their
 * `run` anything but `device` and `device_number`.
 *
 * @param batch    the clouds, and the addresses of the outputs
 * @param options  options of the job; the `device` of its `run` is FARPOINT_CUDA
 * @param stream   a `cudaStream_t`, which is a `CUstream`, of that GPU's primary context. NULL and
 *                 cudaStreamLegacy are the legacy default stream, cudaStreamPerThread the thread's
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_sample(const struct farpoint_cuda_batch *batch,
                                     const struct farpoint_sample_options *options,
                                     void *stream);

/**
 * Computes the bytes of scratch memory that farpoint_cuda_sample() needs for the same arguments, whose
 * addresses are ignored.
 *
 * @param batch    the clouds
 * @param options  options of the job
 * @param bytes    is set to the number
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_sample_scratch(const struct farpoint_cuda_batch *batch,
                                             const struct farpoint_sample_options *options,
                                             size_t *bytes);

/**
 * Queues a search for non-finite rows, which farpoint_cuda_sample() does not accept. Nothing
 * waits.
 *
 * @param batch          the clouds; addresses of outputs are ignored
 * @param device_number  which GPU, from 0
 * @param stream         as in farpoint_cuda_sample()
 * @param counts         device memory: the number of such rows of each cloud
 * @param firsts         device memory: the first such row of each cloud, or -1
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_check_rows(const struct farpoint_cuda_batch *batch,
                                         int32_t device_number,
                                         void *stream,
                                         int64_t *counts,
                                         int64_t *firsts);

/**
 * Queues a search for nearest points of clouds in device memory on a stream, and returns: as
 * farpoint_cuda_sample().
 *
 * @param pairs    the clouds, and the addresses of the outputs
 * @param options  options of the job; the `device` of its `run` is FARPOINT_CUDA
 * @param stream   as in farpoint_cuda_sample()
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_nearest(const struct farpoint_cuda_pairs *pairs,
                                      const struct farpoint_match_options *options,
                                      void *stream);

/**
 * Computes the bytes of scratch memory that farpoint_cuda_nearest() needs for the same arguments.
 *
 * @param pairs    the clouds, and the requested outputs
 * @param options  options of the job
 * @param bytes    is set to the number
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_nearest_scratch(const struct farpoint_cuda_pairs *pairs,
                                              const struct farpoint_match_options *options,
                                              size_t *bytes);

/**
 * Queues a search for several neighbors (kNN, ball query) of clouds in device memory on a stream,
 * and returns: as farpoint_cuda_sample().
 *
 * @param neighbors  the clouds, and the addresses of the outputs
 * @param options    options of the search; the `device` of its `run` is FARPOINT_CUDA
 * @param stream     as in farpoint_cuda_sample()
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_search(const struct farpoint_cuda_neighbors *neighbors,
                                     const struct farpoint_search_options *options,
                                     void *stream);

/**
 * Computes the bytes of scratch memory that farpoint_cuda_search() needs for the same arguments.
 *
 * @param neighbors  the clouds
 * @param options    options of the search
 * @param bytes      is set to the number
 * @return FARPOINT_OK or another status; farpoint_last_error() then has the text
 */
farpoint_status farpoint_cuda_search_scratch(const struct farpoint_cuda_neighbors *neighbors,
                                             const struct farpoint_search_options *options,
                                             size_t *bytes);

/**
 * Checks if a kernel that was queued on a stream has given up since the last check: blocks that
 * wait for each other in vain leave after some seconds, and unfinished results are filled with -1
 * and NaN. Does not synchronize: call it when the work is known to be done.
 *
 * @param device_number  which GPU, from 0
 * @param stream         as in farpoint_cuda_sample()
 * @return FARPOINT_OK, or FARPOINT_DEVICE_FAILED, after which the GPU still works
 */
farpoint_status farpoint_cuda_check_stream(int32_t device_number, void *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FARPOINT_FARPOINT_H */
