#ifndef FARPOINT_POINTS_HPP
#define FARPOINT_POINTS_HPP

/// Views of clouds: `Points` refers to coordinates in any layout, without copying.

#include <farpoint/error.hpp>
#include <farpoint/farpoint.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#if defined(__cplusplus) && __cplusplus >= 202002L
#include <ranges>
#endif

namespace farpoint {

class Points;

/// Customization point for viewing a cloud type. Specialize it for your own type, and every function accepts it:
///
/// @code
/// template <>
/// struct farpoint::Layout<MyCloud> {
///     static Points view(const MyCloud& cloud) { return Points(cloud.xyz(), cloud.size()); }
/// };
/// @endcode
///
/// With `static constexpr bool borrowed = true;` temporaries are accepted, too: for types that do not
/// own their points. `farpoint/eigen.hpp` and `farpoint/pcl.hpp` specialize it for their types.
template <typename Cloud, typename = void>
struct Layout;

namespace detail {

template <typename T>
constexpr bool is_scalar = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <typename T>
constexpr farpoint_scalar scalar_of() {
    static_assert(is_scalar<T>, "coordinates are float or double");
    return std::is_same_v<T, double> ? FARPOINT_FLOAT64 : FARPOINT_FLOAT32;
}

template <typename Cloud, typename = void>
constexpr bool has_layout = false;
template <typename Cloud>
constexpr bool has_layout<Cloud, std::void_t<decltype(Layout<Cloud>::view(std::declval<const Cloud&>()))>> = true;

template <typename Cloud, typename = void>
constexpr bool is_borrowed = false;
template <typename Cloud>
constexpr bool is_borrowed<Cloud, std::void_t<decltype(Layout<Cloud>::borrowed)>> = Layout<Cloud>::borrowed;

/// Returns the distance in bytes from one address to another.
template <typename A, typename B>
std::ptrdiff_t bytes_between(const A* from, const B* to) {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from));
}

}  // namespace detail

/// Non-owning view of a cloud of `size()` points with `dimensions()` coordinates each, `float` or `double`.
/// The memory must not change while a call reads it.
///
/// Every function that takes a cloud accepts types convertible to `Points`: a `std::vector` (or any other
/// contiguous range) of `std::array<T, D>` or `T[D]`, an Eigen matrix with `farpoint/eigen.hpp`, a
/// `pcl::PointCloud` with `farpoint/pcl.hpp`, and your own types (see `Layout`). Temporaries that
/// own their points are rejected by the compiler.
class Points {
public:
    /// Views `count` contiguous points of `dimensions` coordinates: `data[i * dimensions + axis]`.
    template <typename T>
    Points(const T* data, std::size_t count, std::size_t dimensions = 3)
        : points_(farpoint_dense(data, count, dimensions, detail::scalar_of<T>())) {}

    /// Views strided points: coordinate `axis` of point `i` is at `data` plus `i * point_stride + axis * axis_stride`
    /// **bytes**. Strides may be negative, and coordinates need not be aligned.
    template <typename T>
    static Points strided(const T* data, std::size_t count, std::size_t dimensions, std::ptrdiff_t point_stride,
                          std::ptrdiff_t axis_stride = static_cast<std::ptrdiff_t>(sizeof(T))) {
        return strided(data, detail::scalar_of<T>(), count, dimensions, point_stride, axis_stride);
    }

    /// Views strided points in raw bytes; `scalar` is FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
    static Points strided(const void* data, farpoint_scalar scalar, std::size_t count, std::size_t dimensions,
                          std::ptrdiff_t point_stride, std::ptrdiff_t axis_stride) {
        farpoint_points points = farpoint_dense(data, count, dimensions, scalar);
        points.point_stride = point_stride;
        points.axis_stride = axis_stride;
        return Points(points);
    }

    /// Views points by the addresses of x, y and z of point 0, and the **bytes** from each point to the next: separate
    /// arrays, or members of a struct.
    template <typename T>
    static Points axes(const T* x, const T* y, const T* z, std::size_t count,
                       std::ptrdiff_t point_stride = static_cast<std::ptrdiff_t>(sizeof(T))) {
        return axes(x, detail::scalar_of<T>(), count, point_stride,
                    {0, detail::bytes_between(x, y), detail::bytes_between(x, z)});
    }

    /// Views points in raw bytes, by the offsets of x, y and z from the point.
    static Points axes(const void* data, farpoint_scalar scalar, std::size_t count, std::ptrdiff_t point_stride,
                       std::array<std::ptrdiff_t, 3> offsets) {
        farpoint_points points = farpoint_dense(data, count, 3, scalar);
        points.point_stride = point_stride;
        Points view(points);
        view.offsets_ = offsets;
        view.has_offsets_ = true;
        return view;
    }

    /// Views a contiguous range of structs by the first of `dimensions` consecutive coordinates:
    /// `Points(cloud, &MyPoint::x)`.
    ///
    /// @throws Error if the coordinates extend beyond the struct
    template <typename Range, typename Struct, typename T,
              typename = std::enable_if_t<detail::is_scalar<T> && !std::is_rvalue_reference_v<Range&&>>>
    Points(Range&& structs, T Struct::*first, std::size_t dimensions = 3)
        : Points(of_structs(structs, first, dimensions)) {}
    template <typename Range, typename Struct, typename T>
    Points(const Range&&, T Struct::*, std::size_t = 3) = delete;

    /// Views a contiguous range of structs by its three coordinates, in any order and position.
    template <typename Range, typename Struct, typename T,
              typename = std::enable_if_t<detail::is_scalar<T> && !std::is_rvalue_reference_v<Range&&>>>
    Points(Range&& structs, T Struct::*x, T Struct::*y, T Struct::*z) : Points(of_members(structs, x, y, z)) {}
    template <typename Range, typename Struct, typename T>
    Points(const Range&&, T Struct::*, T Struct::*, T Struct::*) = delete;

    /// Views any cloud with a `Layout`.
    template <typename Cloud, typename = std::enable_if_t<detail::has_layout<Cloud>>>
    Points(const Cloud& cloud) : Points(Layout<Cloud>::view(cloud)) {}
    /// Deleted for temporaries, which would be destroyed before they are read.
    template <typename Cloud, typename = std::enable_if_t<detail::has_layout<std::remove_const_t<Cloud>> &&
                                                          !detail::is_borrowed<std::remove_const_t<Cloud>> &&
                                                          !std::is_reference_v<Cloud>>>
    Points(Cloud&&) = delete;

    /// Wraps a description of the C interface.
    explicit Points(const farpoint_points& points) noexcept : points_(points) {}

    /// Returns a view of coordinates in non-native byte order.
    [[nodiscard]] Points byte_swapped() const noexcept {
        Points view = *this;
        view.points_.flags ^= FARPOINT_BYTE_SWAPPED;
        return view;
    }

    /// Returns a view for which the library checks that all coordinates lie within this buffer.
    [[nodiscard]] Points inside(const void* buffer, std::size_t bytes) const noexcept {
        Points view = *this;
        view.points_.buffer = buffer;
        view.points_.buffer_size = bytes;
        return view;
    }

    /// Number of points.
    [[nodiscard]] std::size_t size() const noexcept { return points_.count; }
    [[nodiscard]] std::size_t dimensions() const noexcept { return points_.dimensions; }
    /// Returns whether coordinates are `double`.
    [[nodiscard]] bool is_double() const noexcept { return points_.scalar == FARPOINT_FLOAT64; }

    /// Description for the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_points c() const& noexcept {
        farpoint_points points = points_;
        points.axis_offsets = has_offsets_ ? offsets_.data() : points.axis_offsets;
        return points;
    }
    farpoint_points c() const&& = delete;

private:
    template <typename Range, typename Struct, typename T>
    static Points of_structs(const Range& structs, T Struct::*first, std::size_t dimensions) {
        const auto* data = std::data(structs);
        const std::size_t count = std::size(structs);
        const auto stride = static_cast<std::ptrdiff_t>(sizeof(*data));
        if (count == 0) {
            return strided(static_cast<const T*>(nullptr), 0, dimensions, stride);
        }
        const T* begin = &(data->*first);
        const auto offset = static_cast<std::size_t>(detail::bytes_between(data, begin));
        if ((sizeof(*data) - offset) / sizeof(T) < dimensions) {
            detail::invalid("a struct of " + std::to_string(sizeof(*data)) + " bytes has no room for " +
                            std::to_string(dimensions) + " coordinates from byte " + std::to_string(offset) + " on");
        }
        return strided(begin, count, dimensions, stride);
    }

    template <typename Range, typename Struct, typename T>
    static Points of_members(const Range& structs, T Struct::*x, T Struct::*y, T Struct::*z) {
        const auto* data = std::data(structs);
        const std::size_t count = std::size(structs);
        const auto stride = static_cast<std::ptrdiff_t>(sizeof(*data));
        if (count == 0) {
            return strided(static_cast<const T*>(nullptr), 0, 3, stride);
        }
        return axes(&(data->*x), &(data->*y), &(data->*z), count, stride);
    }

    farpoint_points points_;
    std::array<std::ptrdiff_t, 3> offsets_{};
    bool has_offsets_ = false;
};

namespace detail {

/// Scalar type and dimensions of an element such as `std::array<float, 3>` or `float[3]`.
template <typename Element>
struct Row : std::false_type {};
template <typename T, std::size_t D>
struct Row<std::array<T, D>> : std::bool_constant<is_scalar<T>> {
    using Scalar = T;
    static constexpr std::size_t dimensions = D;
};
template <typename T, std::size_t D>
struct Row<T[D]> : std::bool_constant<is_scalar<std::remove_const_t<T>>> {
    using Scalar = std::remove_const_t<T>;
    static constexpr std::size_t dimensions = D;
};

template <typename Range>
using Element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const Range&>()))>>;

template <typename Range, typename = void>
constexpr bool is_range_of_rows = false;
template <typename Range>
constexpr bool is_range_of_rows<Range, std::void_t<Element<Range>, decltype(std::size(std::declval<const Range&>()))>> =
    Row<Element<Range>>::value;

}  // namespace detail

/// Layout of contiguous ranges of arrays: `std::vector<std::array<float, 3>>`, `double[100][2]`, `std::span`.
template <typename Range>
struct Layout<Range, std::enable_if_t<detail::is_range_of_rows<Range>>> {
#if defined(__cpp_lib_ranges)
    static constexpr bool borrowed = std::ranges::borrowed_range<Range>;
#endif
    static Points view(const Range& range) {
        using Row = detail::Row<detail::Element<Range>>;
        static_assert(sizeof(detail::Element<Range>) == Row::dimensions * sizeof(typename Row::Scalar));
        const void* data = std::data(range);
        return Points(static_cast<const typename Row::Scalar*>(data), std::size(range), Row::dimensions);
    }
};

}  // namespace farpoint

#endif
