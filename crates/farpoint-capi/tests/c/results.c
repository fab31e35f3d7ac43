/* Neighbors, the Chamfer distance, gradients, measures, approximate samplers: equal to the obvious loops. */

#include "check.h"

enum { A = 700, B = 300, K = 5 };

static float squared(const float *p, const float *q) {
    float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    float xx = x * x, yy = y * y, zz = z * z;
    return (xx + yy) + zz;
}

/* The k nearest of b, the lower index first among equals; how many there are. */
static size_t obvious_neighbors(const float *p, const float *b, size_t k, float limit, size_t *found) {
    size_t count = 0;
    unsigned char taken[B] = {0};
    while (count < k) {
        size_t best = B;
        for (size_t j = 0; j < B; j++) {
            float distance = squared(p, b + 3 * j);
            if (!taken[j] && distance < limit && (best == B || distance < squared(p, b + 3 * best))) {
                best = j;
            }
        }
        if (best == B) {
            break;
        }
        taken[best] = 1;
        found[count++] = best;
    }
    return count;
}

static void expect_nearest(const farpoint_nearest_result *found, const float *a, const float *b) {
    farpoint_nearest_view view = farpoint_nearest_result_view(found);
    CHECK(view.rows == A && view.dropped == 0 && view.raw_distances_f64 == NULL);
    const uint32_t *indices = view.indices;
    const float *distances = view.raw_distances_f32;
    double largest = 0.0;
    for (size_t i = 0; i < A; i++) {
        size_t nearest = 0;
        obvious_neighbors(a + 3 * i, b, 1, INFINITY, &nearest);
        CHECK(indices[i] == nearest && distances[i] == squared(a + 3 * i, b + 3 * nearest));
        largest = fmax(largest, sqrtf(distances[i]));
    }
    CHECK(farpoint_nearest_result_max_distance(found) == largest);
    CHECK(farpoint_nearest_result_share_within(found, largest) == 1.0);
}

static void chamfer(const float *a, const float *b) {
    farpoint_points x = farpoint_dense(a, A, 3, FARPOINT_FLOAT32);
    farpoint_points y = farpoint_dense(b, B, 3, FARPOINT_FLOAT32);
    farpoint_nearest_result *nearest = NULL;
    CHECK(farpoint_nearest(x, y, NULL, &nearest) == FARPOINT_OK);
    expect_nearest(nearest, a, b);
    farpoint_chamfer_result *found = NULL;
    farpoint_match_options options = match_options();
    options.method = FARPOINT_SEARCH_TREE;
    CHECK(farpoint_chamfer(x, y, &options, &found) == FARPOINT_OK);
    const farpoint_nearest_result *there = farpoint_chamfer_result_direction(found, 0);
    const farpoint_nearest_result *back = farpoint_chamfer_result_direction(found, 1);
    CHECK(farpoint_chamfer_result_direction(found, 2) == NULL);
    CHECK(farpoint_chamfer_result_direction(found, -1) == NULL);
    expect_nearest(there, a, b);
    CHECK(farpoint_nearest_result_view(back).rows == B);
    double mean = farpoint_nearest_result_mean(there), other = farpoint_nearest_result_mean(back);
    CHECK(mean == farpoint_nearest_result_mean(nearest));
    CHECK(farpoint_chamfer_result_sum(found, 1.0, 1.0) == mean + other);
    CHECK(farpoint_chamfer_result_sum(found, 0.5, 2.0) == 0.5 * mean + 2.0 * other);
    CHECK(farpoint_chamfer_result_sum_of_distances(found) ==
          farpoint_nearest_result_mean_distance(there) + farpoint_nearest_result_mean_distance(back));
    double most = fmax(farpoint_nearest_result_max_distance(there),
                       farpoint_nearest_result_max_distance(back));
    CHECK(farpoint_chamfer_result_hausdorff(found) == most);
    farpoint_f_score score = farpoint_chamfer_result_f_score(found, most);
    CHECK(score.precision == 1.0 && score.recall == 1.0 && score.f_score == 1.0);

    /* Gradients: what each row is sent, in the fixed order. */
    float grad_a[A], grad_b[B];
    for (size_t i = 0; i < A; i++) {
        grad_a[i] = 1.0f / A;
    }
    memset(grad_b, 0, sizeof grad_b);
    farpoint_gradients_result *gradients = NULL, *again = NULL;
    CHECK(farpoint_chamfer_backward(found, x, y, grad_a, NULL, NULL, &gradients) == FARPOINT_OK);
    farpoint_run_options run = run_options(1);
    CHECK(farpoint_chamfer_backward(found, x, y, grad_a, grad_b, &run, &again) == FARPOINT_OK);
    farpoint_gradients_view view = farpoint_gradients_result_view(gradients);
    CHECK(view.a_count == 3 * A && view.b_count == 3 * B && view.a_f64 == NULL);
    const float *of_a = view.a_f32;
    const float *of_b = view.b_f32;
    CHECK(memcmp(of_a, farpoint_gradients_result_view(again).a_f32, 3 * A * sizeof *of_a) == 0);
    CHECK(memcmp(of_b, farpoint_gradients_result_view(again).b_f32, 3 * B * sizeof *of_b) == 0);
    float sum = 0.0f;
    const uint32_t *indices = farpoint_nearest_result_view(there).indices;
    for (size_t i = 0; i < A; i++) {
        float two = grad_a[i] + grad_a[i];
        CHECK(of_a[3 * i] == two * (a[3 * i] - b[3 * indices[i]]));
        if (indices[i] == 7) {
            sum = sum - two * (a[3 * i] - b[3 * indices[i]]);
        }
    }
    CHECK(of_b[21] == sum);
    farpoint_gradients_result_free(again);
    INVALID(farpoint_chamfer_backward(found, y, x, grad_a, grad_b, NULL, &again), "cloud");
    farpoint_gradients_result_free(gradients);
    CHECK(again == NULL);
    farpoint_chamfer_result_free(found);
    farpoint_nearest_result_free(nearest);
}

static void neighbors(const float *a, const float *b) {
    farpoint_points x = farpoint_dense(a, A, 3, FARPOINT_FLOAT32);
    farpoint_points y = farpoint_dense(b, B, 3, FARPOINT_FLOAT32);
    farpoint_search_options options = search_options(K);
    const int32_t kinds[] = {FARPOINT_NEAREST, FARPOINT_BALL, FARPOINT_RAW_BALL};
    for (size_t i = 0; i < 3; i++) {
        options.kind = kinds[i];
        options.order = FARPOINT_BY_DISTANCE;
        const double radii[] = {0.0, 30.0, 900.0};
        options.radius = radii[i];
        float limit = kinds[i] == FARPOINT_NEAREST ? INFINITY : 900.0f;
        farpoint_neighbors_result *found = NULL;
        CHECK(farpoint_search(x, y, &options, &found) == FARPOINT_OK);
        farpoint_neighbors_view view = farpoint_neighbors_result_view(found);
        CHECK(view.rows == A && view.k == K);
        const uint32_t *indices = view.indices, *counts = view.counts;
        const float *distances = view.raw_distances_f32;
        float grad[A * K];
        for (size_t row = 0; row < A; row++) {
            size_t expected[K];
            size_t count = obvious_neighbors(a + 3 * row, b, K, limit, expected);
            CHECK(counts[row] == count);
            for (size_t k = 0; k < K; k++) {
                size_t at = row * K + k;
                grad[at] = (float)k;
                CHECK(indices[at] == (k < count ? expected[k] : FARPOINT_NONE));
                CHECK(k < count ? distances[at] == squared(a + 3 * row, b + 3 * expected[k])
                                : isinf(distances[at]));
            }
        }
        farpoint_gradients_result *gradients = NULL;
        CHECK(farpoint_search_backward(found, x, y, grad, NULL, &gradients) == FARPOINT_OK);
        float sum = 0.0f;
        for (size_t k = 0; k < counts[3]; k++) {
            sum = sum + (grad[3 * K + k] + grad[3 * K + k]) * (a[9] - b[3 * indices[3 * K + k]]);
        }
        CHECK(farpoint_gradients_result_view(gradients).a_f32[9] == sum);
        farpoint_gradients_result_free(gradients);
        farpoint_neighbors_result_free(found);
    }
    options.kind = FARPOINT_BALL;
    options.order = FARPOINT_BY_INDEX;
    options.radius = 30.0;
    farpoint_within_result *within = NULL;
    CHECK(farpoint_within(x, y, &options, &within) == FARPOINT_OK);
    farpoint_within_view view = farpoint_within_result_view(within);
    const size_t *offsets = view.offsets;
    const uint32_t *indices = view.indices;
    CHECK(view.rows == A && offsets[0] == 0 && offsets[A] == view.count);
    for (size_t row = 0; row < A; row++) {
        size_t at = offsets[row];
        for (size_t j = 0; j < B; j++) {
            if (squared(a + 3 * row, b + 3 * j) < 900.0f) {
                CHECK(at < offsets[row + 1] && indices[at] == j);
                at++;
            }
        }
        CHECK(at == offsets[row + 1]);
    }
    farpoint_gradients_result *gradients = NULL;
    float *grad = calloc(offsets[A] + 1, sizeof *grad);
    CHECK(farpoint_within_backward(within, x, y, grad, NULL, &gradients) == FARPOINT_OK);
    CHECK(farpoint_gradients_result_view(gradients).b_f32[0] == 0.0f);
    free(grad);
    farpoint_gradients_result_free(gradients);
    farpoint_within_result_free(within);
}

static void batches(const float *a, const float *b) {
    farpoint_points x[2] = {farpoint_dense(a, A, 3, FARPOINT_FLOAT32), farpoint_dense(b, B, 3, FARPOINT_FLOAT32)};
    farpoint_points y[2] = {x[1], x[0]};
    farpoint_nearest_result *nearest[2];
    farpoint_chamfer_result *chamfers[2];
    farpoint_neighbors_result *found[2];
    farpoint_within_result *within[2];
    farpoint_search_options options = search_options(2);
    options.kind = FARPOINT_BALL;
    options.radius = 10.0;
    CHECK(farpoint_nearest_batch(x, y, 2, NULL, nearest) == FARPOINT_OK);
    CHECK(farpoint_chamfer_batch(x, y, 2, NULL, chamfers) == FARPOINT_OK);
    CHECK(farpoint_search_batch(x, y, 2, &options, found) == FARPOINT_OK);
    CHECK(farpoint_within_batch(x, y, 2, &options, within) == FARPOINT_OK);
    expect_nearest(nearest[0], a, b);
    CHECK(farpoint_nearest_result_mean(nearest[1]) ==
          farpoint_nearest_result_mean(farpoint_chamfer_result_direction(chamfers[0], 1)));
    CHECK(farpoint_neighbors_result_view(found[1]).rows == B && farpoint_within_result_view(within[0]).rows == A);
    for (size_t i = 0; i < 2; i++) {
        farpoint_nearest_result_free(nearest[i]);
        farpoint_chamfer_result_free(chamfers[i]);
        farpoint_neighbors_result_free(found[i]);
        farpoint_within_result_free(within[i]);
    }
    CHECK(farpoint_nearest_batch(NULL, NULL, 0, NULL, NULL) == FARPOINT_OK);
    INVALID(farpoint_nearest_batch(x, NULL, 2, NULL, nearest), "the second clouds is NULL");
    x[1].point_stride = 0;
    INVALID(farpoint_chamfer_batch(x, y, 2, NULL, chamfers), "the first cloud: cloud 1 of the batch");
    CHECK(nearest[0] == NULL && chamfers[1] == NULL);
}

static void measures(const float *a) {
    farpoint_points cloud = farpoint_dense(a, A, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(50);
    farpoint_sample_result *sample = NULL;
    CHECK(farpoint_sample(cloud, &options, &sample) == FARPOINT_OK);
    const size_t *rows = farpoint_sample_result_view(sample).indices;
    double radius = 0.0;
    farpoint_run_options run = run_options(1);
    CHECK(farpoint_covering_radius(cloud, rows, 50, &run, &radius) == FARPOINT_OK);
    CHECK(radius == farpoint_sample_result_view(sample).covering_radius);
    farpoint_spacing spacing;
    CHECK(farpoint_spacing_of(cloud, rows, 50, NULL, &spacing) == FARPOINT_OK);
    CHECK(spacing.min >= radius && spacing.min <= spacing.mean && spacing.mean <= spacing.max);
    farpoint_quality quality, of_points;
    memset(&quality, 0, sizeof quality);
    quality.size = sizeof quality;
    of_points = quality;
    CHECK(farpoint_quality_of(cloud, rows, 50, NULL, &quality) == FARPOINT_OK);
    CHECK(quality.size == sizeof quality && quality.points == A && quality.samples == 50);
    CHECK(quality.unique == 1.0 && quality.covering_radius == radius);
    CHECK(memcmp(&quality.spacing, &spacing, sizeof spacing) == 0);
    float places[150];
    for (size_t i = 0; i < 50; i++) {
        memcpy(places + 3 * i, a + 3 * rows[i], 12);
    }
    farpoint_points samples = farpoint_dense(places, 50, 3, FARPOINT_FLOAT32);
    CHECK(farpoint_quality_of_points(cloud, samples, NULL, &of_points) == FARPOINT_OK);
    CHECK(of_points.covering_radius == radius && of_points.coverage_mean == quality.coverage_mean);
    CHECK(farpoint_quality_of(cloud, rows, 1, NULL, &quality) == FARPOINT_OK && isnan(quality.spacing.min));
    farpoint_sample_result_free(sample);
}

static void approximate(const float *a) {
    farpoint_points cloud = farpoint_dense(a, A, 3, FARPOINT_FLOAT32);
    for (int32_t method = FARPOINT_METHOD_RANDOM; method <= FARPOINT_METHOD_GRID; method++) {
        farpoint_approximate_options options = approximate_options(method, 60);
        farpoint_approximate_result *result = NULL;
        CHECK(farpoint_approximate(cloud, &options, &result) == FARPOINT_OK);
        farpoint_approximate_view view = farpoint_approximate_result_view(result);
        CHECK(view.count == 60);
        const size_t *indices = view.indices;
        unsigned char seen[A] = {0};
        for (size_t i = 0; i < 60; i++) {
            CHECK(indices[i] < A && !seen[indices[i]]);
            seen[indices[i]] = 1;
        }
        CHECK(isnan(view.cell) == (method != FARPOINT_METHOD_GRID));
        farpoint_approximate_result_free(result);
    }
    farpoint_approximate_options options = approximate_options(FARPOINT_METHOD_GRID, 0);
    options.amount = FARPOINT_CELL;
    options.cell = 64.0;
    farpoint_approximate_result *result = NULL;
    farpoint_centroids_result *centroids = NULL;
    CHECK(farpoint_approximate(cloud, &options, &result) == FARPOINT_OK);
    CHECK(farpoint_centroids(cloud, &options, &centroids) == FARPOINT_OK);
    farpoint_centroids_view view = farpoint_centroids_result_view(centroids);
    size_t cells = view.count, points = 0;
    CHECK(cells > 1 && cells == farpoint_approximate_result_view(result).count);
    CHECK(view.cell == 64.0);
    for (size_t i = 0; i < cells; i++) {
        points += view.point_counts[i];
        CHECK(isfinite(view.coordinates_f32[3 * i + 2]));
    }
    CHECK(points == A && view.coordinates_f64 == NULL);
    farpoint_approximate_result_free(result);
    farpoint_centroids_result_free(centroids);
    options = approximate_options(FARPOINT_METHOD_RANDOM, 3);
    options.keep = FARPOINT_KEEP_FIRST;
    INVALID(farpoint_approximate(cloud, &options, &result), "keep is set, which random does not use");
}

/* Each voxel by a loop over all points. */
static void voxels(const float *a) {
    farpoint_points cloud = farpoint_dense(a, A, 3, FARPOINT_FLOAT32);
    for (int32_t reduce = FARPOINT_REDUCE_MEAN; reduce <= FARPOINT_REDUCE_RANDOM; reduce++) {
        farpoint_voxel_options options = voxel_options(100.0);
        options.reduce = reduce;
        farpoint_voxels_result *result = NULL;
        CHECK(farpoint_voxels(cloud, &options, &result) == FARPOINT_OK);
        farpoint_voxels_view view = farpoint_voxels_result_view(result);
        CHECK(view.inverse_count == A && view.dims == 3 && view.coordinates_f64 == NULL);
        CHECK(view.count > 1 && view.dropped == 0);
        size_t points = 0;
        for (size_t voxel = 0; voxel < view.count; voxel++) {
            double sums[3] = {0.0, 0.0, 0.0};
            size_t first = A, count = 0;
            for (size_t i = 0; i < A; i++) {
                int inside = 1;
                for (size_t axis = 0; axis < 3; axis++) {
                    float cell = floorf(a[3 * i + axis] / 100.0f);
                    inside &= cell == (float)view.cells[3 * voxel + axis];
                }
                CHECK(inside == (view.inverse[i] == voxel));
                if (inside) {
                    first = count == 0 ? i : first;
                    count++;
                    for (size_t axis = 0; axis < 3; axis++) {
                        sums[axis] += a[3 * i + axis];
                    }
                }
            }
            CHECK(count == view.point_counts[voxel]);
            size_t row = view.rows[voxel];
            CHECK(reduce > FARPOINT_REDUCE_FIRST ? view.inverse[row] == voxel : row == first);
            for (size_t axis = 0; axis < 3; axis++) {
                float mean = (float)(sums[axis] / (double)count);
                float wanted = reduce == FARPOINT_REDUCE_MEAN ? mean : a[3 * row + axis];
                CHECK(view.coordinates_f32[3 * voxel + axis] == wanted);
            }
            points += count;
        }
        CHECK(points == A);
        farpoint_voxels_result_free(result);
    }
    farpoint_voxel_options options = voxel_options(0.0);
    farpoint_voxels_result *result = NULL;
    INVALID(farpoint_voxels(cloud, &options, &result), "voxel size 0 of axis 0");
    double origin[3] = {0.0, 0.0, 0.0};
    options = voxel_options(1.0), options.origin = origin, options.origin_count = 3, options.min_origin = 1;
    INVALID(farpoint_voxels(cloud, &options, &result), "origin and min_origin");
}

int main(int count, char **arguments) {
    for (int kind = 0; kind < (is_slow(count, arguments) ? 1 : 4); kind++) {
        float *a = cloud_of(kind, A, 2), *b = cloud_of(kind, B, 3);
        chamfer(a, b);
        neighbors(a, b);
        batches(a, b);
        if (kind == 0) {
            measures(a);
            approximate(a);
            voxels(a);
        }
        free(a);
        free(b);
    }
    return done("results");
}
