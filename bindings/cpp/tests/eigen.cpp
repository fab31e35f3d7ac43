// Eigen's matrices in place, in every orientation and storage order.
#include "check.hpp"
#include "clouds.hpp"

#include <farpoint.hpp>
#include <farpoint/eigen.hpp>

#include <Eigen/Core>
#include <type_traits>
#include <utility>

using farpoint::Points;
using farpoint::sample;

template <typename T>
constexpr bool is_taken = std::is_constructible_v<Points, T>;
static_assert(is_taken<Eigen::Matrix3Xf&> && is_taken<const Eigen::Matrix<double, Eigen::Dynamic, 3>&>);
static_assert(!is_taken<Eigen::Matrix3Xf> && !is_taken<const Eigen::Matrix3Xf>);
static_assert(is_taken<Eigen::Map<Eigen::Matrix3Xf>> && is_taken<Eigen::Map<const Eigen::Matrix3Xd>>);
// A block refers to the memory of its matrix; a reference to constants may be a copy. Expressions without memory fail
// by a static assertion (CMakeLists.txt); whole numbers are no coordinates.
static_assert(is_taken<decltype(std::declval<const Eigen::Matrix4Xf&>().topRows<3>())>);
static_assert(is_taken<decltype(std::declval<Eigen::Matrix4Xf&>().transpose())>);
static_assert(!is_taken<Eigen::Ref<const Eigen::Matrix3Xf>> && is_taken<const Eigen::Ref<const Eigen::Matrix3Xf>&>);
static_assert(is_taken<Eigen::Ref<Eigen::Matrix3Xf>>);

template <typename T>
static Eigen::Matrix<T, 3, Eigen::Dynamic> columns_of(const clouds::Cloud<T>& cloud) {
    Eigen::Matrix<T, 3, Eigen::Dynamic> matrix(3, static_cast<Eigen::Index>(cloud.size()));
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            matrix(static_cast<Eigen::Index>(axis), static_cast<Eigen::Index>(i)) = cloud[i][axis];
        }
    }
    return matrix;
}

template <typename T>
static void orientations() {
    constexpr int any = Eigen::Dynamic;
    const auto cloud = clouds::lattice<T>(500, 1);
    const auto expected = clouds::reference(cloud, 200);
    const Eigen::Matrix<T, 3, any> columns = columns_of(cloud);
    const Eigen::Matrix<T, 3, any, Eigen::RowMajor> columns_by_row = columns;
    const Eigen::Matrix<T, any, 3> rows = columns.transpose();
    const Eigen::Matrix<T, any, 3, Eigen::RowMajor> rows_by_row = rows;
    CHECK(clouds::equal(sample(columns, 200).indices(), expected));
    CHECK(clouds::equal(sample(columns_by_row, 200).indices(), expected));
    CHECK(clouds::equal(sample(rows, 200).indices(), expected));
    CHECK(clouds::equal(sample(rows_by_row, 200).indices(), expected));

    const Eigen::Matrix<T, any, any> dynamic = rows;
    CHECK(clouds::equal(sample(farpoint::points_in_rows(dynamic), 200).indices(), expected));
    CHECK(clouds::equal(sample(farpoint::points_in_columns(columns), 200).indices(), expected));
    CHECK(farpoint::points_in_columns(dynamic).dimensions() == 500);

    // Blocks, references and transposed views of it.
    Eigen::Matrix<T, any, any> wide = Eigen::Matrix<T, any, any>::Constant(500, 7, T(99));
    wide.middleCols(2, 3) = rows;
    const auto block = wide.template middleCols<3>(2);
    CHECK(clouds::equal(sample(block, 200).indices(), expected));
    const Eigen::Ref<const Eigen::Matrix<T, any, any>> reference(wide);
    const auto part = reference.middleCols(2, 3);
    CHECK(clouds::equal(sample(farpoint::points_in_rows(part), 200).indices(), expected));
    CHECK(clouds::equal(sample(Eigen::Map<const Eigen::Matrix<T, 3, any>>(columns.data(), 3, 500), 200).indices(),
                        expected));
    // Temporaries of them.
    CHECK(clouds::equal(sample(wide.template middleCols<3>(2), 200).indices(), expected));
    CHECK(clouds::equal(sample(wide.transpose().template middleRows<3>(2), 200).indices(), expected));
    CHECK(clouds::equal(sample(rows.transpose(), 200).indices(), expected));
    CHECK(clouds::equal(sample(farpoint::points_in_rows(wide.middleCols(2, 3)), 200).indices(), expected));
    const auto columns_of_wide = farpoint::points_in_columns(wide.middleCols(2, 3).transpose());
    CHECK(clouds::equal(sample(columns_of_wide, 200).indices(), expected));
    const Points kept = rows_by_row.topRows(300);
    const clouds::Cloud<T> top(cloud.begin(), cloud.begin() + 300);
    CHECK(clouds::equal(sample(kept, 100).indices(), clouds::reference(top, 100)));

    const auto flipped = columns.rowwise().reverse().eval();
    const auto back = Points::strided(flipped.data() + 3 * 499, 500, 3, -3 * static_cast<std::ptrdiff_t>(sizeof(T)));
    CHECK(clouds::equal(sample(back, 200).indices(), expected));
}

TEST(orientations_of_float) { orientations<float>(); }
TEST(orientations_of_double) { orientations<double>(); }

TEST(vectors_of_points) {
    const auto cloud = clouds::random<double>(400, 2);
    std::vector<Eigen::Vector3d> three;
    std::vector<Eigen::Vector4d, Eigen::aligned_allocator<Eigen::Vector4d>> four;
    for (const auto& [x, y, z] : cloud) {
        three.emplace_back(x, y, z);
        four.emplace_back(x, y, z, 1.0);
    }
    const auto expected = clouds::reference(cloud, 150);
    CHECK(clouds::equal(sample(three, 150).indices(), expected));
    // The fourth, which is 1, adds nothing to a distance.
    CHECK(clouds::equal(sample(four, 150).indices(), expected));
}

TEST(empty_and_single) {
    const Eigen::Matrix3Xf none(3, 0);
    const Eigen::Matrix<float, Eigen::Dynamic, 3> no_rows(0, 3);
    CHECK(sample(none, farpoint::ratio(1.0)).size() == 0 && sample(no_rows, farpoint::ratio(1.0)).size() == 0);
    CHECK_THROWS(invalid_argument, "", sample(none, 1));
    const Eigen::Matrix<float, Eigen::Dynamic, 3> one = Eigen::RowVector3f(1, 2, 3);
    CHECK(sample(one, 1).indices()[0] == 0);
}

int main() { return check::run_all(); }
