// PCL: farpoint::PclFarthestPointSampling in place of pcl::FarthestPointSampling.
//
//   pcl [IN.pcd [OUT.pcd [SAMPLES]]]      without a file: a room made here
//
// Every field of the file is kept: the cloud is a PCLPointCloud2, of which the chosen records are copied.
#include <farpoint/pcl.hpp>

#include <pcl/PCLPointCloud2.h>
#include <pcl/common/io.h>
#include <pcl/conversions.h>
#include <pcl/io/pcd_io.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>

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

// Throws unless the file has x, y and z as float32, whatever else it has.
static void read(const char* name, pcl::PCLPointCloud2& cloud, Eigen::Vector4f& origin,
                 Eigen::Quaternionf& orientation) {
    if (pcl::io::loadPCDFile(name, cloud, origin, orientation) != 0) {
        throw std::runtime_error(std::string("can't read ") + name);
    }
    for (const char* axis : {"x", "y", "z"}) {
        const int field = pcl::getFieldIndex(cloud, axis);
        if (field < 0 || cloud.fields[static_cast<std::size_t>(field)].datatype != pcl::PCLPointField::FLOAT32) {
            throw std::runtime_error(std::string(name) + " has no field '" + axis + "' of type float32");
        }
    }
}

static std::size_t count_of(const char* text) {
    char* end = nullptr;
    const unsigned long count = std::strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || count == 0) {
        throw std::runtime_error(std::string("the number of samples is '") + text + "', not 1 or more");
    }
    return count;
}

static int run(int argc, char** argv) {
    pcl::PCLPointCloud2 cloud;
    Eigen::Vector4f origin = Eigen::Vector4f::Zero();
    Eigen::Quaternionf orientation = Eigen::Quaternionf::Identity();
    if (argc > 1) {
        read(argv[1], cloud, origin, orientation);
    } else {
        pcl::toPCLPointCloud2(*room(), cloud);
    }
    // Only the places are sampled; all fields are kept below.
    const pcl::PointCloud<pcl::PointXYZ>::Ptr places(new pcl::PointCloud<pcl::PointXYZ>);
    pcl::fromPCLPointCloud2(cloud, *places);

    const std::size_t samples = argc > 3 ? count_of(argv[3]) : places->size() / 4;
    if (samples > places->size()) {
        throw std::runtime_error("can't take " + std::to_string(samples) + " samples of " +
                                 std::to_string(places->size()) + " points");
    }
    farpoint::PclFarthestPointSampling<pcl::PointXYZ> sampling;
    sampling.setInputCloud(places);
    sampling.setSample(samples);
    sampling.setSeed(1);
    pcl::Indices chosen;
    const auto begin = std::chrono::steady_clock::now();
    sampling.filter(chosen);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    std::printf("%zu of %zu points in %.1f ms: every point is within %.3f of one; %zu points dropped\n", chosen.size(),
                places->size(), time.count(), sampling.getCoveringRadius(), sampling.getDropped());
    if (argc <= 2) {
        return 0;
    }
    pcl::PCLPointCloud2 thin;
    pcl::copyPointCloud(cloud, chosen, thin);
    return pcl::io::savePCDFile(argv[2], thin, origin, orientation, true) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
