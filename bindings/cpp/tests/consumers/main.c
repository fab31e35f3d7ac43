/* A project in C alone. */
#include <farpoint/farpoint.h>

#include <stdio.h>

int main(void) {
    static float cloud[1000][3];
    for (size_t i = 0; i < 1000; ++i) {
        cloud[i][0] = (float)i;
    }
    farpoint_sample_options options = {0};
    options.size = sizeof options;
    options.count = 2;
    farpoint_sample_result* sample = NULL;
    if (farpoint_sample(farpoint_dense(cloud, 1000, 3, FARPOINT_FLOAT32), &options, &sample) != FARPOINT_OK) {
        fprintf(stderr, "%s\n", farpoint_last_error());
        return 1;
    }
    const size_t last = farpoint_sample_result_view(sample).indices[1];
    farpoint_sample_result_free(sample);
    printf("farpoint %s: %zu\n", farpoint_version(), last);
    return last == 999 ? 0 : 1;
}
