/* Bad input: a status and a text, never a crash. */

#include "check.h"

enum { COUNT = 100 };

static float xyz[3 * COUNT];
static farpoint_sample_result *result = NULL;

static int32_t sample(farpoint_points cloud, const farpoint_sample_options *options) {
    result = (farpoint_sample_result *)&result;
    farpoint_status status = farpoint_sample(cloud, options, &result);
    /* Nobody is left with an address that was there before. */
    CHECK(status == FARPOINT_OK || result == NULL);
    farpoint_sample_result_free(status == FARPOINT_OK ? result : NULL);
    return status;
}

static void pointers_and_strides(void) {
    farpoint_sample_options options = sample_options(3);
    farpoint_points good = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_points bad = good;
    CHECK(sample(good, &options) == FARPOINT_OK);
    bad.data = NULL;
    INVALID(sample(bad, &options), "null");
    bad = good, bad.dimensions = 0;
    INVALID(sample(bad, &options), "no coordinates");
    bad = good, bad.point_stride = 0;
    INVALID(sample(bad, &options), "point_stride is 0 with 100 points");
    bad = good, bad.axis_stride = 0;
    INVALID(sample(bad, &options), "axis_stride is 0 with 3 dimensions");
    bad = good, bad.count = SIZE_MAX;
    INVALID(sample(bad, &options), "");
    bad = good, bad.count = SIZE_MAX / 12;
    INVALID(sample(bad, &options), "");
    bad = good, bad.point_stride = PTRDIFF_MAX;
    INVALID(sample(bad, &options), "memory");
    bad = good, bad.point_stride = PTRDIFF_MIN;
    INVALID(sample(bad, &options), "memory");
    bad = good, bad.axis_stride = PTRDIFF_MIN;
    INVALID(sample(bad, &options), "memory");
    bad = good, bad.dimensions = SIZE_MAX;
    INVALID(sample(bad, &options), "");
    ptrdiff_t offsets[3] = {0, 4, PTRDIFF_MAX};
    bad = good, bad.axis_offsets = offsets;
    INVALID(sample(bad, &options), "memory");
    bad = farpoint_dense(xyz, SIZE_MAX, SIZE_MAX, FARPOINT_FLOAT64);
    INVALID(sample(bad, &options), "");
    /* No points need no memory. */
    bad = farpoint_dense(NULL, 0, 3, FARPOINT_FLOAT32);
    INVALID(sample(bad, &options), "no usable point");
    memset(&bad, 0, sizeof bad);
    INVALID(sample(bad, &options), "not filled in");
}

/* With a buffer, coordinates outside of it are found. */
static void buffers(void) {
    farpoint_sample_options options = sample_options(3);
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    cloud.buffer = xyz;
    cloud.buffer_size = sizeof xyz;
    CHECK(sample(cloud, &options) == FARPOINT_OK);
    cloud.buffer_size -= 1;
    INVALID(sample(cloud, &options), "buffer of 1199 bytes");
    cloud.buffer_size += 1;
    cloud.count += 1;
    INVALID(sample(cloud, &options), "buffer of 1200 bytes");
    cloud.count -= 1;
    cloud.data = (const char *)xyz + 1;
    INVALID(sample(cloud, &options), "buffer");
    cloud.data = xyz;
    cloud.point_stride = -12;
    INVALID(sample(cloud, &options), "buffer");
    cloud.data = xyz + 3 * (COUNT - 1);
    CHECK(sample(cloud, &options) == FARPOINT_OK);
    cloud.buffer = NULL;
    INVALID(sample(cloud, &options), "buffer is NULL, but has 1200");
    cloud.buffer = xyz;
    cloud.buffer_size = SIZE_MAX;
    INVALID(sample(cloud, &options), "do not fit in memory");
}

static void enums_and_flags(void) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    const int32_t wrong[] = {-1, 99, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        farpoint_sample_options options = sample_options(3);
        farpoint_points bad = cloud;
        bad.scalar = wrong[i];
        INVALID(sample(bad, &options), "scalar is ");
        bad = cloud, bad.flags = 2u | (uint32_t)wrong[i];
        INVALID(sample(bad, &options), "flags");
        options.amount = wrong[i];
        INVALID(sample(cloud, &options), "FARPOINT_RATIO (1)");
        farpoint_run_options run;
        options = sample_options(3), options.run = &run;
        run = run_options(0), run.device = wrong[i];
        INVALID(sample(cloud, &options), "FARPOINT_CUDA (1)");
        run = run_options(0), run.device_number = wrong[i];
        INVALID(sample(cloud, &options), "device_number");
        run = run_options(0), run.non_finite = wrong[i];
        INVALID(sample(cloud, &options), "FARPOINT_NON_FINITE_SKIP (1)");
        run = run_options(0), run.instruction_set = wrong[i];
        INVALID(sample(cloud, &options), "FARPOINT_INSTRUCTIONS_AVX2 (2)");
        farpoint_match_options matching = match_options();
        farpoint_nearest_result *nearest = NULL;
        matching.norm = wrong[i];
        INVALID(farpoint_nearest(cloud, cloud, &matching, &nearest), "norm is ");
        matching = match_options(), matching.method = wrong[i];
        INVALID(farpoint_nearest(cloud, cloud, &matching, &nearest), "FARPOINT_SEARCH_TREE (4)");
        farpoint_search_options searching = search_options(1);
        farpoint_neighbors_result *found = NULL;
        searching.kind = wrong[i];
        INVALID(farpoint_search(cloud, cloud, &searching, &found), "FARPOINT_RAW_BALL (2)");
        searching = search_options(1), searching.order = wrong[i];
        INVALID(farpoint_search(cloud, cloud, &searching, &found), "FARPOINT_BY_DISTANCE (1)");
        farpoint_approximate_options approximate = approximate_options(wrong[i], 3);
        farpoint_approximate_result *some = NULL;
        INVALID(farpoint_approximate(cloud, &approximate, &some), "FARPOINT_METHOD_GRID (1)");
        approximate = approximate_options(0, 3), approximate.keep = wrong[i];
        INVALID(farpoint_approximate(cloud, &approximate, &some), "FARPOINT_KEEP_FIRST (1)");
        farpoint_voxel_options grid = voxel_options(1.0);
        farpoint_voxels_result *voxels = NULL;
        grid.reduce = wrong[i];
        INVALID(farpoint_voxels(cloud, &grid, &voxels), "FARPOINT_REDUCE_CENTER (2)");
        CHECK(nearest == NULL && found == NULL && some == NULL && voxels == NULL);
    }
}

/* Structures of other versions, and of none. */
static void sizes(void) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    struct {
        farpoint_sample_options known;
        double later;
    } larger;
    memset(&larger, 0, sizeof larger);
    larger.known = sample_options(3);
    larger.known.size = sizeof larger;
    CHECK(sample(cloud, &larger.known) == FARPOINT_OK);
    larger.later = 1.0;
    INVALID(sample(cloud, &larger.known), "does not know");
    const size_t wrong[] = {0, 1, sizeof larger.known - 1, 1 << 20, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        farpoint_sample_options options = sample_options(3);
        options.size = wrong[i];
        INVALID(sample(cloud, &options), "sizeof(farpoint_sample_options)");
        farpoint_run_options run = run_options(1);
        run.size = wrong[i];
        options = sample_options(3), options.run = &run;
        double radius = 0.0;
        size_t row = 0;
        if (wrong[i] != sizeof larger.known - 1) {
            INVALID(sample(cloud, &options), "sizeof(farpoint_run_options)");
            INVALID(farpoint_covering_radius(cloud, &row, 1, &run, &radius),
                    "sizeof(farpoint_run_options)");
        }
        farpoint_quality quality;
        memset(&quality, 0, sizeof quality);
        quality.size = wrong[i] == sizeof larger.known - 1 ? 3 : wrong[i];
        INVALID(farpoint_quality_of(cloud, &row, 1, NULL, &quality), "sizeof(farpoint_quality)");
    }
    INVALID(sample(cloud, NULL), "farpoint_sample_options is NULL");
    farpoint_sample_options options = sample_options(3);
    INVALID(farpoint_sample(cloud, &options, NULL), "pointer to the result is NULL");
    unsigned char bytes[sizeof options + 1];
    memcpy(bytes + 1, &options, sizeof options);
    INVALID(sample(cloud, (const farpoint_sample_options *)(const void *)(bytes + 1)),
            "not aligned");
}

static void lists_and_texts(void) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(3);
    size_t rows[3] = {1, 2, 2};
    options.start_count = 2;
    INVALID(sample(cloud, &options), "starts is NULL, but has 2");
    options.starts = rows;
    options.random_start = 1;
    INVALID(sample(cloud, &options), "starts and random_start are both set");
    options.random_start = 0;
    options.start_count = 3;
    INVALID(sample(cloud, &options), "given twice");
    rows[2] = COUNT;
    INVALID(sample(cloud, &options), "start index 100 is outside");
    options = sample_options(3), options.row_count = 4;
    INVALID(sample(cloud, &options), "rows is NULL, but has 4");
    options.rows = rows, options.row_count = 3;
    INVALID(sample(cloud, &options), "row 100 at place 2");
    rows[2] = 1;
    INVALID(sample(cloud, &options), "row 1 is selected twice");
    options.row_count = SIZE_MAX / 2;
    INVALID(sample(cloud, &options), "do not fit in memory");
    options.row_count = 0;
    INVALID(sample(cloud, &options), "no usable point");
    options = sample_options(3), options.algorithm = "fast";
    INVALID(sample(cloud, &options), "unknown algorithm 'fast'; choose one of auto");
    options.algorithm = "persistent";
    INVALID(sample(cloud, &options), "CPU");
    options.algorithm = "\xff\xfe";
    INVALID(sample(cloud, &options), "UTF-8");
    farpoint_run_options run = run_options(SIZE_MAX);
    options = sample_options(3), options.run = &run;
    INVALID(sample(cloud, &options), "threads is 18446744073709551615");
}

static void numbers(void) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(COUNT + 1);
    INVALID(sample(cloud, &options), "101 samples");
    options.count = 0;
    INVALID(sample(cloud, &options), "count is 0");
    options.amount = FARPOINT_RATIO;
    INVALID(sample(cloud, &options), "ratio is 0");
    options.ratio = NAN;
    INVALID(sample(cloud, &options), "ratio");
    options.amount = FARPOINT_SPACING, options.spacing = -1.0;
    INVALID(sample(cloud, &options), "spacing -1");
    farpoint_search_options searching = search_options(0);
    farpoint_neighbors_result *found = NULL;
    INVALID(farpoint_search(cloud, cloud, &searching, &found), "0 neighbors");
    searching.kind = FARPOINT_BALL, searching.k = 2, searching.radius = NAN;
    INVALID(farpoint_search(cloud, cloud, &searching, &found), "radius");
    INVALID(farpoint_search(cloud, cloud, NULL, &found), "is NULL");
    farpoint_within_result *within = NULL;
    searching = search_options(1);
    INVALID(farpoint_within(cloud, cloud, &searching, &within), "no radius");
    searching.k = SIZE_MAX;
    CHECK(farpoint_search(cloud, cloud, &searching, &found) != FARPOINT_OK && found == NULL);
    farpoint_points flat = farpoint_dense(xyz, COUNT, 2, FARPOINT_FLOAT32);
    farpoint_nearest_result *nearest = NULL;
    INVALID(farpoint_nearest(cloud, flat, NULL, &nearest), "coordinates");
    farpoint_points wide = farpoint_dense(xyz, COUNT / 2, 3, FARPOINT_FLOAT64);
    INVALID(farpoint_nearest(cloud, wide, NULL, &nearest), "type double, expected float");
    farpoint_points none = farpoint_dense(xyz, 0, 3, FARPOINT_FLOAT32);
    INVALID(farpoint_nearest(cloud, none, NULL, &nearest), "the second cloud");
    CHECK(farpoint_nearest(none, cloud, NULL, &nearest) == FARPOINT_OK);
    CHECK(farpoint_nearest_result_view(nearest).rows == 0 && isnan(farpoint_nearest_result_max_distance(nearest)));
    farpoint_nearest_result_free(nearest);
    nearest = NULL;
    double radius = 0.0;
    size_t rows[2] = {0, COUNT};
    INVALID(farpoint_covering_radius(cloud, rows, 2, NULL, &radius), "sample index 100");
    INVALID(farpoint_covering_radius(cloud, rows, 0, NULL, &radius), "0 samples");
    INVALID(farpoint_covering_radius(cloud, NULL, 2, NULL, &radius), "rows is NULL");
    INVALID(farpoint_covering_radius(cloud, rows, 1, NULL, NULL), "is NULL");
    farpoint_run_options run = run_options(0);
    run.non_finite = FARPOINT_NON_FINITE_SKIP;
    INVALID(farpoint_covering_radius(cloud, rows, 1, &run, &radius), "leave no rows out");
    farpoint_gradients_result *gradients = NULL;
    INVALID(farpoint_chamfer_backward(NULL, cloud, cloud, NULL, NULL, NULL, &gradients), "found is NULL");
    CHECK(gradients == NULL && nearest == NULL && within == NULL);
}

#define UNUSED(member, value)                                                                                    \
    do {                                                                                                         \
        options = approximate_options(method, 3), options.member = (value);                                      \
        farpoint_status status = farpoint_approximate(cloud, &options, &sample);                                  \
        CHECK(status == FARPOINT_OK ||                                                                            \
              (status == FARPOINT_INVALID_ARGUMENT && strstr(farpoint_last_error(), #member " is set, which ")));   \
        taken = taken * 2 + (status == FARPOINT_OK);                                                             \
        farpoint_approximate_result_free(sample);                                                                \
        INVALID(farpoint_centroids(cloud, &options, &centroids), #member " is set, which a mean does not use");    \
    } while (0)

/* Members that a call does not use are refused: something else was meant. */
static void unused_members(void) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_approximate_options options;
    farpoint_approximate_result *sample = NULL;
    farpoint_centroids_result *centroids = NULL;
    /* The methods in order; a bit for each member below, the last one the lowest. */
    const unsigned expected[] = {2, 3};
    for (int32_t method = FARPOINT_METHOD_RANDOM; method <= FARPOINT_METHOD_GRID; method++) {
        unsigned taken = 0;
        UNUSED(method_seed, 7);
        UNUSED(keep, FARPOINT_KEEP_FIRST);
        CHECK(taken == expected[method]);
    }
    farpoint_sample_options sampling = sample_options(3);
    sampling.seed = 7;
    farpoint_sample_result *exact = NULL;
    INVALID(farpoint_sample(cloud, &sampling, &exact), "seed is set, which a start that is not random");
    farpoint_search_options searching = search_options(3);
    farpoint_neighbors_result *found = NULL;
    searching.radius = 0.5;
    INVALID(farpoint_search(cloud, cloud, &searching, &found), "radius is set, which a search of the kind");
    farpoint_thread_options threads;
    memset(&threads, 0, sizeof threads);
    threads.size = sizeof threads;
    threads.priority = 50;
    INVALID(farpoint_start_threads(&threads), "priority is set, which inherited scheduling");
}

/* Functions on results take NULL. */
static void no_results(void) {
    farpoint_sample_view view = farpoint_sample_result_view(NULL);
    CHECK(view.count == 0 && view.indices == NULL && strcmp(view.algorithm, "") == 0);
    CHECK(farpoint_approximate_result_view(NULL).count == 0);
    CHECK(farpoint_centroids_result_view(NULL).count == 0);
    CHECK(farpoint_voxels_result_view(NULL).inverse == NULL);
    CHECK(farpoint_nearest_result_view(NULL).rows == 0 && isnan(farpoint_nearest_result_mean(NULL)));
    CHECK(farpoint_chamfer_result_direction(NULL, 0) == NULL);
    CHECK(isnan(farpoint_chamfer_result_f_score(NULL, 1.0).f_score));
    CHECK(farpoint_neighbors_result_view(NULL).rows == 0);
    CHECK(farpoint_within_result_view(NULL).offsets == NULL);
    CHECK(farpoint_gradients_result_view(NULL).b_count == 0);
    farpoint_sample_result_free(NULL);
    farpoint_approximate_result_free(NULL);
    farpoint_centroids_result_free(NULL);
    farpoint_voxels_result_free(NULL);
    farpoint_nearest_result_free(NULL);
    farpoint_chamfer_result_free(NULL);
    farpoint_neighbors_result_free(NULL);
    farpoint_within_result_free(NULL);
    farpoint_gradients_result_free(NULL);
}

/* Without CUDA: said so. With CUDA and without a GPU: also. */
static void devices(void) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(3);
    size_t count = 0;
    farpoint_run_options run = run_options(0);
    run.device = FARPOINT_CUDA;
    run.device_number = 1000;
    options.run = &run;
    REFUSED(sample(cloud, &options), FARPOINT_UNAVAILABLE, farpoint_has_cuda() ? "" : "without CUDA");
    farpoint_status status = farpoint_cuda_device_count(&count);
    CHECK(status == FARPOINT_UNAVAILABLE || (status == FARPOINT_OK && count > 0));
    if (!farpoint_has_cuda()) {
        REFUSED(farpoint_cuda_sample(NULL, NULL, NULL), FARPOINT_UNAVAILABLE, "without CUDA");
        REFUSED(farpoint_cuda_nearest(NULL, NULL, NULL), FARPOINT_UNAVAILABLE, "without CUDA");
        REFUSED(farpoint_cuda_search(NULL, NULL, NULL), FARPOINT_UNAVAILABLE, "without CUDA");
        REFUSED(farpoint_cuda_warm_up(0), FARPOINT_UNAVAILABLE, "without CUDA");
    }
}

int main(void) {
    for (size_t i = 0; i < 3 * COUNT; i++) {
        xyz[i] = (float)(i * i % 101);
    }
    pointers_and_strides();
    buffers();
    enums_and_flags();
    sizes();
    lists_and_texts();
    numbers();
    unused_members();
    no_results();
    devices();
    CHECK(farpoint_version_number() == FARPOINT_VERSION_MAJOR * 10000 +
                                           FARPOINT_VERSION_MINOR * 100 + FARPOINT_VERSION_PATCH);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", FARPOINT_VERSION_MAJOR, FARPOINT_VERSION_MINOR,
             FARPOINT_VERSION_PATCH);
    CHECK(strcmp(version, farpoint_version()) == 0);
    CHECK(strcmp(farpoint_status_name(FARPOINT_CANCELED), "FARPOINT_CANCELED") == 0);
    CHECK(strcmp(farpoint_status_name(-7), "unknown status") == 0);
    return done("inputs");
}
