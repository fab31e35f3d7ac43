// calls KITTI.bin: what a call from C++ costs over one from C, and strided input over dense arrays. One thread,
// its processor time, by turns.
#include "clock.hpp"

#include <farpoint.hpp>

#include <array>
#include <cstdint>
#include <cstring>

static void report(const char* name, const bench::Times& times, const bench::Times& base) {
    std::printf("| %s | %.2f | %.2f | %+.2f | %.4f |\n", name, 1e6 * times.best, 1e6 * times.median,
                1e6 * (times.median - base.median), times.median / base.median);
}

// The same job by hand and through the headers: 1,024 points, 512 samples.
static void small_calls(const std::vector<std::array<float, 3>>& cloud) {
    const auto in_c = [&] {
        farpoint_run_options run{};
        run.size = sizeof run;
        run.threads = 1;
        farpoint_sample_options options{};
        options.size = sizeof options;
        options.run = &run;
        options.count = 512;
        farpoint_sample_result* result = nullptr;
        if (farpoint_sample(farpoint_dense(cloud.data(), cloud.size(), 3, FARPOINT_FLOAT32), &options, &result) !=
            FARPOINT_OK) {
            std::abort();
        }
        farpoint_sample_result_free(result);
    };
    const auto in_cpp = [&] {
        farpoint::SampleOptions options;
        options.threads = 1;
        if (farpoint::sample(cloud, 512, options).size() != 512) {
            std::abort();
        }
    };
    const auto times = bench::by_turns({in_c, in_cpp}, 201, 50);
    std::printf(
        "\n1,024 -> 512, microseconds\n\n| call | best | median | over C | ratio |\n|---|---:|---:|---:|---:|\n");
    report("C", times[0], times[0]);
    report("C++", times[1], times[0]);
}

template <std::size_t Step>
static std::vector<std::uint8_t> records(const std::vector<std::array<float, 3>>& cloud) {
    std::vector<std::uint8_t> bytes(cloud.size() * Step);
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        std::memcpy(bytes.data() + i * Step, cloud[i].data(), 12);
    }
    return bytes;
}

// A turn to 4,096 from records of 32 bytes (as PCL's PointXYZI) and 26 (as Livox', not aligned).
static void strides(const std::vector<std::array<float, 3>>& cloud) {
    const auto of_32 = records<32>(cloud);
    const auto of_26 = records<26>(cloud);
    const auto run = [](const farpoint::Points& points) {
        farpoint::SampleOptions options;
        options.threads = 1;
        if (farpoint::sample(points, 4096, options).size() != 4096) {
            std::abort();
        }
    };
    const auto view = [&](const std::vector<std::uint8_t>& bytes, std::ptrdiff_t step) {
        return farpoint::Points::strided(bytes.data(), FARPOINT_FLOAT32, cloud.size(), 3, step, 4);
    };
    const auto times =
        bench::by_turns({[&] { run(cloud); }, [&] { run(view(of_32, 32)); }, [&] { run(view(of_26, 26)); }}, 101, 2);
    std::printf(
        "\n%zu -> 4,096, microseconds\n\n| records | best | median | over dense | ratio |\n|---|---:|---:|---:|---:|\n",
        cloud.size());
    report("12 bytes, dense", times[0], times[0]);
    report("32 bytes", times[1], times[0]);
    report("26 bytes, not aligned", times[2], times[0]);
}

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: calls KITTI.bin\n");
        return 1;
    }
    const auto values = bench::read_kitti(argv[1]);
    std::vector<std::array<float, 3>> cloud;
    for (std::size_t i = 0; i < values.size(); i += 4) {
        cloud.push_back({values[i], values[i + 1], values[i + 2]});
    }
    std::vector<std::array<float, 3>> few;
    for (std::size_t i = 0; i < 1024; ++i) {
        few.push_back(cloud[i * cloud.size() / 1024]);
    }
    small_calls(few);
    strides(cloud);
    return 0;
}
