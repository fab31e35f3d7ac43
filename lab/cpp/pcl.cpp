// pcl KITTI.bin COUNT ROUNDS: farpoint::PclFarthestPointSampling and pcl::FarthestPointSampling on the same cloud, from
// the same first point, by turns. One thread, its processor time, from setInputCloud to the indices.
#include "clock.hpp"

#include <farpoint.hpp>
#include <farpoint/pcl.hpp>

#include <pcl/filters/farthest_point_sampling.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <algorithm>
#include <vector>

using Cloud = pcl::PointCloud<pcl::PointXYZ>;

template <typename Filter>
static double seconds_of(Filter& filter, const Cloud::ConstPtr& cloud, std::size_t count, pcl::Indices& indices) {
    indices.clear();
    const double begin = bench::thread_seconds();
    filter.setInputCloud(cloud);
    filter.setSample(count);
    filter.setSeed(1);
    filter.filter(indices);
    return bench::thread_seconds() - begin;
}

static double radius_of(const Cloud& cloud, const pcl::Indices& indices) {
    const std::vector<std::size_t> rows(indices.begin(), indices.end());
    return farpoint::covering_radius(cloud, rows);
}

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: pcl KITTI.bin COUNT ROUNDS\n");
        return 1;
    }
    const auto values = bench::read_kitti(argv[1]);
    const auto count = static_cast<std::size_t>(std::strtoul(argv[2], nullptr, 10));
    const int rounds = std::atoi(argv[3]);
    const Cloud::Ptr cloud(new Cloud);
    for (std::size_t i = 0; i < values.size(); i += 4) {
        cloud->push_back(pcl::PointXYZ(values[i], values[i + 1], values[i + 2]));
    }
    std::vector<double> ours;
    std::vector<double> theirs;
    pcl::Indices mine;
    pcl::Indices pcls;
    for (int round = 0; round < rounds; ++round) {
        // Ours is so short that one time of it says little.
        for (int repeat = 0; repeat < 11; ++repeat) {
            farpoint::PclFarthestPointSampling<pcl::PointXYZ> sampling;
            sampling.setNumberOfThreads(1);
            ours.push_back(seconds_of(sampling, cloud, count, mine));
        }
        pcl::FarthestPointSampling<pcl::PointXYZ> sampling;
        theirs.push_back(seconds_of(sampling, cloud, count, pcls));
    }
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    const double median = ours[ours.size() / 2];
    const double pcl_median = theirs[theirs.size() / 2];
    std::size_t same = 0;
    while (same < count && mine[same] == pcls[same]) {
        ++same;
    }
    pcl::Indices a = mine;
    pcl::Indices b = pcls;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    pcl::Indices common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    std::printf("| %zu -> %zu | %.2f ms | %.2f s | %.0f times | %zu | %.4f | %.5f, %.5f |\n", cloud->size(), count,
                1e3 * median, pcl_median, pcl_median / median, same,
                static_cast<double>(common.size()) / static_cast<double>(count), radius_of(*cloud, mine),
                radius_of(*cloud, pcls));
    return 0;
}
