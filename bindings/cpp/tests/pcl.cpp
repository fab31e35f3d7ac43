// PclFarthestPointSampling beside pcl::FarthestPointSampling.
#include "check.hpp"
#include "clouds.hpp"

#include <farpoint.hpp>
#include <farpoint/pcl.hpp>

#include <pcl/filters/farthest_point_sampling.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
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
        CHECK(ours.getSample() == 500 && ours.getSeed() == seed && ours.getLeftOut() == 0);
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
        CHECK(found.size() == 266 && ours.getLeftOut() == 134 && ours.getRemovedIndices()->size() == 134);
        for (const int row : found) {
            CHECK(non_finite.count(row) == 0);
        }
        ours.setNegative(true);
        CHECK(filtered(ours, cloud, 200, seed).size() == 66 && ours.getRemovedIndices()->size() == 334);
    }
    // PCL chooses them.
    Theirs theirs;
    const auto their = filtered(theirs, cloud, 200, 1);
    CHECK(std::any_of(their.begin(), their.end(), [&](int row) { return non_finite.count(row) != 0; }));
    const auto all_bad = cloud_of(clouds::Cloud<float>(5, {NAN, 0.0F, 0.0F}));
    Ours ours;
    CHECK(filtered(ours, all_bad, 3, 1).empty() && ours.getLeftOut() == 5);
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

int main() { return check::run_all(); }
