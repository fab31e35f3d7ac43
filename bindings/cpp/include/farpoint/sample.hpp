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
#include <utility>
#include <vector>

namespace farpoint {

namespace detail {

struct Ratio {
    double share;
};
struct All {};
/// Length that is only valid for exact sampling (FARPOINT_SPACING), or only for a grid (FARPOINT_CELL).
template <farpoint_amount kind>
struct Length {
    double value;
};

}  // namespace detail

/// Number of samples: a number of at least 1, `ratio(0.25)`, `all()`, or a length of this kind.
template <farpoint_amount length>
class AmountOf {
public:
    /// A number of points; negative numbers are an error.
    template <typename Integer,
              typename = std::enable_if_t<std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>>>
    AmountOf(Integer count) : count_(static_cast<std::size_t>(count)) {
        if constexpr (std::is_signed_v<Integer>) {
            if (count < 0) {
                detail::invalid(std::to_string(count) + " points are requested; use a count of at least 0");
            }
        }
    }
    /// Deleted for floating-point numbers: use `ratio(0.25)`, `spacing(0.05)` or `cell(0.1)`.
    template <typename Fraction, typename = std::enable_if_t<std::is_floating_point_v<Fraction>>, typename = void>
    AmountOf(Fraction) = delete;
    AmountOf(detail::Ratio ratio) noexcept : kind_(FARPOINT_RATIO), value_(ratio.share) {}
    AmountOf(detail::All) noexcept : kind_(FARPOINT_ALL) {}
    AmountOf(detail::Length<length> number) noexcept : kind_(length), value_(number.value) {}

    [[nodiscard]] farpoint_amount kind() const noexcept { return kind_; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// The ratio or length.
    [[nodiscard]] double value() const noexcept { return value_; }

private:
    farpoint_amount kind_ = FARPOINT_COUNT;
    std::size_t count_ = 0;
    double value_ = 0.0;
};

/// Amount for exact sampling: a number, `ratio(0.25)`, `all()` or `spacing(0.05)`.
using Amount = AmountOf<FARPOINT_SPACING>;
/// Amount for approximate samplers and centroids: a number, `ratio(0.25)`, `all()` or `cell(0.1)`.
using ApproximateAmount = AmountOf<FARPOINT_CELL>;

/// Fraction of the points, above 0 and up to 1, rounded up.
inline detail::Ratio ratio(double share) { return {share}; }
/// Samples until every point is within this distance of a sample; in the unit of the coordinates.
inline detail::Length<FARPOINT_SPACING> spacing(double distance) { return {distance}; }
/// One point per occupied cell of a grid with this cell size.
inline detail::Length<FARPOINT_CELL> cell(double size) { return {size}; }
/// All points: in farthest-first order, of which every prefix is a sample.
inline detail::All all() { return {}; }

/// Indices in order of choice, and the distance of each to those before it. Move-only;
/// spans are valid for the lifetime of the sample. Any number of threads may read it.
class SampleResult {
public:
    /// Number of samples.
    [[nodiscard]] std::size_t size() const noexcept { return view().count; }
    /// Rows of the cloud in order of choice, all distinct.
    [[nodiscard]] Span<std::size_t> indices() const noexcept { return {view().indices, size()}; }
    /// Squared distance of each sample to the nearest one before it; infinite for start
    /// points. `T` is the scalar type of the cloud.
    template <typename T>
    [[nodiscard]] Span<T> squared_distances() const {
        return detail::of_scalar<T>(view().squared_distances_f32, view().squared_distances_f64, size());
    }
    /// Distance of sample `k` (below `size()`) to the nearest one before it, in the unit of the
    /// coordinates: the covering radius of the `k` samples before it.
    [[nodiscard]] double distance(std::size_t k) const noexcept {
        const float* single = view().squared_distances_f32;
        return single != nullptr ? static_cast<double>(std::sqrt(single[k]))
                                 : std::sqrt(view().squared_distances_f64[k]);
    }
    /// Largest distance of any point to its nearest sample, in the unit of the coordinates; infinite
    /// without samples.
    [[nodiscard]] double covering_radius() const noexcept { return view().covering_radius; }
    /// Rows of each level of a network that samples its levels one from another: of the first `counts[0]`
    /// samples, the first `counts[1]`, and so on. A sample of the chosen points, from the first of them, is their
    /// beginning. As rows of the level before, a level is 0, 1, 2, ...
    ///
    /// @throws Error  a level without points or with more than the one before it, a sample from several starts
    [[nodiscard]] std::vector<Span<std::size_t>> levels(const std::vector<std::size_t>& counts) const {
        std::vector<farpoint_sample_view> views(counts.size());
        detail::check(farpoint_sample_result_levels(result_.get(), counts.data(), counts.size(), views.data()));
        std::vector<Span<std::size_t>> rows;
        for (const farpoint_sample_view& view : views) {
            rows.emplace_back(view.indices, view.count);
        }
        return rows;
    }
    /// False if a deadline or the progress callback ended the call before the sample was complete.
    [[nodiscard]] bool complete() const noexcept { return view().complete != 0; }
    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// Algorithm that was used, with its options.
    [[nodiscard]] std::string algorithm() const { return view().algorithm; }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_sample_view view() const noexcept { return farpoint_sample_result_view(result_.get()); }

    /// Takes ownership of a result of the C interface.
    explicit SampleResult(farpoint_sample_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_sample_result, farpoint_sample_result_free> result_;
};

namespace detail {

template <typename Options>
farpoint_sample_options sample_options(const Amount& amount, const Options& options, const Run& run,
                                       std::size_t points) {
    auto c = sized<farpoint_sample_options>();
    c.run = run.c();
    c.starts = options.starts.empty() ? nullptr : options.starts.data();
    c.start_count = options.starts.size();
    c.random_start = options.random_start.has_value();
    c.seed = options.random_start.value_or(0);
    c.algorithm = options.algorithm.empty() ? nullptr : options.algorithm.c_str();
    set_rows(c, options, points);
    c.amount = amount.kind();
    c.count = amount.count();
    c.ratio = amount.value();
    c.spacing = amount.value();
    if constexpr (std::is_base_of_v<EarlyOptions, Options>) {
        c.partial = options.partial;
        if (options.deadline) {
            // 0 stands for none in the C interface.
            c.deadline = options.deadline->count() == 0.0 ? 1e-9 : options.deadline->count();
        }
    }
    return c;
}

template <typename Options>
SampleResult sample_by(const Points& cloud, const Amount& amount, const Options& options) {
    Run run(options);
    const auto c = sample_options(amount, options, run, cloud.size());
    farpoint_sample_result* result = nullptr;
    const farpoint_status status = farpoint_sample(cloud.c(), &c, &result);
    return run.finish(status, SampleResult(result));
}

}  // namespace detail

/// Samples a cloud by exact farthest point sampling: starts at the first usable row unless set in the options,
/// then always chooses the point farthest from all chosen before, with the lowest index
/// among equals. Device, threads, instruction set and algorithm do not affect the result.
///
/// @param cloud   the points, read in place
/// @param amount  a number, `ratio(0.25)`, `spacing(0.05)` or `all()`
/// @throws Error  more samples than points, non-finite rows, wrong options, canceled, ...
inline SampleResult sample(const Points& cloud, const Amount& amount, const SampleOptions& options = {}) {
    return detail::sample_by(cloud, amount, options);
}

/// Orders the whole cloud farthest first: `sample(cloud, all(), options)`.
inline SampleResult order(const Points& cloud, const SampleOptions& options = {}) {
    return sample(cloud, all(), options);
}

/// Samples many clouds, distributed over all threads. Samples do not depend on the batch.
///
/// @param clouds  all `float` or all `double`
/// @throws Error  for the first invalid cloud, named in the message
inline std::vector<SampleResult> sample_batch(const std::vector<Points>& clouds, const Amount& amount,
                                              const BatchOptions& options = {}) {
    detail::Run run(options);
    std::vector<farpoint_points> points;
    std::vector<farpoint_sample_options> per_cloud;
    for (const Points& cloud : clouds) {
        points.push_back(cloud.c());
        per_cloud.push_back(detail::sample_options(amount, options, run, cloud.size()));
    }
    std::vector<farpoint_sample_result*> results(clouds.size(), nullptr);
    std::vector<SampleResult> samples;
    samples.reserve(clouds.size());
    const farpoint_status status =
        farpoint_sample_batch(points.data(), points.size(), per_cloud.data(), per_cloud.size(), results.data());
    for (farpoint_sample_result* result : results) {
        samples.emplace_back(result);
    }
    return run.finish(status, std::move(samples));
}

}  // namespace farpoint

#endif
