// PCL: farpoint::PclFarthestPointSampling in place of pcl::FarthestPointSampling.
//
//   pcl [IN.pcd [OUT.pcd [SAMPLES]]]      without a file: a room made here
#include <farpoint/pcl.hpp>

#include <pcl/io/pcd_io.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

using Cloud = pcl::PointCloud<pcl::PointXYZI>;

// Floor and walls of a room of 8 x 6 x 3 meters.
static Cloud::Ptr room() {
    const Cloud::Ptr cloud(new Cloud);
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> share(0.0F, 1.0F);
    for (int i = 0; i < 200000; ++i) {
        pcl::PointXYZI point;
        const float u = share(generator);
        const float v = share(generator);
        if (i % 3 == 0) {
            point.x = 8.0F * u, point.y = 6.0F * v, point.z = 0.0F;
        } else if (i % 3 == 1) {
            point.x = 8.0F * u, point.y = 0.0F, point.z = 3.0F * v;
        } else {
            point.x = 0.0F, point.y = 6.0F * u, point.z = 3.0F * v;
        }
        point.intensity = u;
        cloud->push_back(point);
    }
    return cloud;
}

int main(int argc, char** argv) {
    Cloud::Ptr cloud = argc > 1 ? Cloud::Ptr(new Cloud) : room();
    if (argc > 1 && pcl::io::loadPCDFile(argv[1], *cloud) != 0) {
        return 1;
    }

    farpoint::PclFarthestPointSampling<pcl::PointXYZI> sampling;
    sampling.setInputCloud(cloud);
    sampling.setSample(argc > 3 ? std::strtoul(argv[3], nullptr, 10) : cloud->size() / 4);
    sampling.setSeed(1);
    Cloud chosen;
    const auto begin = std::chrono::steady_clock::now();
    sampling.filter(chosen);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    std::printf("%zu of %zu points in %.1f ms: every point is within %.3f of one; %zu bad points left out\n",
                chosen.size(), cloud->size(), time.count(), sampling.getCoveringRadius(), sampling.getLeftOut());
    return argc > 2 ? pcl::io::savePCDFileBinary(argv[2], chosen) : 0;
}
