// voxels KITTI.bin...: farpoint::PclVoxelGrid and pcl::VoxelGrid on the same clouds, by turns. One thread, its processor
// time, 31 rounds of a call each.
#include "clock.hpp"

#include <farpoint/pcl.hpp>

#include <pcl/filters/voxel_grid.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

using Cloud = pcl::PointCloud<pcl::PointXYZI>;

template <typename Grid>
static void set(Grid& grid, const Cloud::ConstPtr& cloud, float leaf, bool all) {
    grid.setInputCloud(cloud);
    grid.setLeafSize(leaf, leaf, leaf);
    grid.setDownsampleAllData(all);
}

int main(int argc, char** argv) {
    for (int file = 1; file < argc; ++file) {
        const auto values = bench::read_kitti(argv[file]);
        const Cloud::Ptr cloud(new Cloud);
        for (std::size_t i = 0; i < values.size(); i += 4) {
            pcl::PointXYZI point;
            point.x = values[i], point.y = values[i + 1], point.z = values[i + 2], point.intensity = values[i + 3];
            cloud->push_back(point);
        }
        for (const bool all : {true, false}) {
            for (const float leaf : {0.1F, 0.2F, 0.5F, 1.0F}) {
                pcl::VoxelGrid<pcl::PointXYZI> theirs;
                farpoint::PclVoxelGrid<pcl::PointXYZI> ours;
                set(theirs, cloud, leaf, all);
                set(ours, cloud, leaf, all);
                Cloud a;
                Cloud b;
                const auto times = bench::by_turns({[&] { theirs.filter(a); }, [&] { ours.filter(b); }}, 31, 1);
                std::printf("%zu points, leaf %.1f, %s: %zu and %zu voxels, %.2f and %.2f ms, ratio %.2f\n", cloud->size(),
                            static_cast<double>(leaf), all ? "all fields" : "xyz", a.size(), b.size(),
                            1e3 * times[0].median, 1e3 * times[1].median, times[1].median / times[0].median);
            }
        }
    }
    return 0;
}
