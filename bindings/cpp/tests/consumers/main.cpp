// What another project does with farpoint, whichever way it gets it.
#include <farpoint.hpp>

#include <array>
#include <cstdio>
#include <vector>

int main() {
    std::vector<std::array<float, 3>> cloud(1000);
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        cloud[i] = {static_cast<float>(i), static_cast<float>(i * i % 97), 0.0F};
    }
    const farpoint::SampleResult sample = farpoint::sample(cloud, farpoint::ratio(0.1));
    std::printf("farpoint %s: %zu samples, radius %.3f\n", farpoint::version().c_str(), sample.size(),
                sample.covering_radius());
    return sample.size() == 100 && sample.indices()[1] == 999 ? 0 : 1;
}
