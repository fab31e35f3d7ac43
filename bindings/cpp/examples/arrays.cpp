// Plain arrays, vectors of structs, batches of options: no other library.
#include <farpoint.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

struct Return {
    double time;
    float x, y, z;
    unsigned short intensity;
};

int main() {
    // A bumpy sheet, as points of three floats.
    std::vector<std::array<float, 3>> cloud;
    for (int i = 0; i < 20000; ++i) {
        const float u = static_cast<float>(i % 200) / 200.0F;
        const float v = static_cast<float>(i / 200) / 100.0F;
        cloud.push_back({u, v, 0.1F * std::sin(20.0F * u) * std::cos(15.0F * v)});
    }

    // So many points, or as many as it takes.
    const farpoint::SampleResult sample = farpoint::sample(cloud, 1024);
    std::printf("1,024 of %zu points: every point is within %.4f of one\n", cloud.size(), sample.covering_radius());
    std::printf("the first half of them covers the cloud within %.4f\n", sample.distance(512));
    const farpoint::SampleResult even = farpoint::sample(cloud, farpoint::spacing(0.05));
    std::printf("a spacing of 0.05 takes %zu points\n", even.size());

    // Structs are read where they are.
    std::vector<Return> scan;
    for (const auto& [x, y, z] : cloud) {
        scan.push_back({0.0, x, y, z, 0});
    }
    const farpoint::Points view(scan, &Return::x);
    farpoint::SampleOptions options;
    options.threads = 1;
    options.progress = [](const farpoint::Progress& progress) { return progress.done <= progress.total; };
    const farpoint::SampleResult again = farpoint::sample(view, 1024, options);
    for (std::size_t i = 0; i < again.size(); ++i) {
        if (again.indices()[i] != sample.indices()[i]) {
            return 1;
        }
    }

    // How well do the samples stand for the cloud?
    std::vector<std::array<float, 3>> chosen;
    for (const std::size_t row : sample.indices()) {
        chosen.push_back(cloud[row]);
    }
    std::printf("Chamfer distance %.6f\n", farpoint::chamfer(cloud, chosen).sum());

    // A cloud that is searched more than once is built an index for.
    const farpoint::Index index(cloud);
    const farpoint::NeighborsResult near = farpoint::knn(chosen, index, 16);
    std::printf("the 16th neighbor of the first sample is point %u\n", near.of(0)[15]);
    const farpoint::WithinResult within = farpoint::within(chosen, index, {0.02});
    std::printf("%zu points are within 0.02 of the first sample\n", within.of(0).size());

    // Errors are exceptions that name the numbers at fault.
    try {
        farpoint::sample(cloud, cloud.size() + 1);
    } catch (const farpoint::Error& error) {
        std::printf("as expected: %s\n", error.what());
        return 0;
    }
    return 1;
}
