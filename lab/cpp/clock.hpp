#ifndef FARPOINT_BENCHES_CLOCK_HPP
#define FARPOINT_BENCHES_CLOCK_HPP

/// The processor time of the calling thread, which other programs on the machine do not add to, and measuring two
/// or more things by turns.

#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace bench {

inline double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Times {
    double best = 0.0;
    double median = 0.0;
};

/// Seconds of each of these, run by turns: `rounds` times `repeats` calls each.
inline std::vector<Times> by_turns(const std::vector<std::function<void()>>& works, int rounds, int repeats) {
    std::vector<std::vector<double>> seconds(works.size());
    for (int round = 0; round < rounds + 1; ++round) {
        for (std::size_t which = 0; which < works.size(); ++which) {
            const double begin = thread_seconds();
            for (int repeat = 0; repeat < repeats; ++repeat) {
                works[which]();
            }
            // The first round warms up.
            if (round > 0) {
                seconds[which].push_back((thread_seconds() - begin) / repeats);
            }
        }
    }
    std::vector<Times> times;
    for (auto& list : seconds) {
        std::sort(list.begin(), list.end());
        times.push_back({list.front(), list[list.size() / 2]});
    }
    return times;
}

/// The points of a file of float32 x 4, as KITTI has them.
inline std::vector<float> read_kitti(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const auto bytes = static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0));
    std::vector<float> values(bytes / sizeof(float));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!file || values.empty() || values.size() % 4 != 0) {
        std::fprintf(stderr, "%s: not a file of float32 x 4\n", path.c_str());
        std::exit(1);
    }
    return values;
}

}  // namespace bench

#endif
