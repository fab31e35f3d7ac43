#ifndef FARPOINT_SAMPLE_HPP
#define FARPOINT_SAMPLE_HPP

/// Exact farthest point sampling.

#include <farpoint/handle.hpp>
#include <farpoint/options.hpp>
#include <farpoint/points.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace farpoint {

namespace detail {

struct Ratio {
    double share;
};
struct All {};
/// What only exact sampling is asked for (FARPOINT_SPACING), or only a grid (FARPOINT_CELL).
template <farpoint_amount kind>
struct Length {
    double value;
};

}  // namespace detail

/// How many points are wanted: a number of at least 1, `ratio(0.25)`, `all()`, or a length of this kind.
template <farpoint_amount length>
class AmountOf {
public:
    /// So many points; a negative number is an error.
    template <typename Integer,
              typename = std::enable_if_t<std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>>>
    AmountOf(Integer count) : count_(static_cast<std::size_t>(count)) {
        if constexpr (std::is_signed_v<Integer>) {
            if (count < 0) {
                detail::invalid(std::to_string(count) + " points are wanted: no number of points");
            }
        }
    }
    /// A fraction is not a number of points: say `ratio(0.25)`, `spacing(0.05)` or `cell(0.1)`.
    template <typename Fraction, typename = std::enable_if_t<std::is_floating_point_v<Fraction>>, typename = void>
    AmountOf(Fraction) = delete;
    AmountOf(detail::Ratio ratio) noexcept : kind_(FARPOINT_RATIO), value_(ratio.share) {}
    AmountOf(detail::All) noexcept : kind_(FARPOINT_ALL) {}
    AmountOf(detail::Length<length> own) noexcept : kind_(length), value_(own.value) {}

    [[nodiscard]] farpoint_amount kind() const noexcept { return kind_; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// The ratio or length.
    [[nodiscard]] double value() const noexcept { return value_; }

private:
    farpoint_amount kind_ = FARPOINT_COUNT;
    std::size_t count_ = 0;
    double value_ = 0.0;
};

/// For exact sampling: a number, `ratio(0.25)`, `all()` or `spacing(0.05)`.
using Amount = AmountOf<FARPOINT_SPACING>;
/// For approximate samplers and centroids: a number, `ratio(0.25)`, `all()` or `cell(0.1)`.
using ApproximateAmount = AmountOf<FARPOINT_CELL>;

/// This share of the points, above 0 and up to 1, rounded up.
inline detail::Ratio ratio(double share) { return {share}; }
/// As many as it takes until every point is within this distance of one; in the unit of the coordinates.
inline detail::Length<FARPOINT_SPACING> spacing(double distance) { return {distance}; }
/// One point per occupied cell of a grid of cells of this size.
inline detail::Length<FARPOINT_CELL> cell(double size) { return {size}; }
/// All points: in farthest-first order, of which every prefix is a sample.
inline detail::All all() { return {}; }

/// Indices in order of choice, and how far each was from those before it. Moves, but does not copy;
/// spans are valid as long as the sample is. Any number of threads may read it.
class SampleResult {
public:
    /// The number of samples.
    [[nodiscard]] std::size_t size() const noexcept { return view().count; }
    /// Rows of the cloud in order of choice, all different.
    [[nodiscard]] Span<std::size_t> indices() const noexcept { return {view().indices, size()}; }
    /// The squared distance of each sample to the nearest one before it; infinite for those that the
    /// sampling was started from. `T` is that of the cloud.
    template <typename T>
    [[nodiscard]] Span<T> squared_distances() const {
        return detail::of_scalar<T>(view().squared_distances_f32, view().squared_distances_f64, size());
    }
    /// The distance of sample `k` (below `size()`) to the nearest one before it, in the unit of the
    /// coordinates: the covering radius of the `k` samples before it.
    [[nodiscard]] double distance(std::size_t k) const noexcept {
        const float* single = view().squared_distances_f32;
        return single != nullptr ? static_cast<double>(std::sqrt(single[k]))
                                 : std::sqrt(view().squared_distances_f64[k]);
    }
    /// The largest distance of any point to its nearest sample, in the unit of the coordinates; infinite
    /// if nothing was chosen.
    [[nodiscard]] double covering_radius() const noexcept { return view().covering_radius; }
    /// Rows that were left out because they hold NaN or infinity.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// The algorithm that ran, with its options.
    [[nodiscard]] std::string algorithm() const { return view().algorithm; }
    /// All of it, as the C interface has it; valid as long as the sample is.
    [[nodiscard]] farpoint_sample_view view() const noexcept { return farpoint_sample_result_view(result_.get()); }

    /// Takes over a result of the C interface, which it frees.
    explicit SampleResult(farpoint_sample_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_sample_result, farpoint_sample_result_free> result_;
};

namespace detail {

inline farpoint_sample_options sample_options(const Amount& amount, const SampleOptions& options, const Run& run,
                                              std::size_t points) {
    auto c = sampling_options<farpoint_sample_options>(options, run, points);
    c.amount = amount.kind();
    c.count = amount.count();
    c.ratio = amount.value();
    c.spacing = amount.value();
    return c;
}

}  // namespace detail

/// Samples a cloud by exact farthest point sampling: starts at the first usable row unless the options
/// say otherwise, then always takes the point farthest from all chosen before, the one of lowest index
/// among equals. Device, threads, instruction set and algorithm never change a sample.
///
/// @param cloud   the points, read in place
/// @param amount  a number, `ratio(0.25)`, `spacing(0.05)` or `all()`
/// @throws Error  more samples than points, bad rows, wrong options, canceled, ...
inline SampleResult sample(const Points& cloud, const Amount& amount, const SampleOptions& options = {}) {
    detail::Run run(options);
    const auto c = detail::sample_options(amount, options, run, cloud.size());
    farpoint_sample_result* result = nullptr;
    run.finish(farpoint_sample(cloud.c(), &c, &result));
    return SampleResult(result);
}

/// The whole cloud in farthest-first order: `sample(cloud, all(), options)`.
inline SampleResult order(const Points& cloud, const SampleOptions& options = {}) {
    return sample(cloud, all(), options);
}

/// Samples many clouds, spread over all threads. No sample depends on its batch.
///
/// @param clouds  all `float` or all `double`
/// @throws Error  of the first cloud at fault, which the text names
inline std::vector<SampleResult> sample_batch(const std::vector<Points>& clouds, const Amount& amount,
                                              const SampleOptions& options = {}) {
    detail::Run run(options);
    std::vector<farpoint_points> points;
    std::vector<farpoint_sample_options> wanted;
    for (const Points& cloud : clouds) {
        points.push_back(cloud.c());
        wanted.push_back(detail::sample_options(amount, options, run, cloud.size()));
    }
    std::vector<farpoint_sample_result*> results(clouds.size(), nullptr);
    std::vector<SampleResult> samples;
    samples.reserve(clouds.size());
    run.finish(farpoint_sample_batch(points.data(), points.size(), wanted.data(), wanted.size(), results.data()));
    for (farpoint_sample_result* result : results) {
        samples.emplace_back(result);
    }
    return samples;
}

}  // namespace farpoint

#endif
