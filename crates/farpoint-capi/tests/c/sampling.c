/* Exact sampling: equal to the obvious loop, whatever layout, threads, instruction set and algorithm. */

#include "check.h"

enum { COUNT = 3000, SAMPLES = 400 };

static void expect(farpoint_points cloud, const farpoint_sample_options *options,
                   const size_t *expected, size_t samples) {
    farpoint_sample_result *result = NULL;
    CHECK(farpoint_sample(cloud, options, &result) == FARPOINT_OK);
    farpoint_sample_view view = farpoint_sample_result_view(result);
    CHECK(view.count == samples && memcmp(view.indices, expected, samples * sizeof *expected) == 0);
    farpoint_sample_result_free(result);
}

static void same_in_every_way(const float *xyz, const size_t *expected) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    const char *algorithms[] = {NULL, "auto", "reference", "naive", "tree", "peak", "radius:nvox=24"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        for (size_t threads = 0; threads < 4; threads += i == 0 ? 1 : 3) {
            farpoint_sample_options options = sample_options(SAMPLES);
            options.algorithm = algorithms[i];
            farpoint_run_options run = run_options(threads);
            options.run = &run;
            expect(cloud, &options, expected, SAMPLES);
            run.instruction_set = FARPOINT_INSTRUCTIONS_PORTABLE;
            expect(cloud, &options, expected, SAMPLES);
        }
    }
}

struct record {
    unsigned char before[2];
    unsigned char xyz[12];
    unsigned char between[9];
    unsigned char swapped[12];
};

/* Layouts: records without alignment, one array an axis, backwards, the other byte order. */
static void every_layout(const float *xyz, const size_t *expected) {
    farpoint_sample_options options = sample_options(SAMPLES);
    struct record *records = calloc(COUNT, sizeof *records);
    float *axes = malloc(3 * COUNT * sizeof *axes);
    float *backwards = malloc(3 * COUNT * sizeof *backwards);
    float *axis[3];
    for (size_t a = 0; a < 3; a++) {
        axis[a] = malloc(COUNT * sizeof **axis);
    }
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(records[i].xyz, xyz + 3 * i, 12);
        for (size_t b = 0; b < 12; b++) {
            records[i].swapped[b] = records[i].xyz[b / 4 * 4 + 3 - b % 4];
        }
        for (size_t a = 0; a < 3; a++) {
            axes[a * COUNT + i] = axis[a][i] = xyz[3 * i + a];
            backwards[3 * (COUNT - 1 - i) + 2 - a] = xyz[3 * i + a];
        }
    }
    farpoint_points cloud = farpoint_dense(records[0].xyz, COUNT, 3, FARPOINT_FLOAT32);
    cloud.point_stride = sizeof *records;
    cloud.buffer = records;
    cloud.buffer_size = COUNT * sizeof *records;
    expect(cloud, &options, expected, SAMPLES);
    cloud.data = records[0].swapped;
    cloud.flags = FARPOINT_BYTE_SWAPPED;
    expect(cloud, &options, expected, SAMPLES);
    cloud = farpoint_dense(axes, COUNT, 3, FARPOINT_FLOAT32);
    cloud.point_stride = sizeof(float);
    cloud.axis_stride = COUNT * (ptrdiff_t)sizeof(float);
    expect(cloud, &options, expected, SAMPLES);
    cloud = farpoint_dense(backwards + 3 * COUNT - 1, COUNT, 3, FARPOINT_FLOAT32);
    cloud.point_stride = -12;
    cloud.axis_stride = -4;
    expect(cloud, &options, expected, SAMPLES);
    ptrdiff_t offsets[3];
    for (size_t a = 0; a < 3; a++) {
        offsets[a] = (ptrdiff_t)((intptr_t)axis[a] - (intptr_t)axis[0]);
    }
    cloud = farpoint_dense(axis[0], COUNT, 3, FARPOINT_FLOAT32);
    cloud.point_stride = sizeof(float);
    cloud.axis_offsets = offsets;
    expect(cloud, &options, expected, SAMPLES);
    for (size_t a = 0; a < 3; a++) {
        free(axis[a]);
    }
    free(records);
    free(axes);
    free(backwards);
}

/* A subset is the gathered points, sampled, mapped back; a mask is the rising list. */
static void subsets(const float *xyz) {
    size_t rows[COUNT], at = 0, expected[SAMPLES];
    unsigned char mask[COUNT];
    float *some = malloc(3 * COUNT * sizeof *some);
    /* In no order: 7 divides neither COUNT nor COUNT - 1. */
    for (size_t i = 0; i < COUNT / 2; i++) {
        rows[i] = i * 7 % COUNT;
        memcpy(some + 3 * i, xyz + 3 * rows[i], 12);
    }
    obvious(some, COUNT / 2, SAMPLES, 0, expected);
    for (size_t k = 0; k < SAMPLES; k++) {
        expected[k] = rows[expected[k]];
    }
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(SAMPLES);
    options.rows = rows;
    options.row_count = COUNT / 2;
    expect(cloud, &options, expected, SAMPLES);
    INVALID((options.mask = mask, farpoint_sample(cloud, &options, &(farpoint_sample_result *){0})),
            "rows and mask are both set");
    for (size_t i = 0; i < COUNT; i++) {
        mask[i] = (unsigned char)(i % 3);
        if (mask[i] != 0) {
            rows[at] = i;
            memcpy(some + 3 * at++, xyz + 3 * i, 12);
        }
    }
    obvious(some, at, SAMPLES, 0, expected);
    for (size_t k = 0; k < SAMPLES; k++) {
        expected[k] = rows[expected[k]];
    }
    options.rows = NULL;
    options.row_count = 0;
    expect(cloud, &options, expected, SAMPLES);
    free(some);
}

static void amounts_and_starts(const float *xyz, size_t *expected) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(0);
    options.amount = FARPOINT_RATIO;
    options.ratio = (double)SAMPLES / COUNT;
    expect(cloud, &options, expected, SAMPLES);
    farpoint_sample_result *result = NULL;
    options.amount = FARPOINT_SPACING;
    options.spacing = 40.0;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    farpoint_sample_view view = farpoint_sample_result_view(result);
    CHECK(view.count > 1 && view.count < COUNT && view.covering_radius <= 40.0);
    CHECK(view.squared_distances_f32[view.count - 1] > 1600.0f && view.squared_distances_f64 == NULL);
    farpoint_sample_result_free(result);
    size_t *all = malloc(COUNT * sizeof *all);
    size_t start = 17;
    obvious(xyz, COUNT, COUNT, start, all);
    options.amount = FARPOINT_ALL;
    options.starts = &start;
    options.start_count = 1;
    expect(cloud, &options, all, COUNT);
    /* Going on from a sample is the sample. */
    options = sample_options(SAMPLES);
    options.starts = expected;
    options.start_count = SAMPLES / 2;
    expect(cloud, &options, expected, SAMPLES);
    options = sample_options(SAMPLES);
    options.random_start = 1;
    options.seed = 5;
    farpoint_sample_result *again = NULL;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    CHECK(farpoint_sample(cloud, &options, &again) == FARPOINT_OK);
    const size_t *one = farpoint_sample_result_view(result).indices;
    CHECK(memcmp(one, farpoint_sample_result_view(again).indices, SAMPLES * sizeof *one) == 0);
    obvious(xyz, COUNT, SAMPLES, one[0], all);
    CHECK(memcmp(one, all, SAMPLES * sizeof *one) == 0);
    farpoint_sample_result_free(result);
    farpoint_sample_result_free(again);
    free(all);
}

/* A sample of a level's points, from the first of them, is 0, 1, 2, ... */
static void levels(const float *xyz) {
    enum { LEVELS = 4 };
    const size_t counts[LEVELS] = {SAMPLES, SAMPLES, 90, 1};
    const size_t growing[2] = {90, 91};
    farpoint_sample_view views[LEVELS];
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(SAMPLES);
    farpoint_sample_result *result = NULL;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    CHECK(farpoint_sample_result_levels(result, counts, LEVELS, views) == FARPOINT_OK);
    float level[3 * SAMPLES];
    size_t again[SAMPLES], last = 0;
    for (size_t l = 0; l < LEVELS; l++) {
        CHECK(views[l].count == counts[l] && views[l].indices == views[0].indices);
        CHECK(views[l].covering_radius >= views[last].covering_radius);
        last = l;
        for (size_t k = 0; k < counts[l]; k++) {
            memcpy(level + 3 * k, xyz + 3 * views[l].indices[k], 12);
        }
        obvious(level, counts[l], counts[l], 0, again);
        for (size_t k = 0; k < counts[l]; k++) {
            CHECK(again[k] == k);
        }
    }
    INVALID(farpoint_sample_result_levels(result, growing, 2, views), "levels must not grow");
    INVALID(farpoint_sample_result_levels(result, counts, LEVELS, NULL), "levels is NULL");
    INVALID(farpoint_sample_result_levels(NULL, counts, LEVELS, views), "the result is NULL");
    farpoint_sample_result_free(result);
}

static int32_t cancel(void *user, const farpoint_progress *progress) {
    (void)user;
    return progress->done > 0;
}

/* A deadline and a canceled call return the beginning of the complete sample. */
static void early_ends(const float *xyz, const size_t *expected) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(SAMPLES);
    farpoint_run_options run = run_options(1);
    options.run = &run;
    options.deadline = 1e-9;
    farpoint_sample_result *result = NULL;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    farpoint_sample_view view = farpoint_sample_result_view(result);
    CHECK(view.count >= 1 && view.count < SAMPLES && !view.complete);
    CHECK(memcmp(view.indices, expected, view.count * sizeof *expected) == 0);
    CHECK(view.covering_radius > 0 && !isinf(view.covering_radius));
    farpoint_sample_result_free(result);
    options.deadline = 3600;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    view = farpoint_sample_result_view(result);
    CHECK(view.count == SAMPLES && view.complete == 1);
    farpoint_sample_result_free(result);
    options.deadline = -1;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_INVALID_ARGUMENT);
    CHECK(strstr(farpoint_last_error(), "deadline is -1"));
    /* The callback is called at 1,024 samples at the latest. */
    options = sample_options(COUNT);
    options.run = &run;
    run.progress = cancel;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_CANCELED);
    options.partial = 1;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    view = farpoint_sample_result_view(result);
    CHECK(view.count >= 1 && view.count < COUNT && !view.complete);
    CHECK(memcmp(view.indices, expected, (view.count < SAMPLES ? view.count : SAMPLES) * sizeof *expected) == 0);
    farpoint_sample_result_free(result);
}

static void doubles_and_non_finite_rows(const float *xyz) {
    double *wide = malloc(3 * COUNT * sizeof *wide);
    for (size_t i = 0; i < 3 * COUNT; i++) {
        wide[i] = xyz[i];
    }
    wide[3 * 5 + 1] = NAN;
    wide[3 * 700] = INFINITY;
    farpoint_points cloud = farpoint_dense(wide, COUNT, 3, FARPOINT_FLOAT64);
    farpoint_sample_options options = sample_options(COUNT - 2);
    farpoint_sample_result *result = NULL;
    REFUSED(farpoint_sample(cloud, &options, &result), FARPOINT_NON_FINITE, "the first is row 5");
    CHECK(result == NULL);
    farpoint_run_options run = run_options(0);
    run.non_finite = FARPOINT_NON_FINITE_SKIP;
    options.run = &run;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    farpoint_sample_view view = farpoint_sample_result_view(result);
    CHECK(view.count == COUNT - 2 && view.dropped == 2 && view.covering_radius == 0.0);
    CHECK(view.squared_distances_f32 == NULL && isinf(view.squared_distances_f64[0]));
    farpoint_sample_result_free(result);
    free(wide);
}

static void batches(void) {
    enum { CLOUDS = 5 };
    float *xyz[CLOUDS];
    farpoint_points clouds[CLOUDS];
    farpoint_sample_options options[CLOUDS];
    farpoint_sample_result *results[CLOUDS];
    size_t start = 3;
    for (size_t i = 0; i < CLOUDS; i++) {
        size_t count = 50 + 300 * i;
        xyz[i] = cloud_of((int)(i % 4), count, (uint32_t)i);
        clouds[i] = farpoint_dense(xyz[i], count, 3, FARPOINT_FLOAT32);
        options[i] = sample_options(20 + i);
        options[i].starts = i % 2 == 1 ? &start : NULL;
        options[i].start_count = i % 2;
    }
    CHECK(farpoint_sample_batch(clouds, CLOUDS, options, CLOUDS, results) == FARPOINT_OK);
    for (size_t i = 0; i < CLOUDS; i++) {
        size_t expected[20 + CLOUDS];
        obvious(xyz[i], clouds[i].count, 20 + i, i % 2 == 1 ? start : 0, expected);
        farpoint_sample_view view = farpoint_sample_result_view(results[i]);
        CHECK(view.count == 20 + i && memcmp(view.indices, expected, view.count * sizeof *expected) == 0);
        farpoint_sample_result_free(results[i]);
    }
    CHECK(farpoint_sample_batch(clouds, CLOUDS, options, 1, results) == FARPOINT_OK);
    for (size_t i = 0; i < CLOUDS; i++) {
        CHECK(farpoint_sample_result_view(results[i]).count == 20);
        farpoint_sample_result_free(results[i]);
    }
    CHECK(farpoint_sample_batch(NULL, 0, options, 1, NULL) == FARPOINT_OK);
    INVALID(farpoint_sample_batch(clouds, CLOUDS, options, 2, results), "2 options for 5 clouds");
    CHECK(results[0] == NULL && results[CLOUDS - 1] == NULL);
    INVALID(farpoint_sample_batch(NULL, 3, options, 1, results), "clouds is NULL");
    INVALID(farpoint_sample_batch(clouds, CLOUDS, options, 1, NULL), "pointer to the result is NULL");
    INVALID(farpoint_sample_batch(clouds, CLOUDS, NULL, 1, results), "is NULL; pass one");
    options[0].count = 1000;
    INVALID(farpoint_sample_batch(clouds, CLOUDS, options, 1, results), "cloud 0 of the batch: cannot take 1000 samples");
    clouds[2].scalar = FARPOINT_FLOAT64;
    INVALID(farpoint_sample_batch(clouds, CLOUDS, options, 1, results), "cloud 2");
    for (size_t i = 0; i < CLOUDS; i++) {
        free(xyz[i]);
    }
}

int main(int count, char **arguments) {
    int slow = is_slow(count, arguments);
    size_t expected[SAMPLES];
    for (int kind = 0; kind < (slow ? 1 : 4); kind++) {
        float *xyz = cloud_of(kind, COUNT, 1);
        obvious(xyz, COUNT, SAMPLES, 0, expected);
        if (!slow) {
            same_in_every_way(xyz, expected);
        }
        every_layout(xyz, expected);
        subsets(xyz);
        if (kind == 0) {
            early_ends(xyz, expected);
            amounts_and_starts(xyz, expected);
            levels(xyz);
            doubles_and_non_finite_rows(xyz);
        }
        free(xyz);
    }
    batches();
    return done("sampling");
}
