/* What the C tests share: a check that says what failed, options, clouds. */

#ifndef CHECK_H
#define CHECK_H

#include "farpoint/farpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition,       \
                    farpoint_last_error());                                                        \
        }                                                                                          \
    } while (0)

/* The call has this status, and its text has these words. */
#define REFUSED(call, status, words)                                                               \
    do {                                                                                           \
        farpoint_status got = (call);                                                                      \
        if (got != (status) || strstr(farpoint_last_error(), (words)) == NULL) {                   \
            failures++;                                                                            \
            fprintf(stderr, "%s:%d: %s\n  is %s, not %s with '%s': %s\n", __FILE__, __LINE__, #call, \
                    farpoint_status_name(got), farpoint_status_name(status), (words),              \
                    farpoint_last_error());                                                        \
        }                                                                                          \
    } while (0)

#define INVALID(call, words) REFUSED(call, FARPOINT_INVALID_ARGUMENT, words)

/* Not every program uses all of these. */
#if defined(__GNUC__)
#define MAYBE_UNUSED __attribute__((unused))
#else
#define MAYBE_UNUSED
#endif

MAYBE_UNUSED static farpoint_sample_options sample_options(size_t count) {
    farpoint_sample_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.count = count;
    return options;
}

MAYBE_UNUSED static farpoint_match_options match_options(void) {
    farpoint_match_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

MAYBE_UNUSED static farpoint_search_options search_options(size_t k) {
    farpoint_search_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.k = k;
    return options;
}

MAYBE_UNUSED static farpoint_approximate_options approximate_options(int32_t method, size_t count) {
    farpoint_approximate_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.method = method;
    options.count = count;
    return options;
}

MAYBE_UNUSED static farpoint_voxel_options voxel_options(double edge) {
    farpoint_voxel_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.edge = edge;
    return options;
}

MAYBE_UNUSED static farpoint_run_options run_options(size_t threads) {
    farpoint_run_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.threads = threads;
    return options;
}

/* A cloud of random points, `kind` 0; 1: on a coarse lattice, with many ties; 2: on a line; 3: few
 * places, all duplicates. The caller frees it. */
MAYBE_UNUSED static float *cloud_of(int kind, size_t count, uint32_t seed) {
    float *xyz = malloc((count > 0 ? count : 1) * 3 * sizeof *xyz);
    if (xyz == NULL) {
        exit(2);
    }
    uint32_t state = seed * 2654435761u + 1u;
    for (size_t i = 0; i < 3 * count; i++) {
        state = state * 1664525u + 1013904223u;
        uint32_t bits = state >> 8;
        switch (kind) {
        case 0: xyz[i] = (float)bits / 65536.0f; break;
        case 1: xyz[i] = (float)(bits % 12u); break;
        case 2: xyz[i] = i % 3 == 0 ? (float)(bits % 4096u) : 0.0f; break;
        default: xyz[i] = (float)(bits % 2u); break;
        }
    }
    return xyz;
}

/* Farthest point sampling as anybody would write it. */
MAYBE_UNUSED static void obvious(const float *xyz, size_t count, size_t samples, size_t start,
                                 size_t *indices) {
    float *distances = malloc(count * sizeof *distances);
    if (distances == NULL) {
        exit(2);
    }
    for (size_t i = 0; i < count; i++) {
        distances[i] = INFINITY;
    }
    size_t last = start;
    for (size_t k = 0; k < samples; k++) {
        indices[k] = last;
        distances[last] = -1.0f;
        size_t best = count;
        for (size_t i = 0; i < count; i++) {
            if (distances[i] < 0.0f) {
                continue;
            }
            float x = xyz[3 * i] - xyz[3 * last];
            float y = xyz[3 * i + 1] - xyz[3 * last + 1];
            float z = xyz[3 * i + 2] - xyz[3 * last + 2];
            float xx = x * x, yy = y * y, zz = z * z;
            float distance = (xx + yy) + zz;
            if (distance < distances[i]) {
                distances[i] = distance;
            }
            if (best == count || distances[i] > distances[best]) {
                best = i;
            }
        }
        last = best;
    }
    free(distances);
}

/* Whether a tool makes everything slow: valgrind. A part of the checks is left out then, and fork, as
 * the child of a process with threads is not followed by every tool. */
MAYBE_UNUSED static int is_slow(int count, char **arguments) {
    return count > 1 && strcmp(arguments[1], "slow") == 0;
}

MAYBE_UNUSED static int done(const char *name) {
    if (failures > 0) {
        fprintf(stderr, "%s: %d checks failed\n", name, failures);
        return 1;
    }
    printf("%s: passed\n", name);
    return 0;
}

#endif
