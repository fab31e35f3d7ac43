/* Arguments drawn at random from values that matter: whatever they are, calls return a status, never
 * FARPOINT_INTERNAL, and give a result only with FARPOINT_OK. Coordinates lie in a buffer that is
 * checked, so that no description of them is the test's own fault. */

#include "check.h"

enum { BUFFER = 3000, ROUNDS = 2000 };

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static int32_t some_int(void) {
    const int32_t values[] = {0, 0, 0, 0, 1, 1, 2, 3, 4, 5, -1, INT32_MAX, INT32_MIN};
    return values[draw(sizeof values / sizeof *values)];
}

static size_t some_size(void) {
    const size_t values[] = {0, 1, 2, 3, 7, 20, 50, 120, 121, 1000, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8};
    return values[draw(draw(6) == 0 ? sizeof values / sizeof *values : 6)];
}

static ptrdiff_t some_stride(void) {
    const ptrdiff_t values[] = {12, 4, 8, 24, 26, 1, 3, -4, -12, 0, PTRDIFF_MAX, PTRDIFF_MIN, 1 << 20};
    return values[draw(draw(15) == 0 ? sizeof values / sizeof *values : 7)];
}

static double some_double(void) {
    const double values[] = {0.0, 0.25, 0.5, 1.0, 2.0, 1e-30, -1.0, 1e300, (double)NAN, (double)INFINITY};
    return values[draw(sizeof values / sizeof *values)];
}

static unsigned char buffer[BUFFER];
static unsigned char mask[BUFFER];
static ptrdiff_t offsets[8];
static size_t rows[64];

static farpoint_index *an_index;

static farpoint_points some_points(void) {
    farpoint_points points;
    if (draw(8) == 0) {
        points = farpoint_index_points(draw(8) == 0 ? NULL : an_index);
        points.dimensions = draw(8) == 0 ? some_size() : points.dimensions;
        return points;
    }
    memset(&points, 0, sizeof points);
    points.data = draw(30) == 0 ? NULL : buffer + 800 + draw(BUFFER / 3);
    points.count = draw(9) == 0 ? some_size() : 1 + (size_t)draw(30);
    points.dimensions = draw(20) == 0 ? some_size() : 1 + (size_t)draw(4);
    points.point_stride = some_stride();
    points.axis_stride = draw(2) == 0 ? 4 : some_stride();
    if (draw(5) == 0 && points.dimensions <= 8) {
        points.axis_offsets = offsets;
    }
    points.buffer = buffer;
    points.buffer_size = BUFFER;
    points.scalar = draw(20) == 0 ? some_int() : (int32_t)(draw(4) == 0);
    points.flags = (uint32_t)(draw(20) == 0 ? some_int() : (int32_t)draw(2));
    return points;
}

static farpoint_run_options some_run(void) {
    farpoint_run_options run;
    memset(&run, 0, sizeof run);
    run.size = draw(30) == 0 ? some_size() % sizeof run : sizeof run;
    run.threads = draw(30) == 0 ? SIZE_MAX : (size_t)draw(3);
    run.device = draw(30) == 0 ? some_int() : 0;
    run.device_number = draw(30) == 0 ? some_int() : 0;
    run.instruction_set = draw(30) == 0 ? some_int() : 0;
    run.non_finite = draw(10) == 0 ? some_int() : (int32_t)draw(2);
    return run;
}

static size_t some_rows(const size_t **list) {
    if (draw(3) != 0) {
        *list = NULL;
        return draw(20) == 0 ? some_size() : 0;
    }
    size_t count = (size_t)draw(20);
    for (size_t i = 0; i < count; i++) {
        rows[i] = draw(9) == 0 ? some_size() : 1 + (size_t)draw(30);
    }
    *list = rows;
    return count;
}

static const char *some_algorithm(void) {
    const char *names[] = {NULL, NULL, "auto", "naive", "peak", "tree", "quick", "radius:nvox=0", "none", ""};
    return names[draw(sizeof names / sizeof *names)];
}

static size_t right = 0;

static void ends_well(int32_t status, const void *result) {
    CHECK(status >= FARPOINT_OK && status < FARPOINT_INTERNAL);
    CHECK((status == FARPOINT_OK) == (result != NULL));
    CHECK(status == FARPOINT_OK || farpoint_last_error()[0] != 0);
    right += status == FARPOINT_OK;
}

/* The result is looked at when the call is done. */
#define ENDS_WELL(call, result)                                                                    \
    do {                                                                                           \
        int32_t status_of_call = (call);                                                           \
        ends_well(status_of_call, (result));                                                       \
    } while (0)

static void sampling(void) {
    farpoint_sample_options options = sample_options(draw(3) == 0 ? some_size() : (size_t)draw(10));
    farpoint_run_options run = some_run();
    options.run = draw(4) == 0 ? NULL : &run;
    options.amount = draw(2) == 0 ? some_int() : 0;
    options.random_start = draw(5) == 0;
    options.ratio = some_double();
    options.spacing = some_double();
    options.algorithm = some_algorithm();
    options.start_count = some_rows(&options.starts) % 3;
    if (options.starts == NULL) {
        options.row_count = some_rows(&options.rows);
    }
    options.mask = draw(6) == 0 ? mask : NULL;
    farpoint_points points = some_points();
    if (options.mask != NULL && points.count > BUFFER) {
        points.count = BUFFER;
    }
    farpoint_sample_result *result = NULL;
    ENDS_WELL(farpoint_sample(points, &options, &result), result);
    farpoint_sample_result_free(result);
    farpoint_points clouds[3] = {points, some_points(), points};
    farpoint_sample_result *results[3];
    if (options.mask == NULL) {
        farpoint_status status = farpoint_sample_batch(clouds, 3, &options, 1, results);
        for (size_t i = 0; i < 3; i++) {
            ends_well(status, results[i]);
            farpoint_sample_result_free(results[i]);
        }
    }
}

static void approximating(void) {
    farpoint_approximate_options options = approximate_options(some_int(), (size_t)draw(10));
    farpoint_run_options run = some_run();
    options.run = draw(4) == 0 ? NULL : &run;
    options.amount = some_int();
    options.ratio = some_double();
    options.cell = some_double();
    options.keep = draw(9) == 0 ? some_int() : 0;
    options.row_count = some_rows(&options.rows);
    farpoint_approximate_result *result = NULL;
    farpoint_centroids_result *centroids = NULL;
    farpoint_points points = some_points();
    ENDS_WELL(farpoint_approximate(points, &options, &result), result);
    ENDS_WELL(farpoint_centroids(points, &options, &centroids), centroids);
    farpoint_approximate_result_free(result);
    farpoint_centroids_result_free(centroids);
}

static void finding_voxels(void) {
    farpoint_voxel_options options = voxel_options(some_double());
    farpoint_run_options run = some_run();
    double numbers[4];
    for (size_t i = 0; i < 4; i++) {
        numbers[i] = some_double();
    }
    options.run = draw(4) == 0 ? NULL : &run;
    options.edges = draw(3) == 0 ? numbers : NULL;
    options.edge_count = options.edges == NULL ? 0 : (size_t)draw(5);
    options.origin = draw(3) == 0 ? numbers : NULL;
    options.origin_count = options.origin == NULL ? 0 : (size_t)draw(5);
    options.min_origin = draw(3) == 0;
    options.reduce = draw(3) == 0 ? some_int() : (int32_t)draw(4);
    options.sorted = draw(2) == 0;
    options.min_points = (uint32_t)draw(4);
    options.row_count = some_rows(&options.rows);
    farpoint_voxels_result *result = NULL;
    ENDS_WELL(farpoint_voxels(some_points(), &options, &result), result);
    farpoint_voxels_result_free(result);
}

static void searching(void) {
    farpoint_search_options options = search_options(draw(3) == 0 ? some_size() : (size_t)draw(10));
    farpoint_match_options matching = match_options();
    farpoint_run_options run = some_run();
    options.run = matching.run = draw(4) == 0 ? NULL : &run;
    options.norm = matching.norm = draw(3) == 0 ? some_int() : 0;
    options.method = matching.method = draw(3) == 0 ? some_int() : 0;
    options.kind = some_int();
    options.order = draw(3) == 0 ? some_int() : 1;
    options.inclusive = draw(3) == 0;
    options.exclude_self = draw(3) == 0;
    options.radius = some_double();
    options.min_radius = draw(4) == 0 ? some_double() : 0.0;
    options.near_radius = draw(4) == 0 ? some_double() : 0.0;
    if (options.kind == FARPOINT_NEAREST && draw(4) != 0) {
        options.radius = options.min_radius = options.near_radius = 0.0;
        options.inclusive = 0;
    }
    farpoint_points x = some_points(), y = draw(2) == 0 ? x : some_points();
    farpoint_neighbors_result *found = NULL;
    farpoint_within_result *within = NULL;
    farpoint_nearest_result *nearest = NULL;
    farpoint_chamfer_result *chamfer = NULL;
    farpoint_gradients_result *gradients = NULL;
    ENDS_WELL(farpoint_search(x, y, &options, &found), found);
    ENDS_WELL(farpoint_within(x, y, &options, &within), within);
    ENDS_WELL(farpoint_nearest(x, y, &matching, &nearest), nearest);
    ENDS_WELL(farpoint_chamfer(x, y, &matching, &chamfer), chamfer);
    /* Of other clouds than those that it was found for, half of the time. */
    farpoint_points other = draw(2) == 0 ? x : some_points();
    ENDS_WELL(farpoint_search_backward(found, other, y, NULL, NULL, &gradients), gradients);
    farpoint_gradients_result_free(gradients);
    ENDS_WELL(farpoint_chamfer_backward(chamfer, other, y, NULL, NULL, NULL, &gradients), gradients);
    farpoint_gradients_result_free(gradients);
    farpoint_neighbors_result_free(found);
    farpoint_within_result_free(within);
    farpoint_nearest_result_free(nearest);
    farpoint_chamfer_result_free(chamfer);
}

static void measuring(void) {
    farpoint_run_options run = some_run();
    const size_t *list = NULL;
    size_t count = some_rows(&list);
    farpoint_points points = some_points();
    double radius = 0.0;
    farpoint_spacing spacing;
    farpoint_quality quality;
    memset(&quality, 0, sizeof quality);
    quality.size = sizeof quality;
    farpoint_status status = farpoint_covering_radius(points, list, count, &run, &radius);
    CHECK(status >= FARPOINT_OK && status < FARPOINT_INTERNAL);
    status = farpoint_spacing_of(points, list, count, &run, &spacing);
    CHECK(status >= FARPOINT_OK && status < FARPOINT_INTERNAL);
    status = farpoint_quality_of(points, list, count, &run, &quality);
    CHECK(status >= FARPOINT_OK && status < FARPOINT_INTERNAL);
    status = farpoint_quality_of_points(points, some_points(), &run, &quality);
    CHECK(status >= FARPOINT_OK && status < FARPOINT_INTERNAL);
}

int main(int count, char **arguments) {
    int rounds = is_slow(count, arguments) ? ROUNDS / 20 : ROUNDS;
    /* Ordinary numbers in either byte order, some NaN, many ties. */
    for (size_t i = 0; i < BUFFER; i++) {
        buffer[i] = (unsigned char)(i % 4 == 3 ? 63 + draw(3) : draw(2) * 128);
        mask[i] = (unsigned char)draw(2);
    }
    for (size_t i = 0; i < 8; i++) {
        offsets[i] = (ptrdiff_t)draw(30) - 10;
    }
    const float indexed[] = {0.0f, 1.0f, 1.0f, 0.5f, 0.25f, 1.0f, 2.0f, 1.0f, 0.0f, 0.5f};
    CHECK(farpoint_index_build(farpoint_dense(indexed, 5, 2, FARPOINT_FLOAT32), NULL, &an_index) == FARPOINT_OK);
    for (int round = 0; round < rounds && failures < 5; round++) {
        sampling();
        approximating();
        finding_voxels();
        searching();
        measuring();
    }
    farpoint_index_free(an_index);
    /* Not all of it was refused. */
    CHECK(right > (size_t)rounds);
    printf("%zu calls with a result\n", right);
    return done("arguments");
}
