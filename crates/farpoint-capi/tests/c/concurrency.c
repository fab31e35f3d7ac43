/* Progress, canceling, several callers, threads that start and do not, fork. Needs POSIX. */

#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 40000, SAMPLES = 8000 };

static float *xyz;

struct heard {
    atomic_int calls;
    atomic_int inside;
    size_t last;
    int cancel_at;
};

static int32_t hear(void *user, const farpoint_progress *progress) {
    struct heard *heard = user;
    /* One call at a time. */
    if (atomic_fetch_add(&heard->inside, 1) != 0 || progress->size != sizeof *progress ||
        progress->done > progress->total) {
        abort();
    }
    heard->last = progress->done;
    int calls = atomic_fetch_add(&heard->calls, 1) + 1;
    atomic_fetch_sub(&heard->inside, 1);
    return calls == heard->cancel_at;
}

static void progress_and_canceling(size_t threads) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(SAMPLES);
    farpoint_sample_result *result = NULL;
    struct heard heard = {0};
    farpoint_run_options run = run_options(threads);
    run.progress = hear;
    run.user = &heard;
    options.run = &run;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    CHECK(heard.calls > 1 && heard.last <= SAMPLES);
    farpoint_sample_result_free(result);
    heard.calls = 0;
    heard.cancel_at = 2;
    REFUSED(farpoint_sample(cloud, &options, &result), FARPOINT_CANCELED, "canceled after");
    CHECK(result == NULL && heard.calls == 2);
    farpoint_search_options searching = search_options(8);
    farpoint_neighbors_result *found = NULL;
    searching.run = &run;
    heard.calls = 0;
    heard.cancel_at = 1;
    REFUSED(farpoint_search(cloud, cloud, &searching, &found), FARPOINT_CANCELED, "canceled after");
    farpoint_approximate_options approximate = approximate_options(FARPOINT_METHOD_GRID, SAMPLES);
    farpoint_approximate_result *some = NULL;
    approximate.run = &run;
    heard.calls = 0;
    REFUSED(farpoint_approximate(cloud, &approximate, &some), FARPOINT_CANCELED, "canceled after");
    CHECK(found == NULL && some == NULL);
}

/* The callback may ask the library for something else. */
static int32_t ask_again(void *user, const farpoint_progress *progress) {
    farpoint_points cloud = farpoint_dense(xyz, 100, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(10);
    farpoint_sample_result *result = NULL;
    farpoint_run_options run = run_options(1);
    (void)progress;
    options.run = &run;
    if (farpoint_sample(cloud, &options, &result) == FARPOINT_OK) {
        *(int *)user += 1;
    }
    farpoint_sample_result_free(result);
    return 0;
}

static void calls_within_calls(void) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(SAMPLES);
    farpoint_sample_result *result = NULL;
    int calls = 0;
    farpoint_run_options run = run_options(1);
    run.progress = ask_again;
    run.user = &calls;
    options.run = &run;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK && calls > 0);
    farpoint_sample_result_free(result);
}

static size_t threads_of_this_process(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long threads = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "Threads: %lu", &threads) == 1) {
            break;
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return (size_t)threads;
}

static size_t most_threads;

static int32_t count_threads(void *user, const farpoint_progress *progress) {
    (void)user;
    (void)progress;
    size_t threads = threads_of_this_process();
    most_threads = threads > most_threads ? threads : most_threads;
    return 0;
}

/* On one thread nothing is ever started. To be called first. */
static void one_thread_starts_none(void) {
    size_t before = threads_of_this_process();
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    farpoint_sample_options options = sample_options(SAMPLES);
    farpoint_sample_result *result = NULL;
    farpoint_run_options run = run_options(1);
    run.progress = count_threads;
    options.run = &run;
    CHECK(farpoint_sample(cloud, &options, &result) == FARPOINT_OK);
    farpoint_sample_result_free(result);
    farpoint_match_options matching = match_options();
    farpoint_chamfer_result *chamfer = NULL;
    matching.run = &run;
    CHECK(farpoint_chamfer(cloud, cloud, &matching, &chamfer) == FARPOINT_OK);
    farpoint_chamfer_result_free(chamfer);
    CHECK(most_threads == before && threads_of_this_process() == before);
}

static void *sample_often(void *expected) {
    farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
    for (int i = 0; i < 3; i++) {
        farpoint_sample_options options = sample_options(200);
        farpoint_sample_result *result = NULL;
        farpoint_run_options run = run_options((size_t)i);
        options.run = &run;
        if (farpoint_sample(cloud, &options, &result) != FARPOINT_OK ||
            memcmp(farpoint_sample_result_view(result).indices, expected, 200 * sizeof(size_t)) != 0) {
            return "another sample";
        }
        farpoint_sample_result_free(result);
        /* Each thread has its own text. */
        options.count = COUNT + 1 + (size_t)i;
        char words[64];
        snprintf(words, sizeof words, "%zu samples", options.count);
        if (farpoint_sample(cloud, &options, &result) != FARPOINT_INVALID_ARGUMENT ||
            strstr(farpoint_last_error(), words) == NULL) {
            return "another thread's error";
        }
    }
    return NULL;
}

static void several_callers(void) {
    size_t expected[200];
    pthread_t threads[6];
    obvious(xyz, COUNT, 200, 0, expected);
    for (size_t i = 0; i < 6; i++) {
        CHECK(pthread_create(&threads[i], NULL, sample_often, expected) == 0);
    }
    for (size_t i = 0; i < 6; i++) {
        void *wrong = NULL;
        CHECK(pthread_join(threads[i], &wrong) == 0 && wrong == NULL);
    }
}

/* A child has none of the parent's threads: it works on its own. It is killed if it waits for them. */
static void forked(void) {
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        farpoint_points cloud = farpoint_dense(xyz, COUNT, 3, FARPOINT_FLOAT32);
        farpoint_sample_options options = sample_options(SAMPLES);
        farpoint_sample_result *result = NULL;
        for (size_t threads = 2; threads-- > 0;) {
            farpoint_run_options run = run_options(threads);
            options.run = &run;
            if (farpoint_sample(cloud, &options, &result) != FARPOINT_OK ||
                farpoint_sample_result_view(result).count != SAMPLES) {
                _exit(1);
            }
            farpoint_sample_result_free(result);
        }
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The pool is started once, with the threads that are asked for. */
static void own_threads(void) {
    int32_t cpus[] = {0, -1};
    farpoint_thread_options options = {0};
    INVALID(farpoint_start_threads(NULL), "NULL");
    options.size = sizeof options;
    options.threads = 3;
    options.name = "turns";
    options.cpus = cpus;
    options.cpu_count = 2;
    INVALID(farpoint_start_threads(&options), "cpus has -1");
    options.cpu_count = 0;
    options.scheduling = FARPOINT_SCHEDULING_FIFO;
    INVALID(farpoint_start_threads(&options), "priority 0");
    options.scheduling = FARPOINT_SCHEDULING_INHERITED;
    CHECK(farpoint_start_threads(&options) == FARPOINT_OK);
    INVALID(farpoint_start_threads(&options), "has been started");
}

int main(int count, char **arguments) {
    xyz = cloud_of(0, COUNT, 7);
    one_thread_starts_none();
    own_threads();
    progress_and_canceling(0);
    if (!is_slow(count, arguments)) {
        calls_within_calls();
        progress_and_canceling(1);
        progress_and_canceling(5);
        several_callers();
        forked();
    }
    free(xyz);
    return done("concurrency");
}
