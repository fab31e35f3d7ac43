#ifndef FARPOINT_SEARCH_HPP
#define FARPOINT_SEARCH_HPP

/// Neighbor searches: k nearest neighbors, and balls.

#include <farpoint/nearest.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace farpoint {

/// Order of a ball's neighbors, of which the first `k` are kept.
enum class BallOrder : std::int32_t {
    /// By index, as in PointNet++.
    by_index = FARPOINT_BY_INDEX,
    by_distance = FARPOINT_BY_DISTANCE,
};

/// Ball around a point: points nearer than `radius` are neighbors.
struct Ball {
    /// Radius in the unit of the coordinates.
    double radius = 0.0;
    BallOrder order = BallOrder::by_index;
    /// Include points exactly at the radius.
    bool inclusive = false;
    /// Points nearer than this are excluded, unless they are within `near_radius`.
    double min_radius = 0.0;
    /// Points within this distance are neighbors regardless of `min_radius`; 0: coincident points.
    double near_radius = 0.0;
    /// Compare the radii with raw distances: squared with `Norm::l2`.
    bool raw = false;
};

/// Neighbors in another cloud for each row of a cloud, padded to `k()` per row at the end.
/// Move-only.
class NeighborsResult {
public:
    /// Number of rows, including skipped ones.
    [[nodiscard]] std::size_t size() const noexcept { return view().rows; }
    /// Number of entries per row.
    [[nodiscard]] std::size_t k() const noexcept { return view().k; }
    /// Number of neighbors of each row, at most `k()`.
    [[nodiscard]] Span<std::uint32_t> counts() const noexcept { return {view().counts, size()}; }
    /// `size() * k()` rows of the other cloud; `none` for missing neighbors.
    [[nodiscard]] Span<std::uint32_t> indices() const noexcept { return {view().indices, size() * k()}; }
    /// Neighbors of a row below `size()`.
    [[nodiscard]] Span<std::uint32_t> of(std::size_t row) const noexcept {
        return {view().indices + row * k(), view().counts[row]};
    }
    /// Raw distance of each neighbor: squared with `Norm::l2`; infinite for missing
    /// neighbors. `T` is the scalar type of the clouds.
    template <typename T>
    [[nodiscard]] Span<T> raw_distances() const {
        return detail::of_scalar<T>(view().raw_distances_f32, view().raw_distances_f64, size() * k());
    }
    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_neighbors_view view() const noexcept {
        return farpoint_neighbors_result_view(result_.get());
    }
    /// Computes the gradients of the coordinates of both clouds from those of the `size() * k()` raw distances.
    /// `x` and `y` are the clouds passed to the search.
    ///
    /// @throws Error
    template <typename T>
    [[nodiscard]] GradientsResult backward(const Points& x, const Points& y, Span<T> grad,
                                           const MeasureOptions& options = {}) const {
        detail::Run run(options);
        const void* numbers = detail::gradients_of(grad, size() * k(), x);
        farpoint_gradients_result* result = nullptr;
        const farpoint_status status = farpoint_search_backward(result_.get(), x.c(), y.c(), numbers, run.c(), &result);
        return run.finish(status, GradientsResult(result));
    }

    /// Takes ownership of a result of the C interface.
    explicit NeighborsResult(farpoint_neighbors_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_neighbors_result, farpoint_neighbors_result_free> result_;
};

/// All neighbors in a ball for each row of a cloud. Move-only.
class WithinResult {
public:
    /// Number of rows, including skipped ones.
    [[nodiscard]] std::size_t size() const noexcept { return view().rows; }
    /// Offsets of the neighbors of each row: `size() + 1` numbers.
    [[nodiscard]] Span<std::size_t> offsets() const noexcept { return {view().offsets, size() + 1}; }
    /// Neighbors of all rows, concatenated, as rows of the other cloud.
    [[nodiscard]] Span<std::uint32_t> indices() const noexcept { return {view().indices, view().count}; }
    /// Neighbors of a row below `size()`.
    [[nodiscard]] Span<std::uint32_t> of(std::size_t row) const noexcept {
        const std::size_t* begin = view().offsets + row;
        return {view().indices + begin[0], begin[1] - begin[0]};
    }
    /// Raw distance of each neighbor: squared with `Norm::l2`. `T` is the scalar type of the clouds.
    template <typename T>
    [[nodiscard]] Span<T> raw_distances() const {
        return detail::of_scalar<T>(view().raw_distances_f32, view().raw_distances_f64, view().count);
    }
    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_within_view view() const noexcept { return farpoint_within_result_view(result_.get()); }

    /// Takes ownership of a result of the C interface.
    explicit WithinResult(farpoint_within_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_within_result, farpoint_within_result_free> result_;
};

namespace detail {

inline farpoint_search_options search_options(std::size_t k, const SearchOptions& options, const Run& run) noexcept {
    auto c = sized<farpoint_search_options>();
    c.run = run.c();
    c.k = k;
    c.norm = static_cast<std::int32_t>(options.norm);
    c.method = static_cast<farpoint_search_method>(options.method);
    c.exclude_self = options.exclude_self;
    return c;
}

inline void set_ball(farpoint_search_options& c, const Ball& ball) noexcept {
    c.kind = ball.raw ? FARPOINT_RAW_BALL : FARPOINT_BALL;
    c.order = static_cast<farpoint_ball_order>(ball.order);
    c.inclusive = ball.inclusive;
    c.radius = ball.radius;
    c.min_radius = ball.min_radius;
    c.near_radius = ball.near_radius;
}

inline NeighborsResult search(const Points& x, const Points& y, const farpoint_search_options& c, const Run& run) {
    farpoint_neighbors_result* result = nullptr;
    const farpoint_status status = farpoint_search(x.c(), y.c(), &c, &result);
    return run.finish(status, NeighborsResult(result));
}

}  // namespace detail

/// Finds the `k` nearest points of `y` for each point of `x`, in order of distance, ties by index.
///
/// @throws Error
inline NeighborsResult knn(const Points& x, const Points& y, std::size_t k, const SearchOptions& options = {}) {
    detail::Run run(options);
    return detail::search(x, y, detail::search_options(k, options, run), run);
}

/// Finds at most `k` points of `y` in a ball around each point of `x`.
///
/// @throws Error
inline NeighborsResult ball_query(const Points& x, const Points& y, const Ball& ball, std::size_t k,
                                  const SearchOptions& options = {}) {
    detail::Run run(options);
    auto c = detail::search_options(k, options, run);
    detail::set_ball(c, ball);
    return detail::search(x, y, c, run);
}

/// Finds all points of `y` in a ball around each point of `x`.
///
/// @throws Error
inline WithinResult within(const Points& x, const Points& y, const Ball& ball, const SearchOptions& options = {}) {
    detail::Run run(options);
    auto c = detail::search_options(0, options, run);
    detail::set_ball(c, ball);
    farpoint_within_result* result = nullptr;
    const farpoint_status status = farpoint_within(x.c(), y.c(), &c, &result);
    return run.finish(status, WithinResult(result));
}

}  // namespace farpoint

#endif
