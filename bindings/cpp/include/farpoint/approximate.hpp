#ifndef FARPOINT_APPROXIMATE_HPP
#define FARPOINT_APPROXIMATE_HPP

/// Approximate samplers, for comparison and for speed: what they choose is not the farthest point sample.

#include <farpoint/sample.hpp>

#include <cstddef>
#include <cstdint>
#include <variant>

namespace farpoint {

/// Points drawn without replacement, all equally likely.
struct Random {
    std::uint64_t seed = 0;
};

/// Which point of a cell is kept.
enum class Keep : std::int32_t {
    center = FARPOINT_KEEP_CENTER,
    first = FARPOINT_KEEP_FIRST,
    random = FARPOINT_KEEP_RANDOM,
};

/// One point of each occupied cell of a cubic grid.
struct Grid {
    Keep keep = Keep::center;
    /// For `Keep::random`.
    std::uint64_t seed = 0;
};

/// Points at even steps along a Morton curve.
struct Morton {
    /// Bits per axis, 1 to 21; 0: 10.
    std::size_t bits = 0;
};

/// In which order the windows of `Npdu` lie.
enum class WindowOrder : std::int32_t {
    /// That of the input: good for scans as they are recorded.
    input = FARPOINT_WINDOW_INPUT,
    morton = FARPOINT_WINDOW_MORTON,
    /// None: a window is the nearest neighbors in space.
    neighbors = FARPOINT_WINDOW_NEIGHBORS,
};

/// Farthest point sampling that updates a window around each sample only.
struct Npdu {
    WindowOrder order = WindowOrder::input;
    /// Points of a window; 0: 16 times the points per sample.
    std::size_t window = 0;
};

/// How `FastPoint` predicts.
enum class Estimator : std::int32_t { network = FARPOINT_ESTIMATOR_NETWORK, fit = FARPOINT_ESTIMATOR_FIT };

/// FastPoint, which predicts the distances of later samples from the first.
struct FastPoint {
    Estimator estimator = Estimator::network;
};

using ApproximateMethod = std::variant<Random, Grid, Morton, Npdu, FastPoint>;

/// What an approximate sampler chose. Moves, but does not copy.
class ApproximateResult {
public:
    [[nodiscard]] std::size_t size() const noexcept { return view().count; }
    /// Rows of the cloud, all different: in order of choice, along the curve (`Morton`), or rising (`Grid`).
    [[nodiscard]] Span<std::size_t> indices() const noexcept { return {view().indices, size()}; }
    /// Rows that were left out because they hold NaN or infinity.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// The size of a cell of `Grid`; NaN for other methods.
    [[nodiscard]] double cell() const noexcept { return view().cell; }
    /// The largest distance of a point to its nearest sample where the method knows it (`FastPoint`), else
    /// NaN: the function `covering_radius` finds it for all.
    [[nodiscard]] double covering_radius() const noexcept { return view().covering_radius; }
    /// All of it, as the C interface has it; valid as long as the sample is.
    [[nodiscard]] farpoint_approximate_view view() const noexcept {
        return farpoint_approximate_result_view(result_.get());
    }

    /// Takes over a result of the C interface, which it frees.
    explicit ApproximateResult(farpoint_approximate_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_approximate_result, farpoint_approximate_result_free> result_;
};

/// Means of the points of each occupied cell of a grid. Moves, but does not copy.
class CentroidsResult {
public:
    [[nodiscard]] std::size_t size() const noexcept { return view().count; }
    /// `size()` times the cloud's dimensions, without gaps. `T` is that of the cloud.
    template <typename T>
    [[nodiscard]] Span<T> coordinates() const {
        return detail::of_scalar<T>(view().coordinates_f32, view().coordinates_f64, size() * dimensions_);
    }
    /// How many points each is the mean of.
    [[nodiscard]] Span<std::uint32_t> point_counts() const noexcept { return {view().point_counts, size()}; }
    /// The size of a cell.
    [[nodiscard]] double cell() const noexcept { return view().cell; }
    /// Rows that were left out because they hold NaN or infinity.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// All of it, as the C interface has it; valid as long as the centroids are.
    [[nodiscard]] farpoint_centroids_view view() const noexcept {
        return farpoint_centroids_result_view(result_.get());
    }

    /// Takes over a result of the C interface, which it frees.
    CentroidsResult(farpoint_centroids_result* result, std::size_t dimensions) noexcept
        : result_(result), dimensions_(dimensions) {}

private:
    detail::Handle<farpoint_centroids_result, farpoint_centroids_result_free> result_;
    std::size_t dimensions_;
};

namespace detail {

inline void set_method(farpoint_approximate_options& c, const Random& method) noexcept {
    c.method = FARPOINT_METHOD_RANDOM;
    c.method_seed = method.seed;
}
inline void set_method(farpoint_approximate_options& c, const Grid& method) noexcept {
    c.method = FARPOINT_METHOD_GRID;
    c.keep = static_cast<farpoint_keep>(method.keep);
    c.method_seed = method.seed;
}
inline void set_method(farpoint_approximate_options& c, const Morton& method) noexcept {
    c.method = FARPOINT_METHOD_MORTON;
    c.bits = method.bits;
}
inline void set_method(farpoint_approximate_options& c, const Npdu& method) noexcept {
    c.method = FARPOINT_METHOD_NPDU;
    c.window_order = static_cast<farpoint_window_order>(method.order);
    c.window = method.window;
}
inline void set_method(farpoint_approximate_options& c, const FastPoint& method) noexcept {
    c.method = FARPOINT_METHOD_FASTPOINT;
    c.estimator = static_cast<farpoint_estimator>(method.estimator);
}

inline farpoint_approximate_options approximate_options(const ApproximateAmount& amount, const SampleOptions& options,
                                                        const Run& run, std::size_t points) {
    auto c = sampling_options<farpoint_approximate_options>(options, run, points);
    c.amount = amount.kind();
    c.count = amount.count();
    c.ratio = amount.value();
    c.cell = amount.value();
    return c;
}

}  // namespace detail

/// Samples a cloud by a method that does not give the farthest point sample; the same on every run and
/// any number of threads.
///
/// @param method  `Random{}`, `Grid{}`, `Morton{}`, `Npdu{}` or `FastPoint{}`
/// @param amount  a number, `ratio(0.25)`, `all()`, or `cell(0.1)` for `Grid`
/// @throws Error
inline ApproximateResult sample_approximate(const Points& cloud, const ApproximateMethod& method,
                                            const ApproximateAmount& amount, const SampleOptions& options = {}) {
    detail::Run run(options);
    auto c = detail::approximate_options(amount, options, run, cloud.size());
    std::visit([&c](const auto& which) { detail::set_method(c, which); }, method);
    farpoint_approximate_result* result = nullptr;
    run.finish(farpoint_approximate(cloud.c(), &c, &result));
    return ApproximateResult(result);
}

/// The mean of the points of each occupied cell of the grid `cell(0.1)`; or, for another amount, of the
/// grid that has the most cells but no more than that.
///
/// @throws Error
inline CentroidsResult centroids(const Points& cloud, const ApproximateAmount& amount,
                                 const SampleOptions& options = {}) {
    detail::Run run(options);
    const auto c = detail::approximate_options(amount, options, run, cloud.size());
    farpoint_centroids_result* result = nullptr;
    run.finish(farpoint_centroids(cloud.c(), &c, &result));
    return {result, cloud.dimensions()};
}

}  // namespace farpoint

#endif
