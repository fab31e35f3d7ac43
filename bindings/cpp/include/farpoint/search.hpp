#ifndef FARPOINT_SEARCH_HPP
#define FARPOINT_SEARCH_HPP

/// Several neighbors of each point: k nearest, and balls.

#include <farpoint/nearest.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace farpoint {

/// Which of a ball's neighbors are kept if there are more than `k`, and in which order.
enum class BallOrder : std::int32_t {
    /// Those of lowest index, as in PointNet++.
    by_index = FARPOINT_BY_INDEX,
    by_distance = FARPOINT_BY_DISTANCE,
};

/// Which points are neighbors of a point: those nearer than `radius`.
struct Ball {
    /// In the unit of the coordinates.
    double radius = 0.0;
    BallOrder order = BallOrder::by_index;
    /// Points at the very radius are neighbors, too.
    bool inclusive = false;
    /// Points nearer than this are none, unless they are within `near_radius`.
    double min_radius = 0.0;
    /// Points up to this far away are neighbors whatever `min_radius` is; 0: those at the very place.
    double near_radius = 0.0;
    /// The radii are compared with distances as they are computed: squared with `Norm::l2`.
    bool raw = false;
};

/// For each row of a cloud its neighbors in another: `k()` places per row, filled from the first. Moves,
/// but does not copy.
class NeighborsResult {
public:
    /// Number of rows, those left out among them.
    [[nodiscard]] std::size_t size() const noexcept { return view().rows; }
    /// Places of a row.
    [[nodiscard]] std::size_t k() const noexcept { return view().k; }
    /// Neighbors of each row, at most `k()`.
    [[nodiscard]] Span<std::uint32_t> counts() const noexcept { return {view().counts, size()}; }
    /// `size() * k()` rows of the other cloud; `none` in places without a neighbor.
    [[nodiscard]] Span<std::uint32_t> indices() const noexcept { return {view().indices, size() * k()}; }
    /// The neighbors of a row below `size()`.
    [[nodiscard]] Span<std::uint32_t> of(std::size_t row) const noexcept {
        return {view().indices + row * k(), view().counts[row]};
    }
    /// The distance of each as it is computed: squared with `Norm::l2`; infinite in places without a
    /// neighbor. `T` is that of the clouds.
    template <typename T>
    [[nodiscard]] Span<T> raw_distances() const {
        return detail::of_scalar<T>(view().raw_distances_f32, view().raw_distances_f64, size() * k());
    }
    /// Rows that were left out because they hold NaN or infinity.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// All of it, as the C interface has it; valid as long as the result is.
    [[nodiscard]] farpoint_neighbors_view view() const noexcept {
        return farpoint_neighbors_result_view(result_.get());
    }
    /// The gradients of the coordinates of both clouds from those of the raw distances, `size() * k()` of
    /// them. `x` and `y` are the clouds as they were given to the search.
    ///
    /// @throws Error
    template <typename T>
    [[nodiscard]] GradientsResult backward(const Points& x, const Points& y, Span<T> grad,
                                           const RunOptions& options = {}) const {
        detail::Run run(options);
        const void* numbers = detail::gradients_of(grad, size() * k(), x);
        farpoint_gradients_result* result = nullptr;
        run.finish(farpoint_search_backward(result_.get(), x.c(), y.c(), numbers, run.c(), &result));
        return GradientsResult(result);
    }

    /// Takes over a result of the C interface, which it frees.
    explicit NeighborsResult(farpoint_neighbors_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_neighbors_result, farpoint_neighbors_result_free> result_;
};

/// For each row of a cloud all its neighbors in a ball. Moves, but does not copy.
class WithinResult {
public:
    /// Number of rows, those left out among them.
    [[nodiscard]] std::size_t size() const noexcept { return view().rows; }
    /// Where the neighbors of each row begin, and the end of the last: `size() + 1` numbers.
    [[nodiscard]] Span<std::size_t> offsets() const noexcept { return {view().offsets, size() + 1}; }
    /// The neighbors of all rows, one row after another, as rows of the other cloud.
    [[nodiscard]] Span<std::uint32_t> indices() const noexcept { return {view().indices, view().count}; }
    /// The neighbors of a row below `size()`.
    [[nodiscard]] Span<std::uint32_t> of(std::size_t row) const noexcept {
        const std::size_t* begin = view().offsets + row;
        return {view().indices + begin[0], begin[1] - begin[0]};
    }
    /// The distance of each as it is computed: squared with `Norm::l2`. `T` is that of the clouds.
    template <typename T>
    [[nodiscard]] Span<T> raw_distances() const {
        return detail::of_scalar<T>(view().raw_distances_f32, view().raw_distances_f64, view().count);
    }
    /// Rows that were left out because they hold NaN or infinity.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// All of it, as the C interface has it; valid as long as the result is.
    [[nodiscard]] farpoint_within_view view() const noexcept { return farpoint_within_result_view(result_.get()); }

    /// Takes over a result of the C interface, which it frees.
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
    run.finish(farpoint_search(x.c(), y.c(), &c, &result));
    return NeighborsResult(result);
}

}  // namespace detail

/// For each point of `x` its `k` nearest of `y`, in order of distance, equally near ones in order of index.
///
/// @throws Error
inline NeighborsResult knn(const Points& x, const Points& y, std::size_t k, const SearchOptions& options = {}) {
    detail::Run run(options);
    return detail::search(x, y, detail::search_options(k, options, run), run);
}

/// For each point of `x` the points of `y` in a ball, at most `k`.
///
/// @throws Error
inline NeighborsResult ball_query(const Points& x, const Points& y, const Ball& ball, std::size_t k,
                                  const SearchOptions& options = {}) {
    detail::Run run(options);
    auto c = detail::search_options(k, options, run);
    detail::set_ball(c, ball);
    return detail::search(x, y, c, run);
}

/// For each point of `x` all points of `y` in a ball, however many there are.
///
/// @throws Error
inline WithinResult within(const Points& x, const Points& y, const Ball& ball, const SearchOptions& options = {}) {
    detail::Run run(options);
    auto c = detail::search_options(0, options, run);
    detail::set_ball(c, ball);
    farpoint_within_result* result = nullptr;
    run.finish(farpoint_within(x.c(), y.c(), &c, &result));
    return WithinResult(result);
}

}  // namespace farpoint

#endif
