// Eigen: matrices of either orientation, maps, and vectors of points, all in place.
#include <farpoint.hpp>
#include <farpoint/eigen.hpp>

#include <Eigen/Core>
#include <cstdio>
#include <vector>

int main() {
    // 3 x N, a point is a column.
    const Eigen::Matrix3Xf cloud = Eigen::Matrix3Xf::Random(3, 20000);
    const farpoint::SampleResult sample = farpoint::sample(cloud, 512);
    std::printf("512 of %td points: every point is within %.3f of one\n", cloud.cols(), sample.covering_radius());

    // The chosen points as a matrix.
    Eigen::Matrix3Xf chosen(3, static_cast<Eigen::Index>(sample.size()));
    for (std::size_t i = 0; i < sample.size(); ++i) {
        chosen.col(static_cast<Eigen::Index>(i)) = cloud.col(static_cast<Eigen::Index>(sample.indices()[i]));
    }

    // N x 3 and double: the compiler knows by the type. Of a dynamic matrix, say it.
    const Eigen::Matrix<double, Eigen::Dynamic, 3> rows = cloud.transpose().cast<double>();
    const Eigen::MatrixXd dynamic = rows;
    const farpoint::SampleResult same = farpoint::sample(rows, 512);
    const farpoint::SampleResult from_dynamic = farpoint::sample(farpoint::points_in_rows(dynamic), 512);

    // Points with something in between: a map with strides, here every second point.
    const Eigen::Map<const Eigen::Matrix3Xf, 0, Eigen::OuterStride<>> half(cloud.data(), 3, cloud.cols() / 2,
                                                                           Eigen::OuterStride<>(6));
    std::printf("of every second point: within %.3f\n", farpoint::sample(half, 512).covering_radius());

    // As odometry programs keep their points.
    std::vector<Eigen::Vector3d> points;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        points.emplace_back(rows.row(i));
    }
    const farpoint::SampleResult vectors = farpoint::sample(points, 512);
    for (std::size_t i = 0; i < 512; ++i) {
        if (same.indices()[i] != from_dynamic.indices()[i] || same.indices()[i] != vectors.indices()[i]) {
            return 1;
        }
    }
    std::printf("the same samples from a matrix, a dynamic matrix and a vector of points\n");
    return 0;
}
