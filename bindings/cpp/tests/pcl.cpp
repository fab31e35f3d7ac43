// PclFarthestPointSampling beside pcl::FarthestPointSampling, and PclVoxelGrid beside pcl::VoxelGrid.
#include "check.hpp"
#include "clouds.hpp"

#include <farpoint.hpp>
#include <farpoint/pcl.hpp>

#include <pcl/common/centroid.h>
#include <pcl/filters/farthest_point_sampling.h>
#include <pcl/filters/voxel_grid.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <set>

using Ours = farpoint::PclFarthestPointSampling<pcl::PointXYZI>;
using Theirs = pcl::FarthestPointSampling<pcl::PointXYZI>;
using Cloud = pcl::PointCloud<pcl::PointXYZI>;

static Cloud::Ptr cloud_of(const clouds::Cloud<float>& points) {
    const Cloud::Ptr cloud(new Cloud);
    for (const auto& [x, y, z] : points) {
        pcl::PointXYZI point;
        point.x = x, point.y = y, point.z = z;
        point.intensity = static_cast<float>(cloud->size());
        cloud->push_back(point);
    }
    return cloud;
}

template <typename Filter>
static pcl::Indices filtered(Filter& filter, const Cloud::ConstPtr& cloud, std::size_t count, unsigned seed) {
    filter.setInputCloud(cloud);
    filter.setSample(count);
    filter.setSeed(seed);
    pcl::Indices indices;
    filter.filter(indices);
    return indices;
}

static double radius_of(const Cloud& cloud, const pcl::Indices& indices) {
    const std::vector<std::size_t> rows(indices.begin(), indices.end());
    return farpoint::covering_radius(cloud, rows);
}

static pcl::Indices sorted(pcl::Indices indices) {
    std::sort(indices.begin(), indices.end());
    return indices;
}

TEST(the_view_of_a_cloud) {
    const auto points = clouds::lattice<float>(500, 1);
    const auto cloud = cloud_of(points);
    CHECK(clouds::equal(farpoint::sample(*cloud, 200).indices(), clouds::reference(points, 200)));
    pcl::PointCloud<pcl::PointNormal> normals;
    pcl::copyPointCloud(*cloud, normals);
    CHECK(clouds::equal(farpoint::sample(normals, 200).indices(), clouds::reference(points, 200)));
    static_assert(!std::is_constructible_v<farpoint::Points, Cloud>);
}

// Where no two distances are equal the samples are PCL's, one by one.
TEST(the_samples_of_pcl) {
    for (const unsigned seed : {0U, 1U, 4294967295U}) {
        const auto cloud = cloud_of(clouds::random<float>(2000, seed + 5));
        Ours ours;
        Theirs theirs;
        CHECK(filtered(ours, cloud, 500, seed) == filtered(theirs, cloud, 500, seed));
        CHECK(ours.getSample() == 500 && ours.getSeed() == seed && ours.getDropped() == 0);
    }
}

// Equal distances whose roots are exact: PCL, too, takes the point of lowest index, duplicates at the end.
TEST(samples_with_exact_ties) {
    const auto cloud = cloud_of(clouds::lattice<float>(1500, 2));
    Ours ours;
    Theirs theirs;
    for (const std::size_t count : {10U, 60U, 125U, 700U}) {
        CHECK(filtered(ours, cloud, count, 3) == filtered(theirs, cloud, count, 3));
    }
}

// Squares that differ in their last bit can have the same root, which PCL compares: the samples part there. Either
// sample is at most twice as far from the points as the best one of its size.
TEST(samples_with_rounded_ties) {
    auto points = clouds::lattice<float>(1500, 3);
    for (auto& point : points) {
        point = {0.1F * point[0] + 100.0F, 0.1F * point[1], 0.1F * point[2]};
    }
    const auto cloud = cloud_of(points);
    Ours ours;
    Theirs theirs;
    for (const std::size_t count : {20U, 60U, 120U}) {
        const auto mine = filtered(ours, cloud, count, 3);
        const auto their = filtered(theirs, cloud, count, 3);
        CHECK(mine.front() == their.front());
        CHECK(ours.getCoveringRadius() == radius_of(*cloud, mine));
        const double radius = radius_of(*cloud, their);
        CHECK(ours.getCoveringRadius() <= 2.0 * radius && radius <= 2.0 * ours.getCoveringRadius());
        pcl::Indices common;
        const auto a = sorted(mine);
        const auto b = sorted(their);
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
        std::printf("%zu samples, %zu in common, radius %.4f and %.4f\n", count, common.size(),
                    ours.getCoveringRadius(), radius);
        CHECK(2 * common.size() >= count);
    }
}

TEST(chosen_clouds_and_removed_indices) {
    const auto cloud = cloud_of(clouds::random<float>(300, 7));
    Ours ours(true);
    Theirs theirs(true);
    const auto indices = filtered(ours, cloud, 100, 1);
    CHECK(indices == filtered(theirs, cloud, 100, 1));
    CHECK(*ours.getRemovedIndices() == *theirs.getRemovedIndices());
    CHECK(ours.getRemovedIndices()->size() == 200);
    Cloud chosen;
    ours.filter(chosen);
    CHECK(chosen.size() == 100 && chosen.height == 1 && chosen.is_dense);
    for (std::size_t i = 0; i < 100; ++i) {
        CHECK(chosen[i].intensity == static_cast<float>(indices[i]));
    }
    // Twice the same: nothing of the last call is left.
    pcl::Indices again = {1, 2, 3};
    ours.filter(again);
    CHECK(again == indices && ours.getRemovedIndices()->size() == 200);
}

TEST(part_of_a_cloud) {
    const auto points = clouds::random<float>(600, 8);
    const auto cloud = cloud_of(points);
    const pcl::IndicesPtr part(new pcl::Indices);
    std::vector<std::size_t> rows;
    const Cloud::Ptr gathered(new Cloud);
    for (int row = 598; row > 0; row -= 2) {
        part->push_back(row);
        rows.push_back(static_cast<std::size_t>(row));
        gathered->push_back((*cloud)[static_cast<std::size_t>(row)]);
    }
    Ours ours(true);
    Theirs theirs;
    ours.setIndices(part);
    const auto found = filtered(ours, cloud, 80, 4);
    // As PCL samples the points of these indices alone.
    const auto expected = filtered(theirs, gathered, 80, 4);
    for (std::size_t i = 0; i < 80; ++i) {
        CHECK(found[i] == (*part)[static_cast<std::size_t>(expected[i])]);
    }
    CHECK(ours.getRemovedIndices()->size() == part->size() - 80);
    const pcl::IndicesPtr outside(new pcl::Indices{1, 600});
    ours.setIndices(outside);
    bool thrown = false;
    try {
        filtered(ours, cloud, 1, 4);
    } catch (const pcl::BadArgumentException&) {
        thrown = true;
    }
    CHECK(thrown);
    const pcl::IndicesPtr twice(new pcl::Indices{1, 5, 1});
    ours.setIndices(twice);
    CHECK_THROWS(invalid_argument, "", filtered(ours, cloud, 2, 4));
    ours.setIndices(pcl::IndicesPtr(new pcl::Indices));
    CHECK(filtered(ours, cloud, 0, 4).empty());
}

TEST(negative) {
    const auto cloud = cloud_of(clouds::random<float>(300, 9));
    Ours ours(true);
    const auto chosen = filtered(ours, cloud, 100, 5);
    const auto rest = *ours.getRemovedIndices();
    ours.setNegative(true);
    const auto others = filtered(ours, cloud, 100, 5);
    CHECK(others == rest && std::is_sorted(others.begin(), others.end()));
    CHECK(*ours.getRemovedIndices() == sorted(chosen));
}

TEST(points_that_are_not_finite) {
    auto points = clouds::random<float>(400, 10);
    std::set<int> non_finite;
    for (std::size_t i = 0; i < 400; i += 3) {
        points[i][i % 2] =
            i % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
        non_finite.insert(static_cast<int>(i));
    }
    const auto cloud = cloud_of(points);
    cloud->is_dense = false;
    // 266 points are left; whichever is drawn first.
    for (unsigned seed = 0; seed < 20; ++seed) {
        Ours ours(true);
        const auto found = filtered(ours, cloud, 300, seed);
        CHECK(found.size() == 266 && ours.getDropped() == 134 && ours.getRemovedIndices()->size() == 134);
        for (const int row : found) {
            CHECK(non_finite.count(row) == 0);
        }
        ours.setNegative(true);
        CHECK(filtered(ours, cloud, 200, seed).size() == 66 && ours.getRemovedIndices()->size() == 334);
        Cloud others;
        ours.filter(others);
        CHECK(others.size() == 66 && others.is_dense);
    }
    // PCL chooses them.
    Theirs theirs;
    const auto their = filtered(theirs, cloud, 200, 1);
    CHECK(std::any_of(their.begin(), their.end(), [&](int row) { return non_finite.count(row) != 0; }));
    const auto all_bad = cloud_of(clouds::Cloud<float>(5, {NAN, 0.0F, 0.0F}));
    Ours ours;
    CHECK(filtered(ours, all_bad, 3, 1).empty() && ours.getDropped() == 5);
}

TEST(organized_clouds) {
    const auto cloud = cloud_of(clouds::random<float>(600, 11));
    cloud->width = 30;
    cloud->height = 20;
    Ours ours(true);
    const auto indices = filtered(ours, cloud, 150, 6);
    Cloud chosen;
    ours.filter(chosen);
    CHECK(chosen.width == 150 && chosen.height == 1);
    ours.setKeepOrganized(true);
    ours.filter(chosen);
    CHECK(chosen.width == 30 && chosen.height == 20 && !chosen.is_dense);
    const std::set<int> kept(indices.begin(), indices.end());
    for (std::size_t i = 0; i < 600; ++i) {
        CHECK(std::isfinite(chosen[i].x) == (kept.count(static_cast<int>(i)) != 0));
        CHECK(chosen[i].intensity == static_cast<float>(i));
    }
}

TEST(all_points_and_too_many) {
    const auto points = clouds::random<float>(200, 12);
    const auto cloud = cloud_of(points);
    Ours ours;
    const auto all = filtered(ours, cloud, 200, 7);
    // Farthest first; PCL returns them in the order of the input.
    const auto first = static_cast<std::size_t>(all.front());
    CHECK(std::vector<std::size_t>(all.begin(), all.end()) == clouds::reference(points, 200, first));
    Theirs theirs;
    CHECK(filtered(theirs, cloud, 200, 7) == sorted(all));
    for (const std::size_t count : {201UL, static_cast<unsigned long>(std::numeric_limits<int>::max())}) {
        bool thrown = false;
        try {
            filtered(ours, cloud, count, 7);
        } catch (const pcl::BadArgumentException& error) {
            thrown = std::string(error.what()).find("200 points") != std::string::npos;
        }
        CHECK(thrown);
    }
    ours.setNumberOfThreads(1);
    CHECK(ours.getNumberOfThreads() == 1 && filtered(ours, cloud, 200, 7) == all);
}

template <typename PointT>
static void set(pcl::VoxelGrid<PointT>& grid, float x, float y, float z, unsigned least, bool all) {
    grid.setLeafSize(x, y, z);
    grid.setMinimumPointsNumberPerVoxel(least);
    grid.setDownsampleAllData(all);
}

template <typename PointT>
static void set(farpoint::PclVoxelGrid<PointT>& grid, float x, float y, float z, unsigned least, bool all) {
    grid.setLeafSize(x, y, z);
    grid.setMinimumPointsNumberPerVoxel(least);
    grid.setDownsampleAllData(all);
    CHECK(grid.getLeafSize() == Eigen::Vector3f(x, y, z) && grid.getDownsampleAllData() == all);
    CHECK(grid.getMinimumPointsNumberPerVoxel() == least);
}

/// Points around 0, on the faces of voxels and in repeated places, too.
static clouds::Cloud<float> spread(std::size_t count, unsigned seed) {
    auto points = clouds::random<float>(count, seed);
    for (std::size_t i = 0; i < count; ++i) {
        for (float& value : points[i]) {
            value = i % 5 == 0 ? 0.1F * std::floor(100.0F * value - 50.0F) : 10.0F * value - 5.0F;
        }
    }
    return points;
}

/// PCL sums as floats, in an order of its own.
static bool near(float a, float b) { return std::fabs(a - b) <= 1e-5F * std::max(1.0F, std::fabs(b)); }

// The same voxels in the same order: a mean that is off by a point would be off by more.
TEST(the_voxels_of_pcl) {
    const auto cloud = cloud_of(spread(20000, 13));
    for (const auto& [x, y, z] : {std::array<float, 3>{0.1F, 0.1F, 0.1F}, {0.3F, 0.3F, 0.3F}, {1.0F, 0.7F, 0.3F}}) {
        for (const unsigned least : {0U, 1U, 2U, 7U}) {
            for (const bool all : {true, false}) {
                pcl::VoxelGrid<pcl::PointXYZI> theirs;
                farpoint::PclVoxelGrid<pcl::PointXYZI> ours;
                set(theirs, x, y, z, least, all);
                set(ours, x, y, z, least, all);
                theirs.setInputCloud(cloud);
                ours.setInputCloud(cloud);
                Cloud a;
                Cloud b;
                theirs.filter(a);
                ours.filter(b);
                CHECK(a.size() == b.size() && b.height == 1 && b.is_dense && (b.size() > 1000 || least > 1));
                CHECK(x < 1.0F || !b.empty());
                for (std::size_t k = 0; k < a.size(); ++k) {
                    CHECK(near(b[k].x, a[k].x) && near(b[k].y, a[k].y) && near(b[k].z, a[k].z));
                    CHECK(std::fabs(a[k].intensity - b[k].intensity) <= 1e-5F * a[k].intensity);
                    CHECK(all || b[k].intensity == 0.0F);
                }
            }
        }
    }
}

// Mean by definition: in double precision, in the order of the indices.
TEST(means_of_voxels_are_exact) {
    const auto points = spread(3000, 14);
    const auto cloud = cloud_of(points);
    farpoint::PclVoxelGrid<pcl::PointXYZI> ours;
    ours.setLeafSize(Eigen::Vector4f(2.0F, 2.0F, 2.0F, 0.0F));
    ours.setInputCloud(cloud);
    Cloud found;
    ours.filter(found);
    std::map<std::array<int, 3>, std::vector<std::size_t>> voxels;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto cell = [&](std::size_t axis) { return static_cast<int>(std::floor(points[i][axis] * 0.5F)); };
        voxels[{cell(2), cell(1), cell(0)}].push_back(i);
    }
    CHECK(voxels.size() == found.size());
    std::size_t k = 0;
    for (const auto& [cell, rows] : voxels) {
        std::array<double, 3> sum{};
        for (const std::size_t row : rows) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                sum[axis] += static_cast<double>(points[row][axis]);
            }
        }
        const auto count = static_cast<double>(rows.size());
        const auto mean = [&](std::size_t axis) { return static_cast<float>(sum[axis] / count); };
        CHECK(found[k].x == mean(0) && found[k].y == mean(1) && found[k].z == mean(2));
        ++k;
    }
}

TEST(voxels_of_colors_and_labels) {
    const auto points = spread(5000, 15);
    const pcl::PointCloud<pcl::PointXYZRGBL>::Ptr cloud(new pcl::PointCloud<pcl::PointXYZRGBL>);
    for (const auto& [x, y, z] : points) {
        pcl::PointXYZRGBL point;
        point.x = x, point.y = y, point.z = z;
        const auto k = static_cast<unsigned>(cloud->size());
        point.r = static_cast<std::uint8_t>(k * 7), point.g = static_cast<std::uint8_t>(k * 13);
        point.b = static_cast<std::uint8_t>(k / 9), point.label = k % 3;
        cloud->push_back(point);
    }
    pcl::VoxelGrid<pcl::PointXYZRGBL> theirs;
    farpoint::PclVoxelGrid<pcl::PointXYZRGBL> ours;
    set(theirs, 1.0F, 1.0F, 1.0F, 0, true);
    set(ours, 1.0F, 1.0F, 1.0F, 0, true);
    theirs.setInputCloud(cloud);
    ours.setInputCloud(cloud);
    pcl::PointCloud<pcl::PointXYZRGBL> a;
    pcl::PointCloud<pcl::PointXYZRGBL> b;
    theirs.filter(a);
    ours.filter(b);
    CHECK(a.size() == b.size() && a.size() > 500);
    for (std::size_t k = 0; k < a.size(); ++k) {
        CHECK(a[k].rgba == b[k].rgba && a[k].label == b[k].label);
    }
}

TEST(voxels_of_some_points) {
    auto points = spread(4000, 16);
    points[7][1] = NAN;
    points[9][2] = INFINITY;
    const auto cloud = cloud_of(points);
    cloud->is_dense = false;
    cloud->header.frame_id = "lidar";
    const pcl::IndicesPtr indices(new pcl::Indices);
    for (int i = 3999; i >= 0; i -= 3) {
        indices->push_back(i);
    }
    indices->insert(indices->end(), {7, 9});
    pcl::VoxelGrid<pcl::PointXYZI> theirs;
    farpoint::PclVoxelGrid<pcl::PointXYZI> ours;
    set(theirs, 0.5F, 0.5F, 0.5F, 0, true);
    set(ours, 0.5F, 0.5F, 0.5F, 0, true);
    theirs.setInputCloud(cloud);
    ours.setInputCloud(cloud);
    theirs.setIndices(indices);
    ours.setIndices(indices);
    Cloud a;
    Cloud b;
    theirs.filter(a);
    ours.filter(b);
    CHECK(a.size() == b.size() && b.is_dense && b.header.frame_id == "lidar");
    for (std::size_t k = 0; k < a.size(); ++k) {
        CHECK(near(b[k].x, a[k].x) && near(b[k].y, a[k].y) && near(b[k].z, a[k].z));
    }
    // NaN in a cloud that claims to be dense, which PCL reads.
    cloud->is_dense = true;
    ours.filter(a);
    CHECK(a.size() == b.size());
}

TEST(voxels_at_the_limits) {
    // Cells whose numbers PCL has no room for: it returns its input, with a warning.
    const auto points = spread(1000, 17);
    const auto cloud = cloud_of(points);
    farpoint::PclVoxelGrid<pcl::PointXYZI> ours;
    set(ours, 0.001F, 0.001F, 0.001F, 0, true);
    ours.setInputCloud(cloud);
    Cloud found;
    ours.filter(found);
    std::set<std::array<float, 3>> cells;
    for (const auto& [x, y, z] : points) {
        const float inverse = 1.0F / 0.001F;
        cells.insert({std::floor(x * inverse), std::floor(y * inverse), std::floor(z * inverse)});
    }
    CHECK(found.size() == cells.size());
    for (const float leaf : {0.0F, -1.0F, NAN, INFINITY}) {
        ours.setLeafSize(1.0F, leaf, 1.0F);
        bool thrown = false;
        try {
            ours.filter(found);
        } catch (const pcl::BadArgumentException& error) {
            thrown = std::string(error.what()).find("a leaf of") != std::string::npos;
        }
        CHECK(thrown);
    }
    // Beyond 64 bits, and beyond 32 on an axis.
    for (const float leaf : {1e-6F, 1e-12F}) {
        ours.setLeafSize(leaf, leaf, leaf);
        bool thrown = false;
        try {
            ours.filter(found);
        } catch (const pcl::BadArgumentException& error) {
            thrown = std::string(error.what()).find("enlarge the leaf") != std::string::npos;
        }
        CHECK(thrown);
    }
    // One long row of cells: all 32 bits of x, none of y and z.
    ours.setLeafSize(1.0F, 1.0F, 1.0F);
    ours.setInputCloud(cloud_of({{-2147483520.0F, 0.5F, 0.5F}, {2147483520.0F, 0.5F, 0.5F}, {0.5F, 0.5F, 0.5F}}));
    ours.filter(found);
    CHECK(found.size() == 3 && found[0].x < 0.0F && found[1].x == 0.5F && found[2].x > 1.0F);
    ours.setInputCloud(cloud_of({}));
    ours.filter(found);
    CHECK(found.empty() && found.width == 0);
}

int main() { return check::run_all(); }
