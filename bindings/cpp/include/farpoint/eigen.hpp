#ifndef FARPOINT_EIGEN_HPP
#define FARPOINT_EIGEN_HPP

/// Eigen's matrices, maps, blocks and references as clouds, in place:
///
/// @code
/// Eigen::Matrix3Xf cloud = ...;                                // 3 x N: a point is a column
/// Eigen::Matrix<double, Eigen::Dynamic, 3> other = ...;        // N x 3: a point is a row
/// Eigen::MatrixXf any = ...;                                   // ambiguous: call points_in_rows or points_in_columns
/// farpoint::sample(cloud, 512);
/// farpoint::sample(farpoint::points_in_rows(any), 512);
/// std::vector<Eigen::Vector3d> vectors = ...;                  // as in KISS-ICP
/// farpoint::sample(vectors, 512);
/// @endcode

#include <Eigen/Core>
#include <farpoint/points.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace farpoint {
namespace detail {

/// Expressions with direct access to memory: matrices, maps, blocks and references.
template <typename T>
using EigenAccess =
    std::enable_if_t<std::is_base_of_v<Eigen::DenseBase<T>, T> && (int(T::Flags) & int(Eigen::DirectAccessBit)) != 0>;

/// Expressions without memory of their own that could be read in place: sums, products, casts.
template <typename T>
using EigenExpression =
    std::enable_if_t<std::is_base_of_v<Eigen::DenseBase<T>, T> && (int(T::Flags) & int(Eigen::DirectAccessBit)) == 0>;

/// True if a temporary may be passed, as it refers to the memory of something else: maps, blocks, transposes. A
/// reference to constants may own a copy.
template <typename T>
constexpr bool is_view = !std::is_base_of_v<Eigen::PlainObjectBase<T>, T>;
template <typename Plain, int Options, typename Stride>
constexpr bool is_view<Eigen::Ref<const Plain, Options, Stride>> = false;

template <typename>
constexpr bool never = false;

template <typename Matrix>
Points eigen_points(const Matrix& matrix, bool in_columns) {
    using Scalar = std::remove_const_t<typename Matrix::Scalar>;
    const auto size = static_cast<std::ptrdiff_t>(sizeof(Scalar));
    const auto row = static_cast<std::ptrdiff_t>(matrix.rowStride()) * size;
    const auto column = static_cast<std::ptrdiff_t>(matrix.colStride()) * size;
    const auto rows = static_cast<std::size_t>(matrix.rows());
    const auto columns = static_cast<std::size_t>(matrix.cols());
    if (matrix.size() == 0) {
        // Strides of an empty matrix may be 0.
        return Points(matrix.data(), in_columns ? columns : rows, in_columns ? rows : columns);
    }
    return in_columns ? Points::strided(matrix.data(), columns, rows, column, row)
                      : Points::strided(matrix.data(), rows, columns, row, column);
}

/// Points as vectors of fixed size: `std::vector<Eigen::Vector3d>`.
template <typename T, int D, int Options>
struct Row<Eigen::Matrix<T, D, 1, Options, D, 1>> : std::bool_constant<is_scalar<T> && (D > 0)> {
    using Scalar = T;
    static constexpr std::size_t dimensions = static_cast<std::size_t>(D > 0 ? D : 1);
};

}  // namespace detail

/// View of a matrix whose columns are the points: D x N.
template <typename Matrix, typename = detail::EigenAccess<Matrix>>
Points points_in_columns(const Matrix& matrix) {
    return detail::eigen_points(matrix, true);
}
template <typename Matrix, typename = detail::EigenAccess<Matrix>,
          typename = std::enable_if_t<!detail::is_view<Matrix>>>
Points points_in_columns(const Matrix&&) = delete;

/// View of a matrix whose rows are the points: N x D.
template <typename Matrix, typename = detail::EigenAccess<Matrix>>
Points points_in_rows(const Matrix& matrix) {
    return detail::eigen_points(matrix, false);
}
template <typename Matrix, typename = detail::EigenAccess<Matrix>,
          typename = std::enable_if_t<!detail::is_view<Matrix>>>
Points points_in_rows(const Matrix&&) = delete;

/// Layout of matrices with one size fixed at compile time, that of a point: 3 x N or
/// N x 3. For all others use `points_in_columns` or `points_in_rows`.
template <typename Matrix>
struct Layout<Matrix, detail::EigenAccess<Matrix>> {
    static constexpr bool borrowed = detail::is_view<Matrix>;
    static Points view(const Matrix& matrix) {
        constexpr bool rows_known = Matrix::RowsAtCompileTime != Eigen::Dynamic;
        constexpr bool columns_known = Matrix::ColsAtCompileTime != Eigen::Dynamic;
        static_assert(rows_known != columns_known,
                      "the matrix's type does not tell whether its rows or its columns are points: "
                      "say farpoint::points_in_rows(matrix) or farpoint::points_in_columns(matrix)");
        return detail::eigen_points(matrix, rows_known);
    }
};

/// Expressions fail to compile, with the remedy.
template <typename Expression>
struct Layout<Expression, detail::EigenExpression<Expression>> {
    static constexpr bool borrowed = true;
    static Points view(const Expression&) {
        static_assert(detail::never<Expression>,
                      "the expression has no memory to read its points from: evaluate it first, "
                      "const auto matrix = (expression).eval(); then pass matrix");
        return Points(farpoint_points{});
    }
};

}  // namespace farpoint

#endif
